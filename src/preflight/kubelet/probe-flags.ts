/**
 * Makes a probe's arguments of kubelet's real ones: what would make it write elsewhere, reach somebody or talk elsewhere than to us is taken away, all else
 * stays, since flags win over the config and so decide with it. Pure. Flags by their names in cmd/kubelet/app/options (Kubernetes 1.20 to 1.34); how
 * they are written is pflag's: `--name=value` or `--name value`, `_` counts as `-`, the last one wins; a switch takes a value only after `=`.
 */
import type { KubeletVersion } from '../kubelet-version.ts'
import type { JudgeStage, ProbePlaces } from './judgement.ts'

/** Those that take a value. */
const REPLACED = [
  ...['config', 'kubeconfig', 'root-dir', 'cert-dir', 'v', 'vmodule', 'log-backtrace-at', 'stderrthreshold'],
  // Waits 20 s for a server.
  'bootstrap-kubeconfig',
  'dynamic-config-dir',
  ...['log-file', 'log-dir', 'log-file-max-size', 'lock-file'],
  // Up to 1.30 it may name a cloud, which kubelet then asks over the network before it looks for its kubeconfig.
  ...['cloud-provider', 'cloud-config'],
]
const SWITCHES = ['logtostderr', 'alsologtostderr', 'one-output', 'skip-headers', 'skip-log-headers', 'add-dir-header']
const OTHER_SWITCHES = ['exit-on-lock-contention', 'runonce']
const RUNTIME = ['container-runtime', 'container-runtime-endpoint', 'image-service-endpoint', 'docker-endpoint']

/** The first minor without a Docker of its own, which was what it used unless told. */
const WITHOUT_DOCKER = 24

export function probeFlags(
  flags: readonly string[],
  stage: JudgeStage,
  places: ProbePlaces,
  { minor }: Pick<KubeletVersion, 'minor'>,
): string[] {
  const taken = new Set(stage === 'deep' ? [...REPLACED, ...RUNTIME] : REPLACED)
  const switches = new Set([...SWITCHES, ...OTHER_SWITCHES])
  const kept: string[] = []
  for (let at = 0; at < flags.length; at++) {
    const flag = flags[at]
    if (flag === undefined) continue
    const { name, value } = readFlag(flag)
    const given = value ?? flags[at + 1]
    if (name === 'cloud-provider' && given === 'external') kept.push('--cloud-provider=external')
    if (name === undefined || !(taken.has(name) || switches.has(name))) kept.push(flag)
    else if (value === undefined && taken.has(name)) at++
  }
  return [
    ...kept,
    `--config=${places.config}`,
    `--kubeconfig=${places.kubeconfig}`,
    `--root-dir=${places.scratch}/root`,
    `--cert-dir=${places.scratch}/pki`,
    // Over the config's own, which may flood, and print the config.
    '--v=0',
    ...(stage === 'deep' ? [`--container-runtime-endpoint=unix://${places.runtimeSocket}`] : []),
    ...(stage === 'deep' && minor < WITHOUT_DOCKER ? ['--container-runtime=remote'] : []),
  ]
}

function readFlag(flag: string): { name: string | undefined; value: string | undefined } {
  const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(flag) ?? []
  if (name !== undefined) return { name: name.replaceAll('_', '-'), value }
  // The only one with a short form that takes a value: -v 2, -v=2, -v2.
  const [, level] = /^-v(?:=?(\d+))?$/.exec(flag) ?? []
  return flag.startsWith('-v') ? { name: 'v', value: level } : { name: undefined, value: undefined }
}
