/** The settings of what the agent reports: on its Node, as metrics and in its log. Pure. */

import { DEFAULT_PUBLICATIONS, type Publication } from '../report/channels.ts'
import type { ListenAddress } from '../values/listen-address.ts'
import { RUN_ONLY, RUN_ONLY_LIVE, type SettingTable } from './setting.ts'
import { choiceKind, listenAddressKind, optional, publicationsKind, textfileKind } from './setting-kinds.ts'

export interface ReportSettings {
  readonly publish: readonly Publication[]
  /** undefined: off. */
  readonly metricsAddress: ListenAddress | undefined
  /** undefined: off. */
  readonly metricsTextfile: string | undefined
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
  readonly logFormat: 'auto' | 'json' | 'text'
}

const GROUP = 'Reports'

export const REPORT_SETTINGS: SettingTable<ReportSettings> = {
  publish: {
    name: 'publish',
    group: GROUP,
    kind: publicationsKind,
    initial: DEFAULT_PUBLICATIONS,
    ...RUN_ONLY_LIVE,
    help: 'what the agent publishes, any of config (status.config), condition, annotation, label (kubelet-cfg-agent.io/state), rollout-events (on the config); empty: nothing',
  },
  metricsAddress: {
    name: 'metrics-address',
    group: GROUP,
    kind: optional(listenAddressKind),
    initial: { host: '127.0.0.1', port: 10270 },
    ...RUN_ONLY,
    help: 'address that serves /metrics, /healthz and /readyz; empty: off',
  },
  metricsTextfile: {
    name: 'metrics-textfile',
    group: GROUP,
    kind: optional(textfileKind),
    initial: undefined,
    ...RUN_ONLY,
    initialNote: 'none',
    help: 'write the metrics to this file too, for the textfile collector of the node exporter; its name ends in .prom',
  },
  logLevel: {
    name: 'log-level',
    group: GROUP,
    kind: choiceKind('debug', 'info', 'warn', 'error'),
    initial: 'info',
    ...RUN_ONLY_LIVE,
    help: 'lowest severity that is logged',
  },
  logFormat: {
    name: 'log-format',
    group: GROUP,
    kind: choiceKind('auto', 'json', 'text'),
    initial: 'auto',
    ...RUN_ONLY,
    help: 'format of the log; auto writes text to the journal and to a terminal, and JSON elsewhere',
  },
}
