// SPDX-License-Identifier: Apache-2.0
/**
 * The loss without the right to one ConfigMap under a part, while the agent may read the part
 * itself: for each file of deploy/rbac that names ConfigMaps, whoever the agent is.
 */
import { strict as assert } from 'node:assert'
import { BASE_ANNOTATION } from '../../../src/decision/channels.ts'
import type { Administrator } from '../administrator.ts'
import { eventually } from '../lab/eventually.ts'
import type { Step } from '../lab/runner.ts'
import type { Machine } from '../machine.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { configOf, type Identities, type Loss, MAX_PODS, playOne } from './losses.ts'
import { forAlone, listRights, nameOf, readManifests, type Subject, withoutOn } from './manifests.ts'

const baseOf = (machine: string): string => `${machine}-base`

const LOSSES: Readonly<Record<string, Loss>> = {
  'configmaps get': {
    lost: 'the part is not merged, and the node stays as it is',
    async shows(machine) {
      await machine.agent.untilSays(
        /^the assigned config cannot be merged or computed; nothing is changed: ConfigMap \S+-base:kubelet cannot be read: 403: .*forbidden/,
      )
      const isShown = async () => /^Error .*-base:kubelet .*cannot be read/m.test((await machine.agent.command('status')).stdout)
      await eventually(isShown, { what: 'status shows it' })
      assert.equal(machine.restarts(), 0)
    },
  },
  'configmaps watch': {
    lost: 'an edit of the base is not heard of at once',
    async shows(machine) {
      await machine.untilRuns(MAX_PODS)
      await machine.agent.untilSays(/^watching .*-base is forbidden: reading it every minute instead$/)
      assert(!machine.agent.says(/^watching .*-config is forbidden/))
    },
  },
}

/** @param besides files that the agents have whole */
export async function playBaseLosses(step: Step, identities: Identities, file: string, besides: readonly string[] = []): Promise<void> {
  const manifests = readManifests(file)
  const stage = { ...identities, settings: {}, prepare: assignPart }
  const rights = listRights(manifests).filter(({ resource }) => resource === 'configmaps')
  assert.deepEqual(rights.map(nameOf).sort(), Object.keys(LOSSES).sort(), `${file}: these rights, and what is lost without each`)
  const whole = besides.flatMap((other) => readManifests(other))
  await Promise.all(
    rights.map(async (right, index) => {
      const loss = LOSSES[nameOf(right)]
      assert(loss !== undefined, 'nothing is lost')
      const name = `part-${index}-${file.replaceAll(/[^a-z]/g, '').slice(-8)}`
      const grant = (subject: Subject) => {
        const held = forAlone([...whole, ...manifests], subject, [configOf(name), baseOf(name)])
        const own = listRights(held).find((other) => other.role.startsWith(right.role) && nameOf(other) === nameOf(right))
        assert(own !== undefined, 'it has the right')
        return withoutOn(held, own, baseOf(name))
      }
      await step(`${file} without ${nameOf(right)} of the base of a part: ${loss.lost}`, () => playOne(stage, name, grant, loss))
    }),
  )
}

/** The fields of the part are not in the base, so that a kubelet that runs with it has both. */
async function assignPart(machine: Machine, admin: Administrator): Promise<void> {
  const namespace = 'kube-system'
  const name = configOf(machine.name)
  await admin.applyConfigMap({ name: baseOf(machine.name), namespace }, machine.config('maxPods: 41'))
  await admin.applyConfigMap(
    { name, namespace, annotations: { [BASE_ANNOTATION]: `${namespace}/${baseOf(machine.name)}` } },
    `maxPods: ${MAX_PODS}\n`,
  )
  await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}=${name}`)
}
