// SPDX-License-Identifier: Apache-2.0
/**
 * An agent that is a ServiceAccount: what the files of deploy/rbac grant it suffices, nothing in
 * them is more than needed, and its token is renewed under it.
 */
import { strict as assert } from 'node:assert'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { CommandError } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { type Machine, withMachine } from '../machine.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { playBaseLosses } from './bases.ts'
import { asAccount, configOf, type Loss, MAX_PODS, NAMED_CONFIG_MAP, playLosses, type Stage } from './losses.ts'
import { DEPLOY } from './manifests.ts'
import { NAMESPACE, type TokenBinding, useAccount } from './tokens.ts'

const ACCOUNT = 'kubelet-cfg-agent'
const FILES = ['rbac/serviceaccount.yaml', 'rbac/status.yaml', 'rbac/status-annotation.yaml', 'rbac/drain.yaml', 'rbac/evidence.yaml']

const READS: Readonly<Record<string, Loss>> = {
  'nodes get': {
    lost: 'nothing is known of the Node',
    async shows(machine) {
      await machine.agent.untilSays(/nodes\/\S+ cannot be followed: .*forbidden/)
      assert.equal(machine.restarts(), 0)
    },
  },
  'nodes watch': {
    lost: 'an assignment is not heard of at once',
    async shows(machine) {
      await machine.untilRuns(MAX_PODS)
      await machine.agent.untilSays(/^watching \/api\/v1\/nodes\/\S+ is forbidden: reading it every minute instead$/)
    },
  },
  ...NAMED_CONFIG_MAP,
}

const WRITES: Readonly<Record<string, Loss>> = {
  'nodes/status patch': {
    lost: 'no condition on the Node',
    async shows(machine, admin) {
      await machine.agent.untilSays(/^condition KubeletConfigReady could not be updated/)
      await machine.agent.untilSays(/^Node\.Status\.Config could not be updated/)
      await machine.untilRuns(MAX_PODS)
      assert.equal(await admin.condition(), undefined)
    },
  },
  'events create': {
    lost: 'no events',
    async shows(machine, admin) {
      await machine.untilRuns(MAX_PODS)
      await machine.agent.untilSays(/^an event could not be sent/)
      assert.deepEqual(await admin.events(), [])
    },
  },
}

const ANNOTATES: Readonly<Record<string, Loss>> = {
  'nodes patch': {
    lost: 'no annotation on the Node',
    async shows(machine, admin) {
      await machine.agent.untilSays(/^annotation kubelet-cfg-agent\.io\/status could not be updated/)
      await machine.untilRuns(MAX_PODS)
      assert.equal(await admin.statusText(), undefined)
    },
  },
}

const LEARNS: Readonly<Record<string, Loss>> = {
  'leases get': {
    lost: 'whether kubelet renews its Lease is not known',
    shows: (machine) => machine.agent.untilSays(/^cannot read the evidence, so it counts as unknown: lease$/),
  },
  'pods list': {
    lost: 'whether pods were lost is not known',
    shows: (machine) => machine.agent.untilSays(/^cannot read the evidence, so it counts as unknown: pods$/),
  },
}

export function addServiceAccountScenarios(program: string): void {
  scenario('rights: serviceaccount.yaml, status.yaml and status-annotation.yaml', (step) =>
    withModernPlane(step, async (plane) => {
      const stage = { ...asAccount(plane, program), settings: {}, prepare: assignByLabel }
      await playLosses(step, stage, 'rbac/serviceaccount.yaml', READS)
      await playBaseLosses(step, asAccount(plane, program), 'rbac/serviceaccount.yaml')
      await playLosses(step, stage, 'rbac/status.yaml', WRITES, FILES.slice(0, 1))
      // Beside status.yaml it is not needed.
      await playLosses(step, stage, 'rbac/status-annotation.yaml', ANNOTATES, FILES.slice(0, 1))
      await playLosses(step, stage, 'rbac/evidence.yaml', LEARNS, FILES.slice(0, 1))
    }),
  )
  scenario('rights: drain.yaml, all files as they are, and a token that is renewed', (step) =>
    withModernPlane(step, async (plane) => {
      for (const file of FILES) await plane.kubectl(['apply', '-f', join(DEPLOY, file)])
      const prepare = async (machine: Machine, admin: Administrator) => {
        await admin.kubectl('cordon', machine.name)
        await assignByLabel(machine, admin)
      }
      const drain: Readonly<Record<string, Loss>> = {
        'pods list': {
          lost: 'what requires a drained node waits for ever',
          async shows(machine) {
            await machine.agent.untilSays(/^drain: .* waits until the node is drained: .*; whether it is drained is not known$/)
            await step('the files as they are: drained, read, reported, and another token', () => playWhole(plane, program))
            assert.equal(machine.restarts(), 0)
          },
        },
      }
      const stage = { ...asAccount(plane, program), settings: { requireDrain: 'maxPods' }, prepare }
      await playLosses(step, stage, 'rbac/drain.yaml', drain, FILES.slice(0, 1))
    }),
  )
}

