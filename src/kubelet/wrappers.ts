// SPDX-License-Identifier: Apache-2.0
/**
 * Objects that people give in place of a KubeletConfiguration: those of other tools that contain
 * one, or that only look like one. Pure. A row says how it is known, where kubelet's config is in
 * it, and whether that is a KubeletConfiguration or has fields of the tool's own.
 *
 * Sources: eksctl.io/v1alpha5 `NodeGroup.KubeletExtraConfig` (an inline document that eksctl
 * merges into its own); node.eks.aws/v1alpha1 `KubeletOptions.Config`;
 * machineconfiguration.openshift.io/v1 `KubeletConfigSpec.KubeletConfig`;
 * k0s.k0sproject.io/v1beta1 `WorkerProfile.Config` (`values`); Talos v1alpha1
 * `KubeletConfig.ExtraConfig`; kops.k8s.io/v1alpha2 `KubeletConfigSpec`, each field with the tag of
 * its flag; AKS "Customize node configuration"; GKE `--system-config-from-file`; Karpenter
 * `KubeletConfiguration` of karpenter.k8s.aws/v1; kind `Node.KubeadmConfigPatches`; /configz as
 * `configz.InstallHandler` of k8s.io/component-base writes it.
 */
import { isObject, type JsonObject } from '../values/is-object.ts'
import { type FieldPath, formatPath } from './field-path.ts'

interface Wrapper {
  /** As in "this is ...". */
  readonly called: string
  readonly is: (value: JsonObject) => boolean
  /** Where it has kubelet's config. `*`: in each item of a list. */
  readonly at: readonly string[]
  /**
   * `part`: fields of a KubeletConfiguration, which the tool lays over its own. Otherwise why it
   * cannot be taken, with what to do.
   */
  readonly holds: 'part' | ((value: JsonObject) => string)
}

const object =
  (group: RegExp, ...kinds: readonly string[]): Wrapper['is'] =>
  ({ apiVersion, kind }) =>
    typeof apiVersion === 'string' && group.test(apiVersion) && typeof kind === 'string' && (kinds.length === 0 || kinds.includes(kind))

/** An object without a kind. */
const bare =
  (has: (value: JsonObject) => boolean): Wrapper['is'] =>
  (value) =>
    value.kind === undefined && value.apiVersion === undefined && has(value)

const WRITE = 'write a KubeletConfiguration'

/** AKS's names for fields of kubelet. */
const AKS_NAMES: Readonly<Record<string, string>> = {
  cpuCfsQuota: 'cpuCFSQuota',
  cpuCfsQuotaPeriod: 'cpuCFSQuotaPeriod',
  imageGcHighThreshold: 'imageGCHighThresholdPercent',
  imageGcLowThreshold: 'imageGCLowThresholdPercent',
  containerLogMaxSizeMB: 'containerLogMaxSize, with its unit',
  podMaxPids: 'podPidsLimit',
}

/** Names that AKS has from kubelet. */
const AKS_KEPT = [
  'allowedUnsafeSysctls',
  'containerLogMaxFiles',
  'cpuManagerPolicy',
  'failSwapOn',
  'seccompDefault',
  'topologyManagerPolicy',
]

/** Nothing but its names, and one that only AKS has: in a part, that one is a mistake. */
function isOfAks(value: JsonObject): boolean {
  const names = Object.keys(value)
  return (
    names.some((name) => Object.hasOwn(AKS_NAMES, name)) && names.every((name) => Object.hasOwn(AKS_NAMES, name) || AKS_KEPT.includes(name))
  )
}

function translateAks(value: JsonObject): string {
  const names = Object.entries(AKS_NAMES).filter(([name]) => Object.hasOwn(value, name))
  return `${WRITE}: ${names.map(([name, field]) => `${name} is ${field}`).join('; ')}`
}

/** Fields that every kubelet has in its answer, and hardly anybody all in a config. */
const OF_CONFIGZ = ['syncFrequency', 'fileCheckFrequency', 'httpCheckFrequency', 'nodeStatusUpdateFrequency', 'runtimeRequestTimeout']

/**
 * A list or map that is empty is not in it, and would have its default again; and a certificate
 * that kubelet made itself is.
 */
const CONFIGZ = () => 'kubelet-cfg-agent generate --from-file makes a config of it, which takes care of what is empty or a mere default'

/**
 * By its fields alone. The config that kubeadm writes has them all, as 0s, for which kubelet
 * reports its defaults. In that config, a list that is missing has its default; in an answer, it is
 * empty.
 */
export function isWholeAnswer(value: JsonObject): boolean {
  return OF_CONFIGZ.every((name) => Object.hasOwn(value, name) && value[name] !== '0s')
}

const own = (whose: string) => () => `those fields are ${whose}, not all of them kubelet's: ${WRITE}`
const FLAGS = () => `it has flags of kubelet at most: ${WRITE}`

