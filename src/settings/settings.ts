/**
 * The settings: one table, from which flags, environment variables, config file keys, help texts and defaults are all derived. How a row's
 * name becomes a flag, a variable and a key is in `setting-names.ts`; which of them wins in `resolve-settings.ts`. Pure: reads
 * neither files nor environment.
 */

import type { SwitchedChannel } from '../decision/channels.ts'
import type { Policy } from '../decision/policy.ts'
import type { ChannelSettings } from '../source/channels/resolve.ts'
import { ACTIVATION_KINDS, type ActivationChoice } from '../systemd/activation-kinds.ts'
import { HOUR_US, MINUTE_US, SECOND_US } from '../values/durations.ts'
import { channelsKind, configMapKeyKind, configMapKind, type NamedConfigMap, namespaceKind } from './channel-kinds.ts'
import { PREFLIGHT_SETTINGS, type PreflightSettings } from './preflight-settings.ts'
import { REPORT_SETTINGS, type ReportSettings } from './report-settings.ts'
import { SETTING_GROUPS, type Setting } from './setting.ts'
import {
  choiceKind,
  countKind,
  durationKind,
  nodeNameKind,
  optional,
  pathKind,
  plainPathKind,
  serviceKind,
  switchKind,
} from './setting-kinds.ts'

/** Every setting with its value as the agent uses it; the limits are those of Policy. */
export interface Settings extends Policy, PreflightSettings, ReportSettings {
  readonly config: string
  /** undefined: the kubeconfig's identity, or the host name in lower case. */
  readonly nodeName: string | undefined
  readonly kubeconfig: string
  readonly channels: readonly SwitchedChannel[]
  readonly configNamespace: string
  readonly configKey: string
  /** undefined: a node that no channel assigns anything is local. */
  readonly defaultConfigMap: NamedConfigMap | undefined
  /** undefined: assignments come from the cluster. */
  readonly manifestDir: string | undefined
  /** undefined: this node has no overlay. */
  readonly overlayDir: string | undefined
  readonly dynamicConfigDir: string
  readonly runtimeDir: string
  readonly envFile: string
  readonly adopt: boolean
  readonly kubeletUnit: string
  readonly activation: ActivationChoice
  readonly systemctl: string
}

export type SettingName = keyof Settings

const [SOURCES, DISK, KUBELET, , TRIAL] = SETTING_GROUPS
const forAll = { commands: 'all', changes: 'restart' } as const
const forRun = { commands: 'run', changes: 'restart' } as const
const liveForRun = { commands: 'run', changes: 'live' } as const

