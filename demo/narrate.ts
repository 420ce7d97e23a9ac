/** Selects what is worth a line of the timeline, and shortens it. Pure. */
import type { ConfigSource } from '../src/decision/config-source.ts'
import type { ConfigStatus } from '../src/report/status.ts'
import type { LogLine } from './agent-process.ts'

/** Prefixes of the agent's log lines that are shown; warnings and errors are always shown. */
const SHOWN = [
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

/** undefined: not shown. */
export function tellLog({ level, msg, detail }: LogLine): { readonly text: string; readonly isTrouble: boolean } | undefined {
  const isTrouble = level === 'warn' || level === 'error'
  const isShown = isTrouble || msg.endsWith(' can be read again') || SHOWN.some((prefix) => msg.startsWith(prefix))
  return isShown ? { text: detail === undefined ? msg : `${msg}: ${detail}`, isTrouble } : undefined
}

/** One line, and a second one for an error. */
export function tellStatus(status: ConfigStatus | 'absent'): readonly string[] {
  if (status === 'absent') return ['no status.config']
  const { assigned, active, lastKnownGood, error } = status
  const isEmpty = assigned === 'local' && active === 'local' && lastKnownGood === 'local' && error === ''
  if (isEmpty) return ['status.config is {}']
  const sources = `assigned ${nameSource(assigned)}, active ${nameSource(active)}, last-known-good ${nameSource(lastKnownGood)}`
  return error === '' ? [sources] : [sources, `error: ${error}`]
}

/** How the timeline names a version of a ConfigMap. */
export function nameSource(source: ConfigSource | undefined): string {
  if (source === undefined) return '?'
  return source === 'local' ? 'local' : `${source.name}@${source.resourceVersion}`
}

/** Shortens sources and UIDs, and makes paths relative to the demo's directory. */
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
