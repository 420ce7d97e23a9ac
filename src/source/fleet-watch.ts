// SPDX-License-Identifier: Apache-2.0
/**
 * Watches the ConfigMaps of a fleet, metadata only. While the server is unreachable, the last list
 * stays in effect. A list that is forbidden never counts as empty, nor does the last one stay in
 * effect then. `watch-loop.ts` makes the requests.
 */

import type { WatchFailure } from '../decision/desired.ts'
import { type FleetMember, fleetCollection, readFleetMember, readFleetMembers, requestedMembers } from './channels/fleet.ts'
import type { Fleet } from './channels/resolve.ts'
import { readAnswer, readListAnswer } from './kube-object.ts'
import { toReadFailure } from './reflect.ts'
import { type Followed, follow, malformed, type RequestGate, type WatchDeps } from './watch-loop.ts'

interface FleetObserver {
  onFleet(fleet: Fleet): void
  /**
   * The fleet cannot be listed now. The last list stays in effect, unless `onFleet` reports
   * otherwise.
   */
  onFailed(reason: WatchFailure): void
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
  const requested = requestedMembers(namespace)
  let members: ReadonlyMap<string, FleetMember> | undefined
  const publish = (known: ReadonlyMap<string, FleetMember>): void => {
    members = known
    observer.onFleet({ kind: 'known', members: [...known.values()] })
  }
  const followed: Followed = {
    what: `${path}?labelSelector=${query.labelSelector}`,
    collection: path,
    query,
    // A collection can only be listed: `get` does not apply.
    async read(_verb, send) {
      const answer = await send({ path, query, as: 'PartialObjectMetadataList' })
      if (answer.kind !== 'ok') return { end: answer }
      const list = readListAnswer(answer.object, requested)
      if (!list.ok) return { end: malformed(list.detail) }
      const read = readFleetMembers(list.found.map(({ object }) => object))
      return {
        end: { kind: 'read', resourceVersion: list.resourceVersion },
        deliver: () => publish(new Map(read.map((member) => [member.name, member]))),
      }
    },
    formOfWatch: async () => 'metadata',
    readEvent(type, object) {
      const answer = readAnswer(object, requested)
      if (!answer.ok) return malformed(`${type} event: ${answer.detail}`)
      return () => {
        const member = readFleetMember(object)
        if (member === undefined || members === undefined) return
        const known = new Map(members)
        if (type === 'DELETED') known.delete(member.name)
        else known.set(member.name, member)
        publish(known)
      }
    },
    onFailed(reason, detail) {
      observer.onFailed(reason)
      if (reason !== 'forbidden' && members !== undefined) return
      // Until the next list, watch events are ignored.
      members = undefined
      observer.onFleet({ kind: 'unreadable', reason: toReadFailure(reason), detail })
    },
    onSynced: () => observer.onSynced(),
    onReconnect: () => observer.onReconnect(),
  }
  await follow(deps, followed, gate, signal)
}
