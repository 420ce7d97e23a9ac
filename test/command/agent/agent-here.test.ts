// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { LockHolder } from '../../../src/checkpoint/lock.ts'
import { findAgent, type TakeOverParts, takeOver } from '../../../src/command/agent/agent-here.ts'
import type { UnitState } from '../../../src/subject/unit-state.ts'
import { unit } from '../../decision/snapshots.ts'

t.test('an agent whose directory was removed with the lock still runs', async (t) => {
  const find = (holder: LockHolder, lastPid: number | undefined, holds = true) =>
    findAgent({ findHolder: () => holder, lastPid: () => lastPid, holdsRemovedLock: () => holds })
  t.same(find({ kind: 'absent' }, 7), { kind: 'running', pid: 7, isWithoutDirectory: true })
  t.same(find({ kind: 'absent' }, 7, false), { kind: 'absent' }, 'another process has its number by now')
  t.same(find({ kind: 'absent' }, undefined), { kind: 'absent' })
  t.same(find({ kind: 'unknown', detail: 'EIO' }, 7), { kind: 'unknown', detail: 'EIO' })
})

async function take(seen: UnitState, { exists = true, outside = [] as string[], isLocked = false } = {}) {
  const done: string[] = []
  const parts = {
    directory: '/state',
    exists: () => exists,
    makeDirectory: () => void done.push('made'),
    takeLock: () => (isLocked ? { ok: false, detail: 'an agent runs' } : { ok: true, lock: { release: () => void done.push('released') } }),
    unit: { observe: async () => seen },
    reader: { findOutside: () => outside },
    open: () => ({}) as never,
  } satisfies TakeOverParts
  return { taken: await takeOver(parts), done }
}

t.test('a command takes the place of an agent that does not run', async (t) => {
  const { taken, done } = await take(unit())
  t.equal(taken.kind, 'taken')
  if (taken.kind === 'taken') taken.end()
  t.same(done, ['released'])
  t.same((await take(unit(), { isLocked: true })).taken, { kind: 'refused', detail: 'an agent runs' })
})

t.test('where the directory is lost, what the agent put elsewhere decides', async (t) => {
  const lost = { exists: false }
  t.same((await take(unit(), lost)).taken, { kind: 'untouched' })
  t.match(await take(unit(), { ...lost, outside: ['/etc/kubelet.yaml'] }), { taken: { kind: 'taken' }, done: ['made'] })
  t.match(await take({ kind: 'unknown', detail: 'no bus' }, lost), { taken: { kind: 'refused', detail: /no bus$/ }, done: [] })
})