const WRAPPERS: readonly Wrapper[] = [
  {
    called: 'a ClusterConfig of eksctl',
    is: object(/^eksctl\.io\//, 'ClusterConfig'),
    at: ['nodeGroups', '*', 'kubeletExtraConfig'],
    holds: 'part',
  },
  { called: 'a NodeConfig of nodeadm', is: object(/^node\.eks\.aws\//, 'NodeConfig'), at: ['spec', 'kubelet', 'config'], holds: 'part' },
  {
    called: 'a KubeletConfig of OpenShift',
    is: object(/^machineconfiguration\.openshift\.io\//, 'KubeletConfig'),
    at: ['spec', 'kubeletConfig'],
    holds: 'part',
  },
  {
    called: 'a ClusterConfig of k0s',
    is: object(/^k0s\.k0sproject\.io\//, 'ClusterConfig'),
    at: ['spec', 'workerProfiles', '*', 'values'],
    holds: 'part',
  },
  {
    called: 'a machine config of Talos',
    is: ({ kind, machine }) => kind === undefined && isObject(machine) && isObject(machine.kubelet),
    at: ['machine', 'kubelet', 'extraConfig'],
    holds: 'part',
  },
  { called: 'an answer of /configz', is: bare(({ kubeletconfig }) => isObject(kubeletconfig)), at: ['kubeletconfig'], holds: CONFIGZ },
  {
    called: 'the config in an answer of /configz',
    is: bare(isWholeAnswer),
    at: [],
    holds: CONFIGZ,
  },
  {
    called: 'a custom kubelet configuration of AKS',
    is: bare(isOfAks),
    at: [],
    holds: translateAks,
  },
  {
    called: 'a node configuration of GKE or AKS',
    is: bare(({ kubeletConfig }) => isObject(kubeletConfig)),
    at: ['kubeletConfig'],
    holds: own('the names of the cloud'),
  },
  {
    called: 'an object of kOps',
    is: object(/^kops\.k8s\.io\//),
    at: ['spec', 'kubelet'],
    holds: own("kOps' own, most of them named after flags"),
  },
  {
    called: 'an object of Karpenter',
    is: object(/^karpenter\.(?:k8s\.aws|sh|azure\.com)\//),
    at: ['spec', 'kubelet'],
    holds: own("Karpenter's own"),
  },
  { called: 'a document of kubeadm', is: object(/^kubeadm\.k8s\.io\//), at: ['nodeRegistration', 'kubeletExtraArgs'], holds: FLAGS },
  {
    called: 'an object of Cluster API',
    is: object(/^(?:bootstrap|controlplane)\.cluster\.x-k8s\.io\//),
    at: ['spec'],
    holds: FLAGS,
  },
  {
    called: 'a Cluster of kind',
    is: object(/^kind\.x-k8s\.io\//, 'Cluster'),
    at: ['kubeadmConfigPatches'],
    holds: () => 'a KubeletConfiguration can be in the text of one of its patches: save that as a file, and give it',
  },
  {
    called: 'a config file of k3s or RKE2',
    is: bare((value) => Object.hasOwn(value, 'kubelet-arg')),
    at: ['kubelet-arg'],
    holds: FLAGS,
  },
  {
    called: 'the manifest of a ConfigMap',
    is: object(/^v1$/, 'ConfigMap', 'ConfigMapList'),
    at: ['data'],
    holds: () => 'kubelet reads the text of a key of data, not the manifest: put that text here',
  },
  {
    called: 'a config of credential providers',
    is: object(/^(?:kubelet|credentialprovider\.kubelet)(?:\.config)?\.k8s\.io\//, 'CredentialProviderConfig'),
    at: [],
    holds: () => 'that is the file of --image-credential-provider-config, not of --config',
  },
]

/** Fields of a KubeletConfiguration in a wrapper. */
export interface HeldConfig {
  readonly path: FieldPath
  readonly value: JsonObject
}

export interface Wrapped {
  readonly called: string
  readonly held: readonly HeldConfig[]
  /** Where no config can be taken: the place that would have it, and what to do. */
  readonly path: FieldPath
  readonly advice: string
}

/** undefined: none that is known. */
export function findWrapper(value: unknown): Wrapped | undefined {
  const wrapper = isObject(value) ? WRAPPERS.find(({ is }) => is(value)) : undefined
  if (wrapper === undefined || !isObject(value)) return undefined
  const { called, at, holds } = wrapper
  const places = expand(value, at)
  const path = places[0]?.path ?? []
  if (holds !== 'part') return { called, held: [], path, advice: holds(value) }
  const held = places.flatMap(({ path, value }): HeldConfig[] => (isObject(value) ? [{ path, value }] : []))
  return { called, held, path, advice: `a KubeletConfiguration would be in ${at.join('.').replaceAll('.*', '[]')}: it has none there` }
}

function expand(value: unknown, [step, ...rest]: readonly string[], path: FieldPath = []): { path: FieldPath; value: unknown }[] {
  if (step === undefined) return [{ path, value }]
  if (step === '*') return Array.isArray(value) ? value.flatMap((item: unknown, index) => expand(item, rest, [...path, index])) : []
  return isObject(value) && Object.hasOwn(value, step) ? expand(value[step], rest, [...path, step]) : []
}

/** Describes a wrapper to readers of KubeletConfigurations alone. undefined: none is known. */
export function describeWrapper(value: unknown): string | undefined {
  const wrapped = findWrapper(value)
  if (wrapped === undefined) return undefined
  const { called, held, path, advice } = wrapped
  const [first] = held
  if (first !== undefined) return `this is ${called}: put here what is in ${formatPath(first.path)}, with apiVersion and kind above it`
  return path.length === 0 ? `this is ${called}: ${advice}` : `this is ${called}, which has ${formatPath(path)}: ${advice}`
}
