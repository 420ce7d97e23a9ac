// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeletFacts } from '../../src/systemd/wiring.ts'
import { envWiring } from '../../src/systemd/wiring-kinds.ts'
import { FakeUnit, type KubeletBehaviour } from './fake-unit.ts'
import { unitContract } from './unit-contract.ts'

const LOCAL = '/var/lib/kubelet/config.yaml'
const FACTS: KubeletFacts = {
  wiring: envWiring('/var/lib/kubelet-cfg-agent/kubelet.env', `--config=${LOCAL}`),
  localConfigPath: LOCAL,
  runtimeEndpoint: undefined,
  healthzFlags: {},
  kubeletIdentity: 'k1',
  command: { path: '/usr/bin/kubelet', words: [`--config=${LOCAL}`] },
}

function world({ startLimit = false, onCommand = (_: string, __: 'before' | 'after') => {} } = {}) {
  let configPath = LOCAL
  let behaviour: KubeletBehaviour = { healthyAfterUs: 2e6 }
  let nowUs = 1e6
  const unit = new FakeUnit(
    {
      startWith: () => configPath,
      behave: () => behaviour,
      facts: () => FACTS,
      dynamicConfigDir: '/c',
      onCommand,
      ...(startLimit ? { startLimit: { burst: 3, intervalUs: 600e6 } } : {}),
    },
    nowUs,
  )
  return {
    unit,
    operator: {
      start: () => unit.start(),
      stop: () => unit.stop(),
      restart: () => unit.restartByHand(),
      kill: () => unit.kill(),
      shutDown: () => unit.shutDown(),
    },
    activate(source: 'checkpoint' | 'local') {
      configPath = source === 'local' ? LOCAL : '/c/checkpoints/u/7/kubelet'
    },
    behave(how: 'well' | 'crash') {
      behaviour = how === 'well' ? { healthyAfterUs: 2e6 } : { exitsAfterUs: 1e6 }
    },
    fallSick() {
      behaviour = { healthyAfterUs: 2e6, unhealthyAfterUs: 5e6 }
    },
    advance(us: number) {
      nowUs += us
      unit.advanceTo(nowUs)
    },
    async until(what: string, isSo: (known: Extract<Awaited<ReturnType<FakeUnit['observe']>>, { kind: 'known' }>) => boolean) {
      for (let i = 0; i < 10_000; i++) {
        const state = await unit.observe()
        if (state.kind === 'known' && isSo(state)) return state
        nowUs += 20e3
        unit.advanceTo(nowUs)
      }
      throw new Error(`timed out waiting until ${what}`)
    },
  }
}

unitContract(t, async (_, options) => world(options))

t.test('health follows the configured behaviour', async (t) => {
  const { unit, advance, fallSick, operator } = world()
  t.equal(unit.healthy, false)
  advance(2e6)
  t.equal(unit.healthy, true)
  fallSick()
  operator.restart()
  advance(3e6)
  t.equal(unit.healthy, true)
  advance(3e6)
  t.equal(unit.healthy, false)
  operator.stop()
  advance(1e6)
  t.equal(unit.healthy, false)
})

t.test('a reboot resets the state', async (t) => {
  const { unit, operator, advance } = world()
  operator.shutDown()
  advance(1e6)
  unit.boot(5e6)
  t.match(await unit.observe(), { activity: 'running', nRestarts: 0, startedAtUs: 5e6 })
})

t.test('an agent that crashes between the two commands leaves a failed unit inactive', async (t) => {
  const crashing = world({
    startLimit: true,
    onCommand: (verb, phase) => {
      if (verb === 'start' && phase === 'before') throw new Error('crash')
    },
  })
  crashing.behave('crash')
  crashing.operator.restart()
  await crashing.until('systemd gives up', ({ activity }) => activity === 'failed')
  await t.rejects(crashing.unit.restart('failed'))
  t.match(await crashing.unit.observe(), { activity: 'stopped' })
})
