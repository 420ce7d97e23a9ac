/** The type of a row in the table of settings, and what rows share. */
import type { Kind } from './setting-kinds.ts'

export interface Setting<T> {
  /** As in `trial-duration`. */
  readonly name: string
  readonly group: SettingGroup
  readonly kind: Kind<T>
  readonly initial: T
  /** What the help text shows as the default, if the default is not a value. */
  readonly initialNote?: string
  readonly help: string
  /** Which commands take it as a flag. Environment and config file apply to all of them. */
  readonly commands: 'all' | 'run'
  /** Whether a running agent applies a changed value on SIGHUP. */
  readonly changes: 'live' | 'restart'
}

/** One row for each field of T. */
export type SettingTable<T> = { readonly [P in keyof T]: Setting<T[P]> }

/** Which commands take a flag, and when a change applies: most rows share one of these. */
export const ALL_COMMANDS = { commands: 'all', changes: 'restart' } as const
export const RUN_ONLY = { commands: 'run', changes: 'restart' } as const
export const RUN_ONLY_LIVE = { commands: 'run', changes: 'live' } as const

/** In the order of help and documents. */
export const SETTING_GROUPS = ['Where assignments come from', 'On disk', 'Kubelet', 'Preflight', 'Trial and rollback', 'Reports'] as const

export type SettingGroup = (typeof SETTING_GROUPS)[number]
