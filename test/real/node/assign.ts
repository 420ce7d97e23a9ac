// SPDX-License-Identifier: Apache-2.0
/** The steps that scenarios on a real node begin with. */
import type { Administrator } from '../administrator.ts'
import type { Source } from '../records.ts'
import type { Node } from './node.ts'

/** A new ConfigMap, assigned to the node. */
export async function assignNew(node: Node, admin: Administrator, name: string, changes: object): Promise<Source> {
  const source = await admin.createConfigMap(name, node.config(changes))
  await admin.assign(name)
  return source
}

/** Last-known-good, with maxPods 51. */
export async function promoteGood(node: Node, admin: Administrator, changes: object = {}): Promise<Source> {
  const good = await assignNew(node, admin, 'good', { maxPods: 51, ...changes })
  await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
  await node.untilRuns(51)
  return good
}
