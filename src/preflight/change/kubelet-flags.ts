/**
 * Parses kubelet's flags from its command line, and tells which kubelets know them. Pure. Rules of
 * github.com/spf13/pflag as kubelet uses it: `--name=value` or `--name value`, a boolean only as
 * `--name` or `--name=value`, `_` counts as `-` (`WordSepNormalizeFunc`), `--` ends them.
 */
import type { KubeletVersion } from '../kubelet-version.ts'
import { ROWS } from './field-rows.ts'

/** Names without dashes, with all values in order: the last one wins, but maps and lists add up. */
export type KubeletFlags = ReadonlyMap<string, readonly string[]>

export const NO_FLAGS: KubeletFlags = new Map()

type Arity = 'switch' | 'value'

const BY_FLAG: ReadonlyMap<string, Arity> = new Map(
  [...ROWS.values()].flatMap(({ flag, type }) => (flag === undefined ? [] : [[flag, type === 'boolean' ? 'switch' : 'value'] as const])),
)

/** @param args without the program name */
export function collectFlags(args: readonly string[]): KubeletFlags {
  const flags = new Map<string, string[]>()
  const add = (name: string, value: string) => flags.set(name, [...(flags.get(name) ?? []), value])
  for (let at = 0; at < args.length; at++) {
    const [, dashes, spelled = '', equals, value = ''] = /^(--?)([^=-][^=]*)(=?)(.*)$/s.exec(args[at] ?? '') ?? []
    if (args[at] === '--') break
    // The one short flag that takes a value, which may follow at once.
    const [, verbosity] = /^-v([^=].*)$/s.exec(args[at] ?? '') ?? []
    if (verbosity !== undefined) {
      add('v', verbosity)
      continue
    }
    if (dashes === undefined) continue
    const name = spelled.replaceAll('_', '-')
    const next = args[at + 1]
    // The word after an unknown flag counts as its value unless it looks like a flag.
    const takesNext = BY_FLAG.get(name) === 'value' || (!BY_FLAG.has(name) && next !== undefined && !next.startsWith('-'))
    if (equals === '=') add(name, value)
    else if (takesNext && next !== undefined) {
      add(name, next)
      at++
    } else add(name, 'true')
  }
  return flags
}

/** The arguments without this flag, which takes a value. */
export function withoutFlag(args: readonly string[], name: string): readonly string[] {
  const isFlag = (text: string | undefined) => text?.replaceAll('_', '-') === `--${name}`
  return args.filter((text, at) => !isFlag(text) && !isFlag(args[at - 1]) && !isFlag(text.split('=', 1)[0]))
}

/**
 * The flags that a minor of 1.x no longer knows, all of which 1.20 or a later one did:
 * cmd/kubelet/app/options, and the flags of component-base/logs. Kubelet does not start with them.
 */
const GONE = readMinors({
  21: 'enable-cadvisor-json-endpoints',
  22: 'chaos-chance redirect-container-streaming',
  23: 'experimental-bootstrap-kubeconfig seccomp-profile-root',
  24: `cni-bin-dir cni-cache-dir cni-conf-dir docker docker-endpoint docker-env-metadata-whitelist docker-only docker-root docker-tls
    docker-tls-ca docker-tls-cert docker-tls-key dynamic-config-dir experimental-check-node-capabilities-before-mount
    experimental-dockershim-root-directory experimental-logging-sanitization image-pull-progress-deadline network-plugin
    network-plugin-mtu non-masquerade-cidr really-crash-for-testing`,
  25: 'experimental-kernel-memcg-notification',
  26: `add-dir-header alsologtostderr log-backtrace-at log-dir log-file log-file-max-size logtostderr one-output skip-headers
    skip-log-headers stderrthreshold`,
  27: 'container-runtime master-service-namespace',
  30: 'azure-container-registry-config',
  31: 'iptables-drop-bit iptables-masquerade-bit keep-terminated-pod-volumes',
  34: 'cloud-config register-schedulable',
  35: 'pod-infra-container-image',
  37: `application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader
    event-storage-age-limit event-storage-event-limit global-housekeeping-interval log-cadvisor-usage machine-id-file
    storage-driver-buffer-duration storage-driver-db storage-driver-host storage-driver-password storage-driver-secure
    storage-driver-table storage-driver-user`,
})

/** The flags that 1.20 did not know yet, by the minor of 1.x that brought them. */
const SINCE = readMinors({
  21: 'memory-manager-policy reserved-memory',
  22: 'cpu-manager-policy-options seccomp-default',
  23: 'log-json-info-buffer-size log-json-split-stream',
  25: 'local-storage-capacity-isolation',
  26: 'topology-manager-policy-options',
  28: 'config-dir',
  30: 'log-text-info-buffer-size log-text-split-stream',
  31: 'fail-cgroupv1',
})

function readMinors(table: Readonly<Record<number, string>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(table).flatMap(([minor, names]) => names.split(/\s+/).map((name) => [name, Number(minor)] as const)))
}

/** Whether kubelet 1.`minor` knows a flag that some kubelet knows. */
export function isFlagOf(name: string, minor: number): boolean {
  return (SINCE.get(name) ?? 0) <= minor && minor < (GONE.get(name) ?? Number.POSITIVE_INFINITY)
}

/** Of these flags those that this kubelet does not know, but another does. */
export function listUnknown(flags: KubeletFlags, { major, minor }: Pick<KubeletVersion, 'major' | 'minor'>): string[] {
  return major === 1 ? [...flags.keys()].filter((name) => !isFlagOf(name, minor)) : []
}
