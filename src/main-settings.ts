/** The settings of the running agent, and the parser of the file they come from. */
import type { AgentStart } from './command/command.ts'
import type { ParseYaml } from './command/agent/config-file.ts'
import { readPlainFile } from './settings/plain-file.ts'
import { type RereadLog, rereadSettings } from './settings/reread-settings.ts'
import type { Settings } from './settings/settings.ts'

/**
 * Parses the settings file. The YAML parser costs time and memory, so it is loaded only when there
 * is a file that takes it.
 */
export interface SettingsParser {
  load(): Promise<void>
  readonly parse: ParseYaml
}

export function openSettingsParser(): SettingsParser {
  let parseYaml: ParseYaml = () => ({ ok: false, detail: 'the file appeared while the agent was starting: start the agent again' })
  return {
    async load() {
      parseYaml = (await import('./kubelet/yaml.ts')).parseUncommon
    },
    parse(text) {
      const plain = readPlainFile(text)
      return plain === undefined ? parseYaml(text) : { ok: true, value: plain, repeated: [] }
    },
  }
}

/** The settings in force. Some of them change when the agent receives SIGHUP. */
export interface LiveSettings {
  readonly current: () => Settings
  reread(): Promise<void>
  /** @param react called when they have been reread, in place of what was given before */
  onReread(react: () => void): void
}

export function openLiveSettings({ settings, reread }: AgentStart, parser: SettingsParser, log: RereadLog): LiveSettings {
  let current = settings
  let onReread = () => {}
  return {
    current: () => current,
    async reread() {
      // Which file it is now, and what is in it, is known only when it is read.
      await parser.load()
      current = rereadSettings(current, reread, log)
      onReread()
    },
    onReread(react) {
      onReread = react
    },
  }
}
