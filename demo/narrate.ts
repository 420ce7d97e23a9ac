/** What of all that is written is worth a line of the timeline, and how it is put in few words. Pure. */
import type { ConfigSource } from '../src/decision/config-source.ts'
import type { ConfigStatus } from '../src/report/status.ts'
import type { LogLine } from './agent-process.ts'

/** Beginnings of the agent's lines that move the story on; warnings and errors are always shown. */
const TOLD = [
  'kubelet-cfg-agent ',
  'drop-in: ',
  'successfully downloaded ',
  'activated ',
  'in-trial: ',
  'paused: ',
  'updated last-known-good config to ',
  'verdict confirmed: ',
  'verdicts dropped',
  'Node.Spec.ConfigSource is empty, ',
  'settled: local',
]

/** undefined: not worth telling. */
export function tellLog({ level, msg, detail }: LogLine): { readonly text: string; readonly isTrouble: boolean } | undefined {
  const isTrouble = level === 'warn' || level === 'error'
  const isTold = isTrouble || msg.endsWith(' can be read again') || TOLD.some((beginning) => msg.startsWith(beginning))
  return isTold ? { text: detail === undefined ? msg : `${msg}: ${detail}`, isTrouble } : undefined
}

/** One line, and another for an error. */
export function tellStatus(status: ConfigStatus | 'absent'): readonly string[] {
  if (status === 'absent') return ['no status.config']
  const { assigned, active, lastKnownGood, error } = status
  const isEmpty = assigned === 'local' && active === 'local' && lastKnownGood === 'local' && error === ''
  if (isEmpty) return ['status.config is {}']
  const sources = `assigned ${nameSource(assigned)}, active ${nameSource(active)}, last-known-good ${nameSource(lastKnownGood)}`
  return error === '' ? [sources] : [sources, `error: ${error}`]
}

/** As the timeline names every version of a ConfigMap. */
export function nameSource(source: ConfigSource | undefined): string {
  if (source === undefined) return '?'
  return source === 'local' ? 'local' : `${source.name}@${source.resourceVersion}`
}

/** Sources in short, paths as seen from the demo's directory, and of a UID its beginning. */
export function shorten(text: string, directory: string): string {
  return text
    .replaceAll(
      /\/api\/v1\/namespaces\/[^/]+\/configmaps\/([^ ,]+), UID: [^ ,]+, ResourceVersion: (\w+)(, KubeletConfigKey: \w+)?/g,
      '$1@$2',
    )
    .replaceAll(/[-\w]+\/([-.\w]+):[-.\w]+@(\w+)/g, '$1@$2')
    .replaceAll(`${directory}/`, '')
    .replaceAll(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '$1')
}