async function playWhole(plane: ControlPlane, program: string): Promise<void> {
  const name = 'whole'
  const first = await makeSecret(plane, 'first')
  const account = await useAccount(plane, ACCOUNT, name, first)
  const options = { name, kubeconfig: account.kubeconfig, settings: { nodeName: name, requireDrain: 'maxPods' } }
  await withMachine(plane, program, options, async (machine, admin) => {
    await put(plane, machine, 'node-config', 51)
    await put(plane, machine, 'kubelet-config', 52)
    await admin.kubectl('cordon', name)
    await admin.kubectl('label', 'node', name, `${CONFIG_LABEL}=node-config`)
    machine.agent.start()
    await machine.untilRuns(51)
    await eventually(async () => (await admin.events()).length > 0, { what: 'events of the agent are there' })
    await machine.agent.untilSays(/^the API server drops Node\.Status\.Config/)
    await admin.untilCondition({ status: 'True' })
    await admin.untilAnnotation('the channel', ({ channel }) => channel === 'label')
    const token = await readFile(account.tokenFile, 'utf8')
    await account.renew(await makeSecret(plane, 'second'))
    await endToken(plane, 'first', token)
    await admin.kubectl('label', '--overwrite', 'node', name, `${CONFIG_LABEL}=kubelet-config`)
    await machine.untilRuns(52)
    assert(!machine.agent.says(/401|Unauthorized|could not be (updated|sent)/))
  })
}

/** A token that is bound to a Secret ends with it. */
async function makeSecret(plane: ControlPlane, name: string): Promise<TokenBinding> {
  const made = await plane.kubectl(['-n', NAMESPACE, 'create', 'secret', 'generic', name, '-o', 'json'])
  return { kind: 'Secret', name, uid: JSON.parse(made).metadata.uid }
}

/** Until the API server takes it no more: it remembers for some seconds that it did. */
async function endToken(plane: ControlPlane, secret: string, token: string): Promise<void> {
  await plane.kubectl(['-n', NAMESPACE, 'delete', 'secret', secret])
  const ask = ['--token', token.trim(), '--server', plane.server, '--certificate-authority', plane.caFile, 'get', 'nodes', 'whole']
  const isRefused = () =>
    plane.kubectl(ask, { kubeconfig: '/dev/null' }).then(
      () => false,
      (error: unknown) => error instanceof CommandError && /Unauthorized|must be logged in/.test(error.stderr),
    )
  await eventually(isRefused, { what: 'the first token has ended', timeoutMs: 60_000 })
}

const assignByLabel: Stage['prepare'] = async (machine, admin) => {
  const name = configOf(machine.name)
  await admin.kubectl('-n', NAMESPACE, 'create', 'configmap', name, `--from-literal=kubelet=${machine.config(`maxPods: ${MAX_PODS}`)}`)
  await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}=${name}`)
}

async function put(plane: ControlPlane, machine: Machine, name: string, maxPods: number): Promise<void> {
  const literal = `--from-literal=kubelet=${machine.config(`maxPods: ${maxPods}`)}`
  await plane.kubectl(['-n', NAMESPACE, 'create', 'configmap', name, literal])
}
