/**
 * Follows the ConfigMaps of a fleet: their metadata, and nothing of their data. What a list has said stands while the server is away; that the list
 * is forbidden is never taken for an empty one, nor for what it said before. The asking is `watch-loop.ts`'s.
 */

import { type FleetMember, fleetCollection, readFleetMember, readFleetMembers } from './channels/fleet.ts'
import type { Fleet } from './channels/resolve.ts'
import { type Followed, follow, malformed, type RequestGate, readList, type WatchDeps } from './watch-loop.ts'

export interface FleetObserver {
  onFleet(fleet: Fleet): void
  /** It cannot be listed now; what was said of it stands, or is taken back by `onFleet`. */
  onFailed(reason: 'forbidden' | 'unreachable'): void
  onSynced(): void
  onReconnect(): void
}

export async function watchFleet(
  deps: WatchDeps,
  namespace: string,
  observer: FleetObserver,
  gate: RequestGate,
  signal: AbortSignal,
): Promise<void> {
  const { path, query } = fleetCollection(namespace)
  let members: ReadonlyMap<string, FleetMember> | undefined
  const tell = (known: ReadonlyMap<string, FleetMember>): void => {
    members = known
    observer.onFleet({ kind: 'known', members: [...known.values()] })
  }
  const followed: Followed = {
    what: `${path}?labelSelector=${query.labelSelector}`,
    collection: path,
    query,
    // There is no other way to read a list.
    async read(_ask, send) {
      const answer = await send({ path, query, as: 'PartialObjectMetadataList' })
      if (answer.kind !== 'ok') return { end: answer }
      const list = readList(answer.object)
      if (list === undefined) return { end: malformed('the answer is no list') }
      const read = readFleetMembers(list.items)
      return {
        end: { kind: 'read', resourceVersion: list.resourceVersion },
        deliver: () => tell(new Map(read.map((member) => [member.name, member]))),
      }
    },
    formOfWatch: async () => 'metadata',
    onEvent(type, object) {
      const member = readFleetMember(object)
      if (member === undefined || members === undefined) return
      const known = new Map(members)
      if (type === 'DELETED') known.delete(member.name)
      else known.set(member.name, member)
      tell(known)
    },
    onFailed(reason, detail) {
      observer.onFailed(reason)
      if (reason === 'unreachable' && members !== undefined) return
      // Nothing that a watch says changes that until there is a list again.
      members = undefined
      observer.onFleet({ kind: 'unreadable', detail })
    },
    onSynced: () => observer.onSynced(),
    onReconnect: () => observer.onReconnect(),
  }
  await follow(deps, followed, gate, signal)
}