export const SETTINGS: { readonly [P in SettingName]: Setting<Settings[P]> } = {
  nodeName: {
    name: 'node-name',
    group: SOURCES,
    kind: optional(nodeNameKind),
    initial: undefined,
    ...forAll,
    initialNote: "from the kubeconfig's identity, or the host name",
    help: "name of this machine's Node object",
  },
  kubeconfig: {
    name: 'kubeconfig',
    group: SOURCES,
    kind: pathKind,
    initial: '/etc/kubernetes/kubelet.conf',
    ...forAll,
    help: 'how to reach the API server; may appear later, as in TLS bootstrap',
  },
  channels: {
    name: 'channels',
    group: SOURCES,
    kind: channelsKind,
    initial: ['config-source', 'label', 'annotation'],
    ...forRun,
    help: 'how the cluster may assign, any of config-source,label,annotation,selector: the first of these that says anything decides',
  },
  configNamespace: {
    name: 'config-namespace',
    group: SOURCES,
    kind: namespaceKind,
    initial: 'kube-system',
    ...forRun,
    help: 'namespace of the ConfigMaps that the label and the selector name',
  },
  configKey: {
    name: 'config-key',
    group: SOURCES,
    kind: configMapKeyKind,
    initial: 'kubelet',
    ...forRun,
    help: 'key of a ConfigMap where none is given',
  },
  defaultConfigMap: {
    name: 'default-config-map',
    group: SOURCES,
    kind: optional(configMapKind),
    initial: undefined,
    ...forRun,
    initialNote: 'none, the node stays on its local config',
    help: "namespace/name[:key], the config of a node that no channel assigns one, as kubeadm's kube-system/kubelet-config",
  },
  manifestDir: {
    name: 'manifest-dir',
    group: SOURCES,
    kind: optional(pathKind),
    initial: undefined,
    ...forAll,
    initialNote: 'none, the API server is asked',
    help: 'take Node and ConfigMaps from the manifests in this directory and ask no API server',
  },
  overlayDir: {
    name: 'overlay-dir',
    group: SOURCES,
    kind: optional(pathKind),
    initial: '/etc/kubelet-cfg-agent/overlay.d',
    ...forAll,
    help: 'merge patches (*.yaml, *.yml) that this node lays over what is assigned, for what differs from node to node; empty: none',
  },
  dynamicConfigDir: {
    name: 'dynamic-config-dir',
    group: DISK,
    kind: plainPathKind,
    initial: '/var/lib/kubelet-cfg-agent',
    ...forAll,
    help: 'checkpoints, records and history',
  },
  runtimeDir: {
    name: 'runtime-dir',
    group: DISK,
    kind: pathKind,
    initial: '/run/kubelet-cfg-agent',
    ...forAll,
    help: 'what is worth knowing only until the next boot',
  },
  envFile: {
    // Not env-file: Node takes that for its own wherever it stands on the command line (nodejs/node issue 54232).
    name: 'kubelet-env-file',
    group: DISK,
    kind: plainPathKind,
    initial: '/var/lib/kubelet-cfg-agent/kubelet.env',
    ...forAll,
    help: "the file that the drop-in of kubelet's unit reads: writing it is the activation",
  },
  adopt: {
    name: 'adopt',
    group: DISK,
    kind: switchKind,
    initial: false,
    ...forRun,
    help: 'take over the directory that kubelet itself left (with store/ inside)',
  },
  keepCheckpoints: {
    name: 'keep-checkpoints',
    group: DISK,
    kind: countKind(1, 1000),
    initial: 10,
    ...liveForRun,
    help: 'newest checkpoints kept besides those in use',
  },
  config: {
    name: 'config',
    group: DISK,
    kind: pathKind,
    initial: '/etc/kubelet-cfg-agent/config.yaml',
    ...forAll,
    help: 'settings file; need not exist unless it is named',
  },
  kubeletUnit: {
    name: 'kubelet-unit',
    group: KUBELET,
    kind: serviceKind,
    initial: 'kubelet.service',
    ...forAll,
    help: "kubelet's systemd unit",
  },
  activation: {
    name: 'activation',
    group: KUBELET,
    kind: choiceKind('auto', ...ACTIVATION_KINDS),
    initial: 'auto',
    ...forAll,
    help: 'how the unit takes its config: from the env file, or by replacing the file that it spells out; auto asks the unit',
  },
  systemctl: {
    name: 'systemctl',
    group: KUBELET,
    kind: pathKind,
    initial: '/usr/bin/systemctl',
    ...forAll,
    help: 'for unusual systems that keep systemctl elsewhere',
  },
  ...PREFLIGHT_SETTINGS,
  trialUs: {
    name: 'trial-duration',
    group: TRIAL,
    kind: durationKind(SECOND_US, 24 * HOUR_US),
    initial: 10 * MINUTE_US,
    ...liveForRun,
    help: 'uninterrupted healthy running time after which a config becomes last-known-good',
  },
  startDeadlineUs: {
    name: 'start-deadline',
    group: TRIAL,
    kind: durationKind(SECOND_US, HOUR_US),
    initial: 2 * MINUTE_US,
    ...liveForRun,
    help: 'kubelet that is not healthy this long after its start is rolled back',
  },
  toleranceUs: {
    name: 'health-tolerance',
    group: TRIAL,
    kind: durationKind(SECOND_US, HOUR_US),
    initial: MINUTE_US,
    ...liveForRun,
    help: 'kubelet that was healthy and is not for this long is rolled back',
  },
  crashLimit: {
    name: 'crash-limit',
    group: TRIAL,
    kind: countKind(1, 100),
    initial: 3,
    ...liveForRun,
    help: 'kubelet that exits this many times unasked is rolled back',
  },
  spreadUs: {
    name: 'spread',
    group: TRIAL,
    kind: durationKind(0, 24 * HOUR_US),
    initial: 2 * MINUTE_US,
    ...liveForRun,
    help: 'nodes take an in-place edit at different moments within this time; 0s: all at once',
  },
  restartsPerHour: {
    name: 'restarts-per-hour',
    group: TRIAL,
    kind: countKind(1, 60),
    initial: 6,
    ...liveForRun,
    help: 'at most so many restarts of a kubelet that runs; falling back is exempt',
  },
  ...REPORT_SETTINGS,
}

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

export function toPolicy(settings: Settings): Policy {
  const { trialUs, startDeadlineUs, toleranceUs, crashLimit, spreadUs, restartsPerHour, keepCheckpoints } = settings
  return { trialUs, startDeadlineUs, toleranceUs, crashLimit, spreadUs, restartsPerHour, keepCheckpoints }
}

export function toChannelSettings({ channels, configNamespace, configKey, defaultConfigMap }: Settings): ChannelSettings {
  const kubeletConfigKey = defaultConfigMap?.key ?? configKey
  return {
    channels,
    namespace: configNamespace,
    key: configKey,
    defaultConfigMap: defaultConfigMap && { namespace: defaultConfigMap.namespace, name: defaultConfigMap.name, kubeletConfigKey },
  }
}
