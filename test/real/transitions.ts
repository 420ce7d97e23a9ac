// SPDX-License-Identifier: Apache-2.0
/**
 * The transition table of Dynamic Kubelet Configuration, row by row: what a user sees in
 * `status.config` is what kubelet 1.20 showed, word for word, and where this agent differs on
 * purpose (it judges before a restart, and restarts for a change of content alone) the row says so.
 * The rows run with `whenRefused: last-known-good`, which is what kubelet did. One scenario shows
 * the default, `stay`.
 */
import { strict as assert } from 'node:assert'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { Administrator } from './administrator.ts'
import { assignGood, assignNew, promoteGood } from './assign.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { CommandError } from './lab/processes.ts'
import { type Step, scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { apiPath, assignedBytes, eventName, labels } from './records.ts'
import { DOWNLOAD_ERROR, INTERNAL_ERROR, LOAD_ERROR, VALIDATE_ERROR } from './texts.ts'

type Play = (step: Step, machine: Machine, admin: Administrator) => Promise<void>

const SHORT = '1s'
/** Never over while a test looks. */
const LONG = '1h'

export function addTransitionScenarios(plane: ControlPlane, program: string): void {
  let count = 0
  /** Each row has a machine of its own, at first on its local config with a running agent. */
  const row = (name: string, trialDuration: string, play: Play): void => {
    count += 1
    const options = { name: `row-${count}`, settings: { trialDuration, whenRefused: 'last-known-good' } }
    scenario(`transition: ${name}`, (step) =>
      withMachine(plane, program, options, async (machine, admin) => {
        await step('the agent says that the node is on its local config', async () => {
          machine.agent.start()
          await admin.untilStatus({})
        })
        await play(step, machine, admin)
      }),
    )
  }

  row('local, assign a good ConfigMap', LONG, async (step, machine, admin) => {
    const text = machine.config('maxPods: 51')
    const good = await step('assign', async () => {
      const source = await admin.createConfigMap('good', { kubelet: text, 'extra.conf': 'a file beside it' })
      await admin.assign('good')
      return source
    })
    await step('it is active', () => admin.untilStatus({ assigned: good, active: good }))
    await step('kubelet was restarted once, and runs it', async () => {
      assert.equal(machine.restarts(), 1)
      await machine.untilRuns(51)
    })
    await step('checkpoint and records are byte for byte those of kubelet', () => {
      const checkpoint = ['checkpoints', good.uid, good.resourceVersion]
      assert.equal(machine.read(...checkpoint, 'kubelet'), text)
      assert.equal(machine.read(...checkpoint, 'extra.conf'), 'a file beside it')
      assert.deepEqual(readdirSync(machine.path(...checkpoint)), ['extra.conf', 'kubelet'])
      assert.equal(machine.read('meta', 'assigned'), assignedBytes(good))
      assert.equal(statSync(machine.path('meta', 'assigned')).mode & 0o777, 0o600)
      assert.equal(machine.read('meta', 'last-known-good') ?? '', '')
    })
    await step('the event', async () => {
      const [event] = await admin.untilEvents(`KubeletConfigChanged: Kubelet restarting to use ${labels(good)}`)
      const restarting = machine.history().find(({ kind }) => kind === 'restarting')
      assert(event !== undefined && restarting !== undefined, 'no event of a restart')
      const { name } = machine
      assert.equal(event.metadata.name, eventName(name, restarting))
      assert.equal(event.type, 'Normal')
      assert.equal(event.count, 1)
      assert.deepEqual(event.involvedObject, { kind: 'Node', name, uid: name })
      assert.deepEqual(event.source, { component: 'kubelet-cfg-agent', host: name })
    })
    await step('the gauges', async () => {
      const { kubeletConfigKey, resourceVersion, uid } = good
      const version = `node_config_uid="${uid}",node_config_resource_version="${resourceVersion}",node_config_kubelet_key="${kubeletConfigKey}"`
      for (const gauge of ['assigned', 'active'])
        assert.deepEqual(await machine.metric(`kubelet_node_config_${gauge}{`), [
          `kubelet_node_config_${gauge}{node_config_source="${apiPath(good)}",${version}} 1`,
        ])
      assert.deepEqual(await machine.metric('kubelet_node_config_error '), ['kubelet_node_config_error 0'])
    })
  })

  row('the trial is over', SHORT, async (step, machine, admin) => {
    const good = await step('assign a good one', () => assignGood(machine, admin))
    const pid = machine.kubelet.pid
    await step('it is promoted', () => admin.untilStatus({ assigned: good, active: good, lastKnownGood: good }))
    await step('without a restart', () => {
      assert.equal(machine.restarts(), 1)
      assert.equal(machine.kubelet.pid, pid)
    })
    await step('the record, and the event', async () => {
      assert.equal(machine.read('meta', 'last-known-good'), assignedBytes(good))
      const promoted = `KubeletConfigPromoted: Kubelet config promoted to last-known-good: ${labels(good)}`
      await admin.untilEvents(`KubeletConfigChanged: Kubelet restarting to use ${labels(good)}`, promoted)
    })
  })

  for (const { what, text, error, detail } of [
    {
      what: 'does not parse',
      text: () => '{0xdeadbeef}',
      error: LOAD_ERROR,
      detail: 'line 1, column 2: starts with { but is not valid JSON',
    },
    {
      what: 'parses and fails validation',
      text: (machine: Machine) => machine.config('kubeAPIQPS: -1'),
      error: VALIDATE_ERROR,
      detail: 'line 4, column 1: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number',
    },
  ]) {
    row(`from local, the config ${what}`, SHORT, async (step, machine, admin) => {
      const bad = await step('assign', () => assignNew(admin, 'bad', text(machine)))
      await step('it is assigned and not active', () => admin.untilStatus({ assigned: bad, error }))
      await step('it is on disk, and no kubelet was restarted for it', () => {
        assert.equal(machine.read('checkpoints', bad.uid, bad.resourceVersion, 'kubelet'), text(machine))
        assert.equal(machine.read('meta', 'assigned'), assignedBytes(bad))
        assert.equal(machine.restarts(), 0)
      })
      await step('the event says why', async () => {
        const [event] = await admin.untilEvents(`KubeletConfigRejected: Kubelet config refused before a restart: ${labels(bad)}: ${detail}`)
        assert.equal(event?.type, 'Warning')
        assert.deepEqual(await machine.metric('kubelet_node_config_error '), ['kubelet_node_config_error 1'])
      })
    })

    row(`with a last-known-good, the config ${what}`, SHORT, async (step, machine, admin) => {
      const good = await step('promote a good one', () => promoteGood(machine, admin))
      const bad = await step('assign a bad one', () => assignNew(admin, 'bad', text(machine)))
      await step('last-known-good stays active', () => admin.untilStatus({ assigned: bad, active: good, lastKnownGood: good, error }))
      await step('without a restart', () => assert.equal(machine.restarts(), 1))
      await step('a good one again heals it', async () => {
        await admin.assign('good')
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
        assert.equal(machine.restarts(), 1)
      })
    })
  }

  row('on trial, a bad one sends the node back to local', LONG, async (step, machine, admin) => {
    await step('assign a good one', () => assignGood(machine, admin))
    const bad = await step('assign a bad one before it is promoted', () => assignNew(admin, 'bad', '{0xdeadbeef}'))
    await step('back on local', () => admin.untilStatus({ assigned: bad, error: LOAD_ERROR }))
    await step('kubelet was restarted for it', async () => {
      assert.equal(machine.restarts(), 2)
      assert.equal(machine.read('kubelet.env'), undefined)
    })
  })

  addStayingScenario(plane, program)

  row('an unknown field in the config', SHORT, async (step, machine, admin) => {
    const odd = await step('assign', () => assignNew(admin, 'odd', machine.config('noSuchField: 1', 'maxPods: 52')))
    await step('it is accepted', () => admin.untilStatus({ assigned: odd, active: odd, lastKnownGood: odd }))
    await step('with one log line', () => {
      assert.equal(machine.restarts(), 1)
      assert.equal(machine.agent.timesSaid(/unknown field noSuchField: kubelet ignores it$/), 1)
    })
  })

  row('kubeletConfigKey names a key that the ConfigMap lacks', SHORT, async (step, machine, admin) => {
    const source = await step('assign', async () => {
      await admin.createConfigMap('other-key', machine.config())
      await admin.assign('other-key', 'nope')
      return admin.source('other-key', 'nope')
    })
    await step('it is assigned and cannot be loaded', () => admin.untilStatus({ assigned: source, error: LOAD_ERROR }))
    await step('without a restart', () => assert.equal(machine.restarts(), 0))
    await step('the right key heals it', async () => {
      await admin.assign('other-key')
      const right = await admin.source('other-key')
      await admin.untilStatus({ assigned: right, active: right, lastKnownGood: right })
    })
  })

  row('the ConfigMap does not exist', SHORT, async (step, machine, admin) => {
    const good = await step('assign a good one', () => assignGood(machine, admin))
    const pid = machine.kubelet.pid
    await step('assign one that is not there: nothing changes', async () => {
      await admin.assign('absent')
      await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good, error: DOWNLOAD_ERROR })
      assert.equal(machine.restarts(), 1)
      assert.equal(machine.kubelet.pid, pid)
    })
    await step('once it exists, it is used', async () => {
      const late = await admin.createConfigMap('absent', machine.config('maxPods: 53'))
      await admin.untilStatus({ assigned: late, active: late, lastKnownGood: late })
    })
  })

  row('configSource is removed', SHORT, async (step, machine, admin) => {
    const good = await step('promote a good one', () => promoteGood(machine, admin))
    await step('remove it', async () => {
      await admin.unassign()
      await admin.untilStatus({})
    })
    await step('assigned and last-known-good are local, and kubelet was restarted', async () => {
      assert.equal(machine.read('meta', 'assigned'), '')
      assert.equal(machine.read('meta', 'last-known-good'), '')
      assert.equal(machine.read('kubelet.env'), undefined)
      assert.equal(machine.restarts(), 2)
      await machine.untilRuns(undefined)
    })
    await step('the events', () =>
      admin.untilEvents(
        `KubeletConfigChanged: Kubelet restarting to use ${labels(good)}`,
        `KubeletConfigPromoted: Kubelet config promoted to last-known-good: ${labels(good)}`,
        'KubeletConfigChanged: Kubelet restarting to use local config',
      ),
    )
  })

  row('configSource without a known subfield', SHORT, async (step, machine, admin) => {
    const good = await step('assign a good one', () => assignGood(machine, admin))
    await step('this API server lets none of these through', async () => {
      // A merge with what is there would keep its configMap.
      for (const configSource of [{ configMap: null }, { configMap: null, secret: { name: 'a' } }]) {
        await assert.rejects(admin.patchSpec({ configSource }), (error) => {
          return error instanceof CommandError && /exactly one reference subfield must be non-nil/.test(error.stderr)
        })
      }
    })
    await step('and nothing has changed', async () => {
      await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      assert.equal(machine.restarts(), 1)
    })
  })

  row('trouble with the disk', SHORT, async (step, machine, admin) => {
    const good = await step('assign a good one', () => assignGood(machine, admin))
    const next = await step('a file is in the way of the next checkpoint', async () => {
      const source = await admin.createConfigMap('blocked', machine.config('maxPods: 54'))
      writeFileSync(machine.path('checkpoints', source.uid), 'in the way')
      await admin.assign('blocked')
      return source
    })
    await step('that is an internal failure, and nothing changes', async () => {
      await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good, error: INTERNAL_ERROR })
      assert.equal(machine.restarts(), 1)
    })
    await step('once it is gone, the agent goes on by itself', async () => {
      rmSync(machine.path('checkpoints', next.uid))
      await admin.untilStatus({ assigned: next, active: next, lastKnownGood: next })
    })
  })
}

/** The row "on trial, a bad one sends the node back to local", as it is by default. */
function addStayingScenario(plane: ControlPlane, program: string): void {
  scenario('transition: by default, what is on trial stays where a bad one is refused, and is promoted', (step) =>
    withMachine(plane, program, { name: 'row-stay', settings: { trialDuration: '20s' } }, async (machine, admin) => {
      machine.agent.start()
      await admin.untilStatus({})
      const good = await step('assign a good one', () => assignGood(machine, admin))
      const bad = await step('assign a bad one before it is promoted', () => assignNew(admin, 'bad', '{0xdeadbeef}'))
      await step('the good one stays active', () => admin.untilStatus({ assigned: bad, active: good, error: LOAD_ERROR }))
      await step('it is promoted at the end of its trial', () =>
        admin.untilStatus({ assigned: bad, active: good, lastKnownGood: good, error: LOAD_ERROR }),
      )
      await step('an empty ConfigMap changes nothing either', async () => {
        const empty = await assignNew(admin, 'empty', '')
        await admin.untilStatus({ assigned: empty, active: good, lastKnownGood: good, error: LOAD_ERROR })
      })
      await step('nothing was restarted', () => assert.equal(machine.restarts(), 1))
    }),
  )
}
