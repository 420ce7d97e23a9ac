// SPDX-License-Identifier: Apache-2.0
/**
 * Derives the arguments of a probe from kubelet's real ones. Removes flags that would make kubelet
 * write elsewhere, connect to a server, or log elsewhere than to us. Keeps all others: flags
 * override the config, so the result depends on them. Pure. Names as in cmd/kubelet/app/options
 * (Kubernetes 1.20 to 1.37). Syntax of pflag: `--name=value` or `--name value`, `_` counts as `-`,
 * the last one wins; a switch takes a value only after `=`.
 */
import { isFlagOf } from '../change/kubelet-flags.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import { howFar, type JudgeStage, type ProbePlaces } from './judgement.ts'

/**
 * The flags of klog. They end in 1.26, except for `-v` and `--vmodule` (kubernetes pull request
 * 112120).
 */
const KLOG_FLAGS = ['log-backtrace-at', 'stderrthreshold', 'log-file', 'log-dir', 'log-file-max-size']
const KLOG_SWITCHES = ['logtostderr', 'alsologtostderr', 'one-output', 'skip-headers', 'skip-log-headers', 'add-dir-header']

/** Flags with a value. */
const REMOVED = [
  ...['config', 'kubeconfig', 'root-dir', 'cert-dir', 'v', 'vmodule', ...KLOG_FLAGS],
  // Kubelet would wait 20 s for the server.
  'bootstrap-kubeconfig',
  'dynamic-config-dir',
  'lock-file',
  // Up to 1.30 it may name a cloud, which kubelet contacts before it reads its kubeconfig.
  ...['cloud-provider', 'cloud-config'],
]
const REMOVED_SWITCHES = ['exit-on-lock-contention', 'runonce', ...KLOG_SWITCHES]
/** Removed in the deep stage only. */
const RUNTIME = ['container-runtime', 'container-runtime-endpoint', 'image-service-endpoint', 'docker-endpoint']

/** Kubelet takes it, and refuses to start with it: pkg/kubelet/apis/config/validation. */
const WITHOUT_RUN_ONCE = 32

/**
 * Up to 1.29 kubelet takes `--config-dir` only with KUBELET_CONFIG_DROPIN_DIR_ALPHA in its
 * environment, which a probe does not have.
 */
const FIRST_WITH_DROP_INS = 30

/**
 * Any process may raise its value, none without a capability may lower it, and kubelet tries twice
 * in 200 ms (pkg/util/oom). In the load stage the config's own value is validated.
 */
const LIKELIEST_VICTIM = '--oom-score-adj=1000'

/**
 * The first minor without dockershim, which older ones use by default, and without Docker in
 * cadvisor.
 */
export const WITHOUT_DOCKER = 24

/**
 * The only minor that refuses to load a config unless it is told where its runtime is
 * (`ValidateKubeletFlags`): later ones take that from the config, which has a default.
 */
const WITHOUT_DEFAULT_RUNTIME = 26

export function probeFlags(
  flags: readonly string[],
  stage: JudgeStage,
  places: ProbePlaces,
  { minor }: Pick<KubeletVersion, 'minor'>,
): string[] {
  const alpha = minor < FIRST_WITH_DROP_INS ? ['config-dir'] : []
  // Kubelet must fail here with a flag that it no longer knows, as it would at its next start.
  const isKnown = (name: string) => isFlagOf(name, minor) && (name !== 'runonce' || minor < WITHOUT_RUN_ONCE)
  const removed = new Set([...REMOVED, ...alpha, ...(stage === 'deep' ? RUNTIME : [])].filter(isKnown))
  const switches = new Set(REMOVED_SWITCHES.filter(isKnown))
  const kept: string[] = []
  for (let at = 0; at < flags.length; at++) {
    const flag = flags[at]
    if (flag === undefined) continue
    const { name, value } = readFlag(flag)
    const given = value ?? flags[at + 1]
    if (name === 'cloud-provider' && given === 'external') kept.push('--cloud-provider=external')
    if (name === undefined || !(removed.has(name) || switches.has(name))) kept.push(flag)
    else if (value === undefined && removed.has(name)) at++
  }
  const serves = howFar(stage, { minor }) === 'beside-runtime'
  // Without any flag it is the kubelet of no node. One of a node that lacks this flag cannot start.
  const needsEndpoint = stage === 'deep' || (minor === WITHOUT_DEFAULT_RUNTIME && flags.length === 0)
  return [
    ...kept,
    `--config=${places.config}`,
    `--kubeconfig=${places.kubeconfig}`,
    `--root-dir=${places.scratch}/root`,
    // Kubelet makes a certificate where it serves, and writes it here.
    `--cert-dir=${serves ? `${places.scratch}/certificates` : places.certificates}`,
    // Overrides the config's verbosity, which may flood the output and print the config.
    '--v=0',
    ...(needsEndpoint ? [`--container-runtime-endpoint=unix://${places.runtimeSocket}`] : []),
    ...(serves ? [`--image-service-endpoint=unix://${places.runtimeSocket}`] : []),
    ...(stage === 'deep' ? [LIKELIEST_VICTIM] : []),
    ...(stage === 'deep' && minor < WITHOUT_DOCKER ? ['--container-runtime=remote'] : []),
  ]
}

function readFlag(flag: string): { name: string | undefined; value: string | undefined } {
  const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(flag) ?? []
  if (name !== undefined) return { name: name.replaceAll('_', '-'), value }
  // The only flag with a short form and a value: -v 2, -v=2, -v2.
  const [, level] = /^-v(?:=?(\d+))?$/.exec(flag) ?? []
  return flag.startsWith('-v') ? { name: 'v', value: level } : { name: undefined, value: undefined }
}
