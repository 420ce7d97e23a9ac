// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type MachineOptions, UnitMachine } from '../../../demo/systemd/unit-machine.ts'

function machine(options: Partial<MachineOptions> = {}) {
  let spawned = 0
  let terminated = 0
  const unit = new UnitMachine({
    restartUs: 10,
    spawn: () => spawned++,
    terminate: () => terminated++,
    newInvocationId: () => `i${spawned + 1}`,
    ...options,
  })
  return { unit, spawned: () => spawned, terminated: () => terminated }
}

t.test('an unrequested exit leads to an automatic restart; NRestarts counts these', async (t) => {
  const { unit } = machine()
  unit.command('start', 100)
  t.match(unit, { state: 'running', nRestarts: 0, invocationId: 'i1', startedAtUs: 100 })
  unit.exited('signal', 200)
  t.match(unit, { state: 'auto-restart', result: 'signal', nRestarts: 0, invocationId: 'i1', timerUs: 210 })
  unit.onTimer(209)
  t.equal(unit.state, 'auto-restart')
  unit.onTimer(210)
  t.match(unit, { state: 'running', result: 'success', nRestarts: 1, invocationId: 'i2', startedAtUs: 210 })
  t.equal(unit.timerUs, undefined)
})

t.test('what resets NRestarts, and what does not', async (t) => {
  const looping = () => {
    const made = machine()
    made.unit.command('start', 0)
    made.unit.exited('exit-code', 1)
    made.unit.onTimer(11)
    made.unit.exited('exit-code', 12)
    t.match(made.unit, { state: 'auto-restart', nRestarts: 1 })
    return made
  }
  const restarted = looping()
  restarted.unit.command('try-restart', 15)
  t.match(restarted.unit, { state: 'running', nRestarts: 1 }, 'a restart during auto-restart keeps it')
  restarted.unit.command('restart', 16)
  t.equal(restarted.unit.state, 'stopping')
  restarted.unit.exited('signal', 17)
  t.match(restarted.unit, { state: 'running', nRestarts: 0, result: 'success' }, 'a restart of a running unit resets it')

  const reset = looping()
  reset.unit.command('reset-failed', 15)
  t.match(reset.unit, { state: 'auto-restart', nRestarts: 0, timerUs: 22 })

  const started = looping()
  started.unit.command('start', 15)
  t.match(started.unit, { state: 'auto-restart', nRestarts: 1 }, 'a start does not end the wait')

  const stopped = looping()
  stopped.unit.command('stop', 15)
  t.match(stopped.unit, { state: 'inactive', nRestarts: 1, result: 'exit-code' })
  stopped.unit.onTimer(99)
  t.equal(stopped.unit.state, 'inactive')
  stopped.unit.command('start', 100)
  t.equal(stopped.unit.nRestarts, 0)
})

t.test('a unit that an operator stopped stays stopped', async (t) => {
  const { unit, terminated } = machine()
  unit.command('start', 0)
  unit.command('stop', 1)
  t.match(unit, { state: 'stopping' })
  t.equal(terminated(), 1)
  unit.exited('success', 2)
  t.match(unit, { state: 'inactive', result: 'success' })
  unit.command('try-restart', 3)
  t.equal(unit.state, 'inactive')
  unit.command('restart', 4)
  t.equal(unit.state, 'running')
  unit.command('stop', 5)
  unit.exited('timeout', 6)
  t.match(unit, { state: 'failed', result: 'timeout' })
  unit.command('try-restart', 7)
  t.equal(unit.state, 'failed')
})

t.test('a stop cancels a restart, and a start cancels a stop', async (t) => {
  const { unit } = machine()
  unit.command('start', 0)
  unit.command('restart', 1)
  unit.command('stop', 2)
  unit.exited('success', 3)
  t.equal(unit.state, 'inactive')
  unit.command('start', 4)
  unit.command('stop', 5)
  unit.command('start', 6)
  unit.exited('success', 7)
  t.equal(unit.state, 'running')
})

t.test('the start limit', async (t) => {
  const { unit, spawned } = machine({ startLimit: { burst: 2, intervalUs: 1000 } })
  unit.command('start', 0)
  unit.exited('exit-code', 1)
  unit.onTimer(11)
  unit.exited('exit-code', 12)
  unit.onTimer(22)
  t.match(unit, { state: 'failed', result: 'exit-code', nRestarts: 1 }, 'the result is that of the last exit')
  t.match(unit.command('start', 23), 'too often')
  t.match(unit, { state: 'failed', result: 'start-limit-hit' })
  unit.command('reset-failed', 24)
  t.match(unit, { state: 'inactive', result: 'success', nRestarts: 0 })
  t.equal(unit.command('start', 25), undefined)
  t.equal(unit.state, 'running')
  t.equal(spawned(), 3)
  unit.exited('exit-code', 2000)
  unit.onTimer(2010)
  t.equal(unit.state, 'running', 'the interval is over')
})

