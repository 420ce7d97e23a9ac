/**
 * Follows the Nodes of a list: calls back for each whose state differs from what was shown. Kubelet
 * writes its Node every few minutes, which shows nothing new. Pure but for what is passed in.
 */
import { EXIT, type ExitCode } from '../command.ts'
import type { KubeWatchEnd } from '../../ports/kube-api.ts'
import { identityOf } from '../../source/kube-object.ts'
import type { PluginContext } from './command.ts'
import { describeRefused, Failure } from './failure.ts'
import { type NodeState, readNodeState } from './node-state.ts'
import { listNodes } from './nodes.ts'
import { untilUnread } from './until-unread.ts'

export interface Watched {
  readonly known: readonly NodeState[]
  /** Empty: the Nodes are listed first. */
  readonly resourceVersion: string
  readonly selector: string
  /** undefined: all. */
  readonly names: ReadonlySet<string> | undefined
}

const INACTIVITY_MS = 10 * 60_000
const AGAIN_MS = 2000

/**
 * Ends when the signal aborts, or nobody reads the output any more.
 * @throws Failure where the watch is refused
 */
export async function watchNodes(
  context: PluginContext,
  { known, resourceVersion, selector, names }: Watched,
  show: (node: NodeState) => Promise<void>,
): Promise<ExitCode> {
  const { api, namespace } = context
  const signal = untilUnread(context)
  const shown = new Map(known.map((node) => [node.name, JSON.stringify(node)]))
  const look = async (node: NodeState | undefined): Promise<void> => {
    if (node === undefined || (names !== undefined && !names.has(node.name))) return
    const text = JSON.stringify(node)
    if (shown.get(node.name) === text) return
    shown.set(node.name, text)
    await show(node)
  }
  let version = resourceVersion
  while (!signal.aborted) {
    if (version === '') {
      const listed = await listNodes(context, selector)
      for (const node of listed.items) await look(node)
      version = listed.resourceVersion
    }
    const changed: Promise<void>[] = []
    let isExpired = false
    const end: KubeWatchEnd = await api.watch({
      path: '/api/v1/nodes',
      query: {
        resourceVersion: version,
        allowWatchBookmarks: 'true',
        timeoutSeconds: '600',
        ...(selector !== '' && { labelSelector: selector }),
      },
      inactivityMs: INACTIVITY_MS,
      signal,
      onEvent: ({ type, object }) => {
        if (type === 'ERROR') isExpired = true
        else version = identityOf(object)?.resourceVersion || versionOfBookmark(object) || version
        if (type === 'ADDED' || type === 'MODIFIED') changed.push(look(readNodeState(object, namespace)))
      },
    })
    await Promise.all(changed)
    if (end.kind === 'refused' && end.status !== 410 && !isPassing(end.status))
      throw new Failure(describeRefused({ verb: 'watch', resource: 'nodes' }, end))
    // The API server no longer has that version, or has said why it ends the watch.
    if (isExpired || (end.kind === 'refused' && end.status === 410)) version = ''
    await context.sleep(AGAIN_MS)
  }
  return EXIT.fine
}

/** As while an API server restarts, or has too much to do. */
function isPassing(status: number): boolean {
  return status === 429 || status >= 500
}

/** A bookmark has a version and no name. */
function versionOfBookmark(object: unknown): string {
  const metadata = typeof object === 'object' && object !== null && 'metadata' in object ? object.metadata : undefined
  if (typeof metadata !== 'object' || metadata === null || !('resourceVersion' in metadata)) return ''
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : ''
}
