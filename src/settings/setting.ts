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

export const SETTING_GROUPS = ['Where assignments come from', 'On disk', 'Kubelet', 'Preflight', 'Trial and rollback', 'Reports'] as const

export type SettingGroup = (typeof SETTING_GROUPS)[number]
