/** The settings of the running agent, and the parser of the file they come from. */
import type { AgentStart } from './cli/command.ts'
import type { ParseYaml } from './cli/config-file.ts'
import { type RereadLog, rereadSettings } from './settings/reread-settings.ts'
import type { Settings } from './settings/settings.ts'

/**
 * Parses the settings file. The YAML parser costs time and memory, so it is loaded only when there
 * is a file to parse.
 */
export class SettingsParser {
  #parse: ParseYaml = () => ({ ok: false, detail: 'the file appeared while the agent was starting: start the agent again' })

  async load(): Promise<void> {
    this.#parse = (await import('./kubelet/yaml.ts')).parseDocument
  }

  parse(text: string): ReturnType<ParseYaml> {
    return this.#parse(text)
  }
}

/** The settings in force. Some of them change when the agent receives SIGHUP. */
export class LiveSettings {
  readonly #start: AgentStart
  readonly #parser: SettingsParser
  readonly #log: RereadLog
  #current: Settings

  constructor(start: AgentStart, parser: SettingsParser, log: RereadLog) {
    this.#start = start
    this.#parser = parser
    this.#log = log
    this.#current = start.settings
  }

  current(): Settings {
    return this.#current
  }

  async reread(): Promise<void> {
    await this.#parser.load()
    this.#current = rereadSettings(this.#current, () => this.#start.reread(), this.#log)
  }
}
