// SPDX-License-Identifier: Apache-2.0
/**
 * The table of settings. Flags, environment variables, config file keys, help texts, man pages and
 * defaults are all derived from it. Large groups have files of their own.
 * `resolve-settings.ts` finds the values. Pure: reads neither files nor environment.
 */

import type { Policy } from '../decision/snapshot.ts'
import { DEFAULT_PUBLICATIONS, DESCRIBED_PUBLICATIONS } from '../report/publications.ts'
import { ACTIVATION_KINDS } from '../systemd/activation-kinds.ts'
import { PREFLIGHT_SETTINGS } from './preflight-settings.ts'
import {
  choiceKind,
  countKind,
  listenAddressKind,
  orNone,
  pathKind,
  plainPathKind,
  publicationsKind,
  rowsOf,
  type SettingTable,
  serviceKind,
  settingTable,
  switchKind,
  textfileKind,
  type ValuesOf,
} from './setting-kinds.ts'
import { SOURCE_SETTINGS } from './source-settings.ts'
import { TRIAL_SETTINGS } from './trial-settings.ts'

const DISK = rowsOf('On disk')

const DISK_SETTINGS = settingTable({
  dynamicConfigDir: {
    name: 'dynamic-config-dir',
    kind: plainPathKind,
    initial: '/var/lib/kubelet-cfg-agent',
    ...DISK.ALL_COMMANDS,
    help: 'directory for checkpoints, records and history',
  },
  runtimeDir: {
    name: 'runtime-dir',
    kind: pathKind,
    initial: '/run/kubelet-cfg-agent',
    ...DISK.ALL_COMMANDS,
    help: 'directory for state that matters only until the next boot',
  },
  envFile: {
    // Not env-file: Node.js takes that as its own flag anywhere on the command line (nodejs/node
    // issue 54232).
    name: 'kubelet-env-file',
    kind: plainPathKind,
    initial: '/var/lib/kubelet-cfg-agent/kubelet.env',
    ...DISK.ALL_COMMANDS,
    help: "environment file that the drop-in of kubelet's unit reads; the agent activates a config by writing it",
  },
  adopt: {
    name: 'adopt',
    kind: switchKind,
    initial: false,
    ...DISK.RUN_ONLY,
    help: 'take over a directory that the Dynamic Kubelet Configuration of kubelet itself left behind (it contains store/)',
  },
  keepCheckpoints: {
    name: 'keep-checkpoints',
    kind: countKind(1, 1000),
    initial: 10,
    ...DISK.RUN_ONLY_LIVE,
    help: 'number of newest checkpoints to keep besides those in use',
  },
  config: {
    name: 'config',
    kind: pathKind,
    initial: '/etc/kubelet-cfg-agent/config.yaml',
    ...DISK.ALL_COMMANDS,
    help: 'settings file; if you name one, it must exist',
  },
})

const KUBELET = rowsOf('Kubelet')

const KUBELET_SETTINGS = settingTable({
  kubeletUnit: {
    name: 'kubelet-unit',
    kind: serviceKind,
    initial: 'kubelet.service',
    ...KUBELET.ALL_COMMANDS,
    help: "kubelet's systemd unit",
  },
  activation: {
    name: 'activation',
    kind: choiceKind('auto', ...ACTIVATION_KINDS),
    initial: 'auto',
    ...KUBELET.ALL_COMMANDS,
    help:
      'how kubelet gets a config: env writes the environment file; file replaces the file that the unit names; ' +
      'drop-in adds a file to its --config-dir (kubelet 1.32 or later); auto chooses env or file by the unit',
  },
  kubeletConfigDir: {
    name: 'kubelet-config-dir',
    kind: orNone(pathKind),
    initial: undefined,
    initialNote: 'none; --config-dir in the unit counts',
    ...KUBELET.ALL_COMMANDS,
    help: "directory of kubelet's drop-ins, for activation drop-in where kubelet is a part of k3s, whose unit does not name it",
  },
  systemctl: {
    name: 'systemctl',
    kind: pathKind,
    // Where /bin is no link to /usr/bin, systemctl is in /bin.
    initial: '/bin/systemctl',
    ...KUBELET.ALL_COMMANDS,
    help: 'path of systemctl',
  },
  systemBus: {
    name: 'system-bus',
    kind: pathKind,
    initial: '/run/dbus/system_bus_socket',
    ...KUBELET.RUN_ONLY,
    help: "socket of D-Bus's system bus, on which systemd says what happens to kubelet's unit; without one, systemctl is asked more often",
  },
})

