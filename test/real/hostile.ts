// SPDX-License-Identifier: Apache-2.0
/**
 * ConfigMaps by somebody who means harm, or is careless: whatever the API server lets through must
 * cost neither kubelet nor the agent.
 */
import { strict as assert } from 'node:assert'
import { existsSync, readdirSync } from 'node:fs'
import { promoteGood } from './assign.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { scenario } from './lab/runner.ts'
import { withMachine } from './machine.ts'
import { LOAD_ERROR } from './texts.ts'

/** The API server takes 1 MiB of data. */
const NEARLY_ALL = 1_000_000

export function addHostileScenarios(plane: ControlPlane, program: string): void {
  scenario('hostile: odd keys, binaryData, and as large as may be', (step) =>
    withMachine(plane, program, { name: 'odd' }, async (machine, admin) => {
      machine.agent.start()
      const keys = ['-rf', '.hidden', '__proto__', 'a..b', 'constructor', 'kubelet', 'x'.repeat(253)]
      await step('create and assign it', async () => {
        const data = Object.fromEntries(keys.map((key) => [key, machine.config('maxPods: 51')]))
        const used = Object.values(data).join('').length
        await admin.create({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { namespace: 'kube-system', name: admin.nameOf('odd') },
          data: { ...data, large: 'x'.repeat(NEARLY_ALL - used) },
          binaryData: { blob: Buffer.from([0, 255, 0]).toString('base64') },
        })
        await admin.assign('odd', '__proto__')
      })
      const source = await admin.source('odd', '__proto__')
      await step('it runs, under a key that is no ordinary name', async () => {
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
        await machine.untilRuns(51)
      })
      await step('every key of data is a file, and nothing else is', () => {
        const files = readdirSync(machine.path('checkpoints', source.uid, source.resourceVersion))
        assert.deepEqual(files.sort(), [...keys, 'large'].sort())
        assert.equal(machine.read('checkpoints', source.uid, source.resourceVersion, 'large')?.match(/^x+$/) !== null, true)
        assert.equal(existsSync(machine.path('checkpoints', source.uid, source.resourceVersion, 'blob')), false)
      })
    }),
  )

  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
  for (const [name, what, text] of [
    ['aliases', 'aliases that multiply', `${head}${manyAliases()}`],
    ['deep-yaml', 'YAML a hundred thousand levels deep', `${head}a: ${'['.repeat(100_000)}`],
    ['deep-json', 'JSON a hundred thousand levels deep', `{"kind":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['escapes', 'a terminal sequence', `${head.replace('KubeletConfiguration', '"\\e]0;owned\\a\\n<3>forged"')}`],
  ] as const) {
    scenario(`hostile: ${what}`, (step) =>
      withMachine(plane, program, { name }, async (machine, admin) => {
        machine.agent.start()
        const good = await step('a good one is promoted', () => promoteGood(machine, admin))
        const bad = await step('assign it', async () => {
          await admin.create({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { namespace: 'kube-system', name: admin.nameOf('bad') },
            data: { kubelet: text },
          })
          await admin.assign('bad')
          return admin.source('bad')
        })
        await step('it is refused, and last-known-good runs on', async () => {
          await admin.untilStatus({ assigned: bad, active: good, lastKnownGood: good, error: LOAD_ERROR })
          assert.equal(machine.restarts(), 1)
          assert.equal(machine.agent.ended(), undefined)
        })
        await step('what is said of it is short and plain', async () => {
          const said = machine.agent.log().filter(({ level }) => level === 'error')
          assert(said.length > 0 && said.every((line) => JSON.stringify(line).length < 2_000))
          const printed = (await machine.agent.command('status')).stdout + (await machine.agent.command('history')).stdout
          assert.doesNotMatch(printed, /[^\P{Cc}\n]|^<3>/mu)
        })
        await step('a good one again heals it', async () => {
          await admin.assign('good')
          await eventually(async () => (await admin.status()) && !('error' in ((await admin.status()) as object)), {
            what: 'no error is left',
          })
        })
      }),
    )
  }
}

function manyAliases(): string {
  const levels = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let level = 1; level < 10; level += 1)
    levels.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`)
  return `${levels.join('\n')}\n`
}
