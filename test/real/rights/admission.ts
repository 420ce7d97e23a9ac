// SPDX-License-Identifier: Apache-2.0
/**
 * The policies of deploy/admission on a real kube-apiserver that knows policies: a table of
 * requests, by whom, and what becomes of each. All of them pass RBAC, which is shown first, without
 * the policies: so what is refused then is refused by the policy that is named.
 */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withMachine } from '../machine.ts'
import { withModernPlane } from '../modern-plane.ts'
import { ask } from './ask.ts'
import { accountCases, type Tokens } from './cases/account.ts'
import { ACCOUNT, annotate, type Case, CHANNELS, CONFIGS, carrier, edit } from './cases/case.ts'
import { channelCases } from './cases/channels.ts'
import { prepare } from './cases/cluster.ts'
import { configCases } from './cases/configs.ts'
import { DEPLOY } from './manifests.ts'
import { useAccount } from './tokens.ts'

const FILES = ['channels', 'configs', 'serviceaccount', 'editor'].map((name) => join(DEPLOY, `admission/${name}.yaml`))

export function addAdmissionScenarios(program: string): void {
  scenario(
    'rights: the policies of deploy/admission',
    (step) =>
      withModernPlane(step, async (plane) => {
        const tokens = await step('nodes, people, and tokens that name a node', () => prepare(plane))
        const cases = [...channelCases(), ...configCases(), ...accountCases(tokens)]
        await step(`RBAC lets all ${cases.length} requests pass`, async () => {
          const wrong: string[] = []
          for (const { what, who, asks } of cases) {
            const { status, message } = await ask(plane, who, asks)
            if (status >= 400) wrong.push(`${what}: ${status} ${message}`)
          }
          assert.deepEqual(wrong, [])
        })
        await step('the policies are in force', () => enforce(plane, tokens))
        await playCases(step, plane, cases)
        await step('an agent reports under them, with a token that names its node', () => playAgent(plane, program))
      }),
    // Where it is run alone for the first time, it builds that server.
    { timeoutMs: 40 * 60_000 },
  )
}

async function playAgent(plane: ControlPlane, program: string): Promise<void> {
  const name = 'held'
  const account = await useAccount(plane, 'kubelet-cfg-agent', name)
  const settings = { nodeName: name, defaultConfigMap: 'kube-system/node-config' }
  await withMachine(plane, program, { name, kubeconfig: account.kubeconfig, settings }, async (machine, admin) => {
    const { metadata } = JSON.parse(await admin.kubectl('get', 'node', name, '-o', 'json'))
    await account.renew({ kind: 'Node', name, uid: metadata.uid })
    const data = { kubelet: machine.config('maxPods: 51') }
    await admin.kubectl('-n', 'kube-system', 'patch', 'configmap', 'node-config', '-p', JSON.stringify({ data }))
    machine.agent.start()
    await machine.untilRuns(51)
    await admin.untilCondition({ status: 'True', reason: 'Promoted' })
    await admin.untilAnnotation('what is active', ({ active }) => active.configMap.name === 'node-config')
    await eventually(async () => (await admin.events()).length > 0, { what: 'events are there' })
    assert(!machine.agent.says(/ValidatingAdmissionPolicy|could not be (updated|sent)/))
  })
}

async function playCases(step: Step, plane: ControlPlane, cases: readonly Case[]): Promise<void> {
  const said: string[] = []
  for (const policy of [CHANNELS, CONFIGS, ACCOUNT, undefined]) {
    const those = cases.filter(({ refusedBy }) => refusedBy === policy)
    await step(`${policy ?? 'nobody'} refuses ${those.length} of them`, async () => {
      const wrong: string[] = []
      for (const { what, who, asks } of those) {
        const { status, message } = await ask(plane, who, asks)
        said.push(message)
        const isRefused =
          status === 403 && message.includes(`ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request`)
        if (policy === undefined ? status >= 400 : !isRefused) wrong.push(`${what}: ${status} ${message}`)
      }
      assert.deepEqual(wrong, [])
    })
  }
  await step('each rule of the policies has refused something', () => {
    const rules = FILES.flatMap((file) =>
      parseAllDocuments(readFileSync(file, 'utf8')).flatMap((document) => document.toJS().spec?.validations ?? []),
    )
    assert(rules.length > 0)
    for (const { message } of rules)
      assert(
        said.some((text) => text.includes(message)),
        message,
      )
  })
}

async function enforce(plane: ControlPlane, { ofNobody }: Tokens): Promise<void> {
  for (const file of FILES) await plane.kubectl(['apply', '-f', file])
  const paused = annotate('n1', { 'kubelet-cfg-agent.io/paused': 'true' })
  const samples = [
    [CHANNELS, carrier, paused],
    [CONFIGS, carrier, edit('kube-system', 'node-config')],
    [ACCOUNT, { kind: 'token', token: ofNobody }, annotate('n1', { 'kubelet-cfg-agent.io/status': '{}' })],
  ] as const
  for (const [policy, who, asks] of samples)
    await eventually(async () => (await ask(plane, who, asks)).message.includes(policy), { what: `${policy} is in force` })
}
