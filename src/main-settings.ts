/** The settings of the running agent. */
import type { AgentStart } from './command/agent/command.ts'
import { type RereadLog, rereadSettings } from './settings/reread-settings.ts'
import type { Settings } from './settings/settings.ts'

/** The settings in force. Some of them change when the agent receives SIGHUP. */
export interface LiveSettings {
  readonly current: () => Settings
  reread(): Promise<void>
  /** @param react called when they have been reread, in place of what was given before */
  onReread(react: () => void): void
}

export function openLiveSettings({ settings, reread }: AgentStart, log: RereadLog): LiveSettings {
  let current = settings
  let onReread = () => {}
  return {
    current: () => current,
    async reread() {
      current = rereadSettings(current, await reread(), log)
      onReread()
    },
    onReread(react) {
      onReread = react
    },
  }
}