const REPORT = rowsOf('Reports')

const REPORT_SETTINGS = settingTable({
  publish: {
    name: 'publish',
    kind: publicationsKind,
    initial: DEFAULT_PUBLICATIONS,
    ...REPORT.RUN_ONLY_LIVE,
    help: `what the agent publishes, any of ${DESCRIBED_PUBLICATIONS.join(', ')}; empty: nothing`,
  },
  metricsAddress: {
    name: 'metrics-address',
    kind: orNone(listenAddressKind),
    initial: { host: '127.0.0.1', port: 10270 },
    ...REPORT.RUN_ONLY,
    help: 'address that serves /metrics, /healthz and /readyz; empty: off',
  },
  metricsTextfile: {
    name: 'metrics-textfile',
    kind: orNone(textfileKind),
    initial: undefined,
    ...REPORT.RUN_ONLY,
    initialNote: 'none',
    help: 'write the metrics to this file too, for the textfile collector of the node exporter; its name ends in .prom',
  },
  logLevel: {
    name: 'log-level',
    kind: choiceKind('debug', 'info', 'warn', 'error'),
    initial: 'info',
    ...REPORT.RUN_ONLY_LIVE,
    help: 'lowest severity that is logged',
  },
  logFormat: {
    name: 'log-format',
    kind: choiceKind('auto', 'json', 'text'),
    initial: 'auto',
    ...REPORT.RUN_ONLY,
    help: 'format of the log; auto writes text to the journal and to a terminal, and JSON elsewhere',
  },
})

const TABLE = {
  ...SOURCE_SETTINGS,
  ...DISK_SETTINGS,
  ...KUBELET_SETTINGS,
  ...PREFLIGHT_SETTINGS,
  ...TRIAL_SETTINGS,
  ...REPORT_SETTINGS,
}

/** Every setting with its value as the agent uses it. */
export type Settings = ValuesOf<typeof TABLE>
export type SettingName = keyof Settings

export const SETTINGS: SettingTable<Settings> = TABLE

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

/** How long a pass waits for an answer. A longer pass would make each gap look like an outage. */
export function mostWaitMs({ toleranceUs }: Settings): number {
  return Math.min(2000, Math.ceil(toleranceUs / 4000))
}

export function toPolicy(settings: Settings): Policy {
  const { trialUs, startDeadlineUs, toleranceUs, crashLimit, spreadUs, restartsPerHour, whenRefused, keepCheckpoints, evidence } = settings
  return { trialUs, startDeadlineUs, toleranceUs, crashLimit, spreadUs, restartsPerHour, whenRefused, keepCheckpoints, evidence }
}

/** `--trial-duration` for `trialUs`: flag, variable and key follow from the name in the table. */
export function flagName(property: SettingName): string {
  return `--${SETTINGS[property].name}`
}

export const VARIABLE_PREFIX = 'KUBELET_CFG_AGENT_'

export function variableName(property: SettingName): string {
  return VARIABLE_PREFIX + SETTINGS[property].name.replaceAll('-', '_').toUpperCase()
}

/** The key in the config file. */
export function fileKey(property: SettingName): string {
  return SETTINGS[property].name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** A value as an operator writes it; empty for none. */
export function showValue<P extends SettingName>(property: P, value: Settings[P]): string {
  return SETTINGS[property].kind.show(value)
}

export function showInitial(property: SettingName): string {
  return showValue(property, SETTINGS[property].initial)
}
