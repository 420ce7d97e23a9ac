/** What every implementation of the `Unit` port does: asked of the fake, and of the real adapter over a simulated systemd. */
import type { Test } from 'tap'
import type { UnitState } from '../../src/decision/unit-state.ts'
import type { Unit } from '../../src/ports/unit.ts'

export type KnownUnit = Extract<UnitState, { kind: 'known' }>

/** A world with kubelet running in it, on its local config. */
export interface UnitWorld {
  readonly unit: Unit
  readonly person: { start(): void; stop(): void; restart(): void; kill(): void; shutDown(): void }
  /** What kubelet starts with next: a checkpoint of resource version 7, or its local config. */
  activate(source: 'checkpoint' | 'local'): void
  /** Whether kubelet exits soon after its next start. */
  behave(how: 'well' | 'crash'): void
  /** Lets time pass until it is so; fails when it never is. */
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
    t.strictSame(await world.unit.observe(), unit, 'looking again shows the same')
    t.equal(world.unit.stillRuns(unit), true)
  })

  t.test('kubelet that is killed comes back, and is counted', async (t) => {
    const world = await open(t, { startLimit: false })
    const before = await world.until('it runs', running)
    world.activate('checkpoint')
    world.person.kill()
    const between = await world.until('it waits', ({ activity }) => activity === 'auto-restart')
    t.match(between, { process: { kind: 'none' }, nRestarts: 0, invocationId: before.invocationId })
    t.equal(world.unit.stillRuns(before), false)
    t.equal(world.unit.stillRuns(between), false)
    const after = await world.until('it is back', startedAfter(before))
    t.match(after, { nRestarts: 1, process: { kind: 'checkpoint', uid: 'u', resourceVersion: '7', key: 'kubelet' } })
    t.ok(after.startedAtUs > before.startedAtUs)
    t.equal(after.kubeletIdentity, before.kubeletIdentity)
    t.equal(world.unit.stillRuns(after), true)
    t.equal(world.unit.stillRuns(before), false, 'another process runs')
  })

  t.test('restart runs what is activated, and counts from zero', async (t) => {
    const world = await open(t, { startLimit: false })
    const first = await world.until('it runs', running)
    world.person.kill()
    const before = await world.until('it is back', startedAfter(first))
    t.equal(before.nRestarts, 1)
    world.activate('checkpoint')
    t.strictSame(await world.unit.restart('other'), { ok: true })
    const after = await world.until('it runs anew', startedAfter(before))
    t.match(after, { nRestarts: 0, process: { kind: 'checkpoint' } })
    world.activate('local')
    await world.unit.restart('other')
    t.match(await world.until('it runs anew', startedAfter(after)), { process: { kind: 'other' } })
  })

  t.test('a kubelet that a person stopped stays stopped', async (t) => {
    const world = await open(t, { startLimit: false })
    await world.until('it runs', running)
    world.activate('checkpoint')
    world.person.stop()
    const stopped = await world.until('it has stopped', ({ activity }) => activity === 'stopped')
    t.strictSame(stopped.process, { kind: 'none' })
    t.strictSame(await world.unit.restart('other'), { ok: true })
    t.equal((await world.unit.observe()).kind === 'known' && stopped.activity, 'stopped')
    world.person.start()
    t.match(await world.until('it runs', running), { process: { kind: 'checkpoint' } })
  })

  t.test('a restart does not wait for the automatic one', async (t) => {
    const world = await open(t, { startLimit: false })
    const first = await world.until('it runs', running)
    world.behave('crash')
    world.person.restart()
    const looping = await world.until('it loops', ({ nRestarts, activity }) => nRestarts >= 1 && activity === 'auto-restart')
    world.behave('well')
    world.activate('checkpoint')
    t.strictSame(await world.unit.restart('other'), { ok: true })
    const after = await world.until('it runs', startedAfter(looping))
    t.match(after, { nRestarts: 0, process: { kind: 'checkpoint' } })
    t.not(after.invocationId, first.invocationId)
  })

  t.test('nor does one of a kubelet that dies just before it', async (t) => {
    const world = await open(t, { startLimit: false })
    const first = await world.until('it runs', running)
    world.activate('checkpoint')
    world.person.kill()
    t.strictSame(await world.unit.restart('other'), { ok: true })
    t.match(await world.until('it runs', startedAfter(first)), { process: { kind: 'checkpoint' } })
  })

  t.test('restarts of the agent do not use up the starts that systemd allows', async (t) => {
    const world = await open(t, { startLimit: true })
    let before = await world.until('it runs', running)
    for (let round = 0; round < 5; round += 1) {
      t.strictSame(await world.unit.restart('other'), { ok: true })
      before = await world.until('it runs anew', startedAfter(before))
    }
  })

  t.test('what systemd has given up can be started again', async (t) => {
    const world = await open(t, { startLimit: true })
    await world.until('it runs', running)
    world.behave('crash')
    world.person.restart()
    const failed = await world.until('systemd gives up', ({ activity }) => activity === 'failed')
    t.match(failed, { process: { kind: 'none' }, summary: /^failed/ })
    world.behave('well')
    t.strictSame(await world.unit.restart('failed'), { ok: true })
    t.match(await world.until('it runs', running), { nRestarts: 0 })
  })

  t.test('nor is it left stopped when systemd gives up while the agent makes up its mind', async (t) => {
    const world = await open(t, { startLimit: true })
    await world.until('it runs', running)
    world.behave('crash')
    world.person.restart()
    await world.until('systemd gives up', ({ activity }) => activity === 'failed')
    world.behave('well')
    t.strictSame(await world.unit.restart('other'), { ok: true })
    await world.until('it runs', running)
  })

  t.test('a machine that goes down is stopping', async (t) => {
    const world = await open(t, { startLimit: false })
    await world.until('it runs', running)
    world.person.shutDown()
    await world.until('it stops', ({ activity }) => activity === 'stopping')
    t.match(await world.until('kubelet is gone', ({ process }) => process.kind === 'none'), { activity: 'stopping' })
  })
}
