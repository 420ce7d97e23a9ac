// SPDX-License-Identifier: Apache-2.0
/** The steps that most scenarios begin with. */
import type { Administrator } from './administrator.ts'
import type { Machine } from './machine.ts'
import type { Source } from './records.ts'

/** A new ConfigMap, assigned to the node. */
export async function assignNew(admin: Administrator, name: string, text: string): Promise<Source> {
  const source = await admin.createConfigMap(name, text)
  await admin.assign(name)
  return source
}

/** On trial, and what kubelet runs. */
export async function assignGood(machine: Machine, admin: Administrator): Promise<Source> {
  const good = await assignNew(admin, 'good', machine.config('maxPods: 51'))
  await machine.untilRuns(51)
  return good
}

/** Last-known-good. */
export async function promoteGood(machine: Machine, admin: Administrator): Promise<Source> {
  const good = await assignGood(machine, admin)
  await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
  return good
}
