/** The settings of what the agent says, and where: on its Node, as metrics, in its log. Pure; a part of the table of `settings.ts`. */

import { PUBLICATIONS, type Publication } from '../report/publications.ts'
import type { ListenAddress } from '../values/listen-address.ts'
import { RUN_ONLY, RUN_ONLY_LIVE, type SettingTable } from './setting.ts'
import { choiceKind, listenAddressKind, optional, publicationsKind } from './setting-kinds.ts'

export interface ReportSettings {
  readonly publish: readonly Publication[]
  /** undefined: off. */
  readonly metricsAddress: ListenAddress | undefined
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
  readonly logFormat: 'auto' | 'json' | 'text'
}

const GROUP = 'Reports'

export const REPORT_SETTINGS: SettingTable<ReportSettings> = {
  publish: {
    name: 'publish',
    group: GROUP,
    kind: publicationsKind,
    initial: PUBLICATIONS,
    ...RUN_ONLY_LIVE,
    help: 'what the agent writes to its Node, any of config (status.config), condition, annotation; empty: none of them',
  },
  metricsAddress: {
    name: 'metrics-address',
    group: GROUP,
    kind: optional(listenAddressKind),
    initial: { host: '127.0.0.1', port: 10270 },
    ...RUN_ONLY,
    help: 'where /metrics, /healthz and /readyz are served; empty: nowhere',
  },
  logLevel: {
    name: 'log-level',
    group: GROUP,
    kind: choiceKind('debug', 'info', 'warn', 'error'),
    initial: 'info',
    ...RUN_ONLY_LIVE,
    help: 'least severe lines to write',
  },
  logFormat: {
    name: 'log-format',
    group: GROUP,
    kind: choiceKind('auto', 'json', 'text'),
    initial: 'auto',
    ...RUN_ONLY,
    help: 'auto writes text on a terminal and JSON otherwise',
  },
}