t.test('a clean exit under Restart=on-failure leaves the unit inactive from that moment on', async (t) => {
  const { unit } = machine({ restart: 'on-failure' })
  unit.command('start', 100)
  unit.exited('success', 200)
  t.match(unit, { state: 'inactive', timerUs: undefined, downTimes: { activeExitUs: 200, inactiveEnterUs: 200, mainExitUs: 200 } })
  unit.command('start', 300)
  unit.exited('exit-code', 400)
  t.match(unit, { state: 'auto-restart' })
})

t.test('a stop ends the active time before the unit is inactive', async (t) => {
  const { unit } = machine()
  unit.command('start', 100)
  unit.command('stop', 200)
  unit.exited('success', 250)
  t.match(unit.downTimes, { activeExitUs: 200, inactiveEnterUs: 250, mainExitUs: 250 })
  unit.command('start', 300)
  unit.exited('signal', 400)
  unit.command('stop', 405)
  t.match(unit.downTimes, { activeExitUs: 400, inactiveEnterUs: 405, mainExitUs: 400 }, 'of a unit that waits for its restart')
})

t.test('a unit that it requires fails', async (t) => {
  let fails = false
  const looping = (keepsQueued: boolean) => {
    fails = false
    const { unit } = machine({ dependencyFails: () => fails, keepsQueued })
    unit.command('start', 100)
    unit.exited('signal', 200)
    fails = true
    unit.onTimer(210)
    return unit
  }
  const { unit } = machine({ dependencyFails: () => fails })
  unit.command('start', 100)
  fails = true
  t.equal(unit.command('try-restart', 200), undefined, 'the command does not tell')
  unit.exited('success', 250)
  t.match(unit, { state: 'inactive', invocationId: 'i1', nRestarts: 0, dependencyFailedUs: 250 })
  unit.command('start', 300)
  t.match(unit, { state: 'inactive', invocationId: 'i1', dependencyFailedUs: 300 })

  const left = looping(false)
  t.match(left, { state: 'inactive', invocationId: 'i1', nRestarts: 1, downTimes: { activeExitUs: 200, inactiveEnterUs: 210 } })
  const queued = looping(true)
  t.match(queued, { state: 'restart-queued', invocationId: 'i1', nRestarts: 1, timerUs: undefined })
  queued.command('stop', 220)
  t.match(queued, { state: 'inactive', downTimes: { inactiveEnterUs: 220 } })
  fails = false
  for (const unit of [left, queued, looping(true)]) {
    fails = false
    unit.command('restart', 300)
    t.match(unit, { state: 'running', invocationId: 'i2' })
  }
})

t.test('the process is executed after ExecStartPre=, and not where that fails', async (t) => {
  let fails = true
  const { unit, spawned } = machine({ startPre: () => ({ takesUs: 5, fails }) })
  unit.command('start', 100)
  t.match(unit, { state: 'start-pre', startedAtUs: 0, nRestarts: 0, timerUs: 105 })
  unit.onTimer(105)
  t.match(unit, { state: 'auto-restart', result: 'exit-code', startedAtUs: 0, nRestarts: 0, timerUs: 115 })
  unit.onTimer(115)
  t.match(unit, { state: 'start-pre', startedAtUs: 0, nRestarts: 1 })
  fails = false
  unit.command('try-restart', 116)
  t.equal(unit.timerUs, 120, 'it is not active yet')
  unit.command('restart', 117)
  t.match(unit, { state: 'start-pre', nRestarts: 0, timerUs: 122 })
  t.equal(spawned(), 0)
  unit.onTimer(122)
  t.match(unit, { state: 'running', result: 'success', startedAtUs: 122, timerUs: undefined })
  t.equal(spawned(), 1)
  unit.exited('signal', 200)
  unit.onTimer(210)
  t.match(unit, { state: 'start-pre', startedAtUs: 0 }, 'the time of the process before is gone')
  unit.command('stop', 211)
  t.match(unit, { state: 'inactive', timerUs: undefined })
})
