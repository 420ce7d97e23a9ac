// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of the `Unit` port, tested with the fake, and with the real adapter over a simulated
 * systemd.
 */
import type { Test } from 'tap'
import type { Unit } from '../../src/ports/unit.ts'
import type { UnitState } from '../../src/subject/unit-state.ts'

export type KnownUnit = Extract<UnitState, { kind: 'known' }>

/** A world in which kubelet runs with its local config. */
interface UnitWorld {
  readonly unit: Unit
  readonly operator: { start(): void; stop(): void; restart(): void; kill(): void; shutDown(): void }
  /**
   * Sets what kubelet starts with next: a checkpoint of resource version 7, or its local config.
   */
  activate(source: 'checkpoint' | 'local'): void
  /** Sets whether kubelet exits soon after its next start. */
  behave(how: 'well' | 'crash'): void
  /** Lets time pass until the condition holds; fails on a timeout. */
  until(what: string, isSo: (unit: KnownUnit) => boolean): Promise<KnownUnit>
}

export function unitContract(t: Test, open: (t: Test, options: { startLimit: boolean }) => Promise<UnitWorld>): void {
  const running = (unit: KnownUnit) => unit.activity === 'running' && (unit.process.kind === 'checkpoint' || unit.process.kind === 'other')
  const startedAfter = (before: KnownUnit) => (unit: KnownUnit) => running(unit) && unit.invocationId !== before.invocationId

  t.test('a running kubelet', async (t) => {
    const world = await open(t, { startLimit: false })
    const unit = await world.until('it runs', running)
    t.match(unit, { nRestarts: 0, process: { kind: 'other' }, summary: 'active (running)' })
    t.not(unit.invocationId, '')
    t.ok(unit.startedAtUs > 0)
    t.match(unit.process, { configPath: unit.localConfigPath })
    t.equal(unit.command?.words.includes(`--config=${unit.localConfigPath}`), true)
    t.strictSame(await world.unit.observe(), unit, 'a second observation is the same')
    t.equal(world.unit.stillRuns(unit), true)
  })

  t.test('a killed kubelet is restarted automatically, and counted', async (t) => {
    const world = await open(t, { startLimit: false })
    const before = await world.until('it runs', running)
    world.activate('checkpoint')
    world.operator.kill()
    const between = await world.until('it waits', ({ activity }) => activity === 'auto-restart')
    t.match(between, { process: { kind: 'none' }, nRestarts: 0, invocationId: before.invocationId, killedBy: 'SIGKILL' })
    t.equal(world.unit.stillRuns(before), false)
    t.equal(world.unit.stillRuns(between), false)
    const after = await world.until('it is back', startedAfter(before))
    t.match(after, { nRestarts: 1, killedBy: undefined, process: { kind: 'checkpoint', uid: 'u', resourceVersion: '7', key: 'kubelet' } })
    t.ok(after.startedAtUs > before.startedAtUs)
    t.equal(after.kubeletIdentity, before.kubeletIdentity)
    t.equal(world.unit.stillRuns(after), true)
    t.equal(world.unit.stillRuns(before), false, 'another process runs now')
  })

  t.test('restart starts what is activated, and resets the counter', async (t) => {
    const world = await open(t, { startLimit: false })
    const first = await world.until('it runs', running)
    world.operator.kill()
    const before = await world.until('it is back', startedAfter(first))
    t.equal(before.nRestarts, 1)
    world.activate('checkpoint')
    t.strictSame(await world.unit.restart('other'), { ok: true })
    const after = await world.until('it runs again', startedAfter(before))
    t.match(after, { nRestarts: 0, process: { kind: 'checkpoint' } })
    world.activate('local')
    await world.unit.restart('other')
    t.match(await world.until('it runs again', startedAfter(after)), { process: { kind: 'other' } })
  })

  t.test('a kubelet that an operator stopped stays stopped', async (t) => {
    const world = await open(t, { startLimit: false })
    await world.until('it runs', running)
    world.activate('checkpoint')
    world.operator.stop()
    const stopped = await world.until('it has stopped', ({ activity }) => activity === 'stopped')
    t.strictSame(stopped.process, { kind: 'none' })
    t.strictSame(await world.unit.restart('other'), { ok: true })
    t.equal((await world.unit.observe()).kind === 'known' && stopped.activity, 'stopped')
    world.operator.start()
    t.match(await world.until('it runs', running), { process: { kind: 'checkpoint' } })
  })

  t.test('a restart does not wait for the automatic restart', async (t) => {
    const world = await open(t, { startLimit: false })
    const first = await world.until('it runs', running)
    world.behave('crash')
    world.operator.restart()
    const looping = await world.until('it loops', ({ nRestarts, activity }) => nRestarts >= 1 && activity === 'auto-restart')
    world.behave('well')
    world.activate('checkpoint')
    t.strictSame(await world.unit.restart('other'), { ok: true })
    const after = await world.until('it runs', startedAfter(looping))
    t.match(after, { nRestarts: 0, process: { kind: 'checkpoint' } })
    t.not(after.invocationId, first.invocationId)
  })

  t.test('a restart does not wait for it either if kubelet dies just before', async (t) => {
    const world = await open(t, { startLimit: false })
    const first = await world.until('it runs', running)
    world.activate('checkpoint')
    world.operator.kill()
    t.strictSame(await world.unit.restart('other'), { ok: true })
    t.match(await world.until('it runs', startedAfter(first)), { process: { kind: 'checkpoint' } })
  })

  t.test('restarts by the agent do not count towards the start limit', async (t) => {
    const world = await open(t, { startLimit: true })
    let before = await world.until('it runs', running)
    for (let round = 0; round < 5; round += 1) {
      t.strictSame(await world.unit.restart('other'), { ok: true })
      before = await world.until('it runs again', startedAfter(before))
    }
  })

  t.test('a unit that systemd gave up can be started again', async (t) => {
    const world = await open(t, { startLimit: true })
    await world.until('it runs', running)
    world.behave('crash')
    world.operator.restart()
    const failed = await world.until('systemd gives up', ({ activity }) => activity === 'failed')
    t.match(failed, { process: { kind: 'none' }, summary: /^failed/, startLimitHit: false, killedBy: undefined })
    world.behave('well')
    t.strictSame(await world.unit.restart('failed'), { ok: true })
    t.match(await world.until('it runs', running), { nRestarts: 0 })
  })

  t.test('a start that systemd refuses is told from a kubelet that failed', async (t) => {
    const world = await open(t, { startLimit: true })
    let before = await world.until('it runs', running)
    t.match(before, { startLimitHit: false })
    for (let round = 0; round < 2; round += 1) {
      world.operator.restart()
      before = await world.until('it runs again', startedAfter(before))
    }
    world.operator.restart()
    t.match(await world.until('systemd refuses', ({ activity }) => activity === 'failed'), { startLimitHit: true, nRestarts: 0 })
  })

  t.test('it is started too if systemd gives up between observation and restart', async (t) => {
    const world = await open(t, { startLimit: true })
    await world.until('it runs', running)
    world.behave('crash')
    world.operator.restart()
    await world.until('systemd gives up', ({ activity }) => activity === 'failed')
    world.behave('well')
    t.strictSame(await world.unit.restart('other'), { ok: true })
    await world.until('it runs', running)
  })

  t.test('kubelet is stopping while the machine shuts down', async (t) => {
    const world = await open(t, { startLimit: false })
    await world.until('it runs', running)
    world.operator.shutDown()
    await world.until('it stops', ({ activity }) => activity === 'stopping')
    t.match(await world.until('kubelet is gone', ({ process }) => process.kind === 'none'), { activity: 'stopping' })
  })
}
