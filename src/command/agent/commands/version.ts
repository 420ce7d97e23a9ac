/** `version`: the versions of the agent and of Node.js. */
import { EXIT, type PlainCommand } from '../../command.ts'

export const versionCommand: PlainCommand = {
  name: 'version',
  takes: 'nothing',
  group: 'Inspect',
  summary: 'print the version',
  description: 'Prints the version of the agent and of the Node.js that runs it.',
  options: [],
  examples: [],
  execute(terminal, { version, platform }) {
    terminal.out(`kubelet-cfg-agent ${version} (${platform})\n`)
    return EXIT.fine
  },
}
