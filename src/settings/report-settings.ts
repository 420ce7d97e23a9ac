/** The settings of what the agent says, and where: on its Node, as metrics, in its log. Pure; a part of the table of `settings.ts`. */

import { PUBLICATIONS, type Publication } from '../report/publications.ts'
import type { ListenAddress } from '../values/listen-address.ts'
import type { Setting } from './setting.ts'
import { choiceKind, listenAddressKind, optional, publicationsKind } from './setting-kinds.ts'

export interface ReportSettings {
  readonly publish: readonly Publication[]
  /** undefined: off. */
  readonly metricsAddress: ListenAddress | undefined
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
  readonly logFormat: 'auto' | 'json' | 'text'
}

const forRun = { commands: 'run', changes: 'restart' } as const
const liveForRun = { commands: 'run', changes: 'live' } as const

export const REPORT_SETTINGS: { readonly [P in keyof ReportSettings]: Setting<ReportSettings[P]> } = {
  publish: {
    name: 'publish',
    group: 'Reports',
    kind: publicationsKind,
    initial: PUBLICATIONS,
    ...liveForRun,
    help: 'what the agent writes to its Node, any of config (status.config), condition, annotation; empty: none of them',
  },
  metricsAddress: {
    name: 'metrics-address',
    group: 'Reports',
    kind: optional(listenAddressKind),
    initial: { host: '127.0.0.1', port: 10270 },
    ...forRun,
    help: 'where /metrics, /healthz and /readyz are served; empty: nowhere',
  },
  logLevel: {
    name: 'log-level',
    group: 'Reports',
    kind: choiceKind('debug', 'info', 'warn', 'error'),
    initial: 'info',
    ...liveForRun,
    help: 'least severe lines to write',
  },
  logFormat: {
    name: 'log-format',
    group: 'Reports',
    kind: choiceKind('auto', 'json', 'text'),
    initial: 'auto',
    ...forRun,
    help: 'auto writes text on a terminal and JSON otherwise',
  },
}
