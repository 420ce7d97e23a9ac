/** One row of the table of settings, as a type. */
import type { Kind } from './setting-kinds.ts'

export interface Setting<T> {
  /** As in `trial-duration`. */
  readonly name: string
  readonly group: SettingGroup
  readonly kind: Kind<T>
  readonly initial: T
  /** What stands in the help text for a default that is none. */
  readonly initialNote?: string
  readonly help: string
  /** Which commands take it as a flag. Environment and config file hold for all of them. */
  readonly commands: 'all' | 'run'
  /** Whether a running agent takes a changed value on SIGHUP. */
  readonly changes: 'live' | 'restart'
}

/** One row for each field of a type. */
export type SettingTable<T> = { readonly [P in keyof T]: Setting<T[P]> }

/** What rows share: which commands take the flag, and when a change counts. */
export const ALL_COMMANDS = { commands: 'all', changes: 'restart' } as const
export const RUN_ONLY = { commands: 'run', changes: 'restart' } as const
export const RUN_ONLY_LIVE = { commands: 'run', changes: 'live' } as const

/** In the order of help and documents. */
export const SETTING_GROUPS = ['Where assignments come from', 'On disk', 'Kubelet', 'Preflight', 'Trial and rollback', 'Reports'] as const

export type SettingGroup = (typeof SETTING_GROUPS)[number]
