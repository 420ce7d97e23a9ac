/** What the agent keeps ready beside a config file that it replaces. Pure. */
import { posix } from 'node:path'

/** In the directory of the file, for the rename; hidden, so that nothing reads it as a config. */
export function readyPath(configPath: string, kind: 'local' | 'fallback' | 'new' | 'record'): string {
  return posix.join(posix.dirname(configPath), `.${posix.basename(configPath)}.kubelet-cfg-agent-${kind}`)
}
