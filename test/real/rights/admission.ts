/**
 * The policies of deploy/admission on a real kube-apiserver that knows policies: a table of requests, by whom, and what becomes of each. All of them pass RBAC, which is
 * shown first, without the policies: so what is refused then is refused by the policy that is named.
 */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withMachine } from '../machine.ts'
import { type Asked, ask, type Who } from './ask.ts'
import { DEPLOY } from './manifests.ts'
import { withModernPlane } from './plane.ts'
import { type TokenBinding, useAccount } from './tokens.ts'

const LABEL = 'kubelet-cfg-agent.node-restriction.kubernetes.io/config'
const FLEET = 'kubelet-cfg-agent.io/fleet'
const [CHANNELS, CONFIGS, ACCOUNT] = ['kubelet-cfg-agent-channels', 'kubelet-cfg-agent-configs', 'kubelet-cfg-agent-serviceaccount']
const FILES = ['channels', 'configs', 'serviceaccount', 'editor'].map((name) => join(DEPLOY, `admission/${name}.yaml`))
/** Readable and writable by whoever has the rights of an operator, and those of an editor besides. */
const carrier: Who = { kind: 'user', name: 'carrier', groups: ['carriers', 'system:authenticated'] }
const editor: Who = { kind: 'user', name: 'editor', groups: ['carriers', 'editors', 'system:authenticated'] }
const node: Who = { kind: 'user', name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }
const janitor: Who = { kind: 'user', name: 'system:serviceaccount:kube-system:namespace-controller', groups: ['system:authenticated'] }

interface Case {
  readonly what: string
  readonly who: Who
  readonly asks: Asked
  /** undefined: nobody does. */
  readonly refusedBy: string | undefined
}

export function addAdmissionScenarios(program: string): void {
  scenario(
    'rights: the policies of deploy/admission',
    (step) =>
      withModernPlane(
        step,
        async (plane) => {
          const tokens = await step('nodes, people, and tokens that name a node', () => prepare(plane))
          const cases = [...channelCases(), ...configCases(), ...accountCases(tokens)]
          await step(`RBAC lets all ${cases.length} requests pass`, async () => {
            for (const { what, who, asks } of cases) assert.deepEqual(await ask(plane, who, asks).then(brief), [true, ''], what)
          })
          await step('the policies are in force', () => enforce(plane))
          await playCases(step, plane, cases)
          await step('an agent reports under them, with a token that names its node', () => playAgent(plane, program))
        },
        { release: 'new' },
      ),
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
    const probe = async () => {
      const { metadata, status } = JSON.parse(await admin.kubectl('get', 'node', name, '-o', 'json'))
      const { active } = JSON.parse(metadata.annotations['kubelet-cfg-agent.io/status'])
      const isReady = status.conditions.some(
        (each: { type: string; status: string }) => each.type === 'KubeletConfigReady' && each.status === 'True',
      )
      return active.configMap.name === 'node-config' && isReady && (await admin.events()).length > 0
    }
    await eventually(probe, { what: 'condition, annotation and events are there', timeoutMs: 60_000 })
    assert(!machine.agent.says(/ValidatingAdmissionPolicy|could not be (updated|sent)/))
  })
}

function brief({ status, message }: { readonly status: number; readonly message: string }): [boolean, string] {
  return [status < 400, message]
}

async function playCases(step: Step, plane: ControlPlane, cases: readonly Case[]): Promise<void> {
  const said: string[] = []
  for (const policy of [CHANNELS, CONFIGS, ACCOUNT, undefined]) {
    const those = cases.filter(({ refusedBy }) => refusedBy === policy)
    await step(`${policy ?? 'nobody'} refuses: ${those.map(({ what }) => what).join('; ')}`, async () => {
      for (const { what, who, asks } of those) {
        const { status, message } = await ask(plane, who, asks)
        if (policy === undefined) assert.equal(message, '', what)
        else {
          assert(
            message.includes(`ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request`),
            `${what}: ${status} ${message}`,
          )
          assert.equal(status, 403, what)
          said.push(message)
        }
      }
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

interface Tokens {
  readonly ofN1: string
  readonly ofNobody: string
}

async function prepare(plane: ControlPlane): Promise<Tokens> {
  for (const name of ['n1', 'n2']) await plane.createNode(name)
  await plane.kubectl(['annotate', 'node', 'n1', 'given=x'])
  await plane.kubectl(['create', 'namespace', 'node-configs'])
  for (const file of ['operator', 'serviceaccount', 'status', 'status-annotation'])
    await plane.kubectl(['apply', '-f', join(DEPLOY, `rbac/${file}.yaml`)])
  await plane.kubectl(['create', 'clusterrolebinding', 'carriers', '--clusterrole=kubelet-cfg-agent:operator', '--group=carriers'])
  // What the built-in role `edit` is made of, by a controller that does not run here. With all of the Nodes, to write their status too.
  await plane.kubectl(['create', 'clusterrolebinding', 'carriers-edit', '--clusterrole=system:aggregate-to-edit', '--group=carriers'])
  await plane.kubectl(['create', 'clusterrole', 'all-of-nodes', '--verb=*', '--resource=nodes,nodes/status'])
  await plane.kubectl(['create', 'clusterrolebinding', 'all-of-nodes', '--clusterrole=all-of-nodes', '--group=carriers'])
  await plane.kubectl(['apply', '--dry-run=server', '-f', join(DEPLOY, 'serviceaccount/token.yaml')])
  for (const [namespace, name, fleet] of [
    ['kube-system', 'node-config', false],
    ['kube-system', 'other', false],
    ['kube-system', 'member', true],
    ['node-configs', 'any', false],
    ['node-configs', 'kube-root-ca.crt', false],
  ] as const) {
    const metadata = { namespace, name, ...(fleet && { labels: { [FLEET]: 'true' } }) }
    await plane.kubectl(['create', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } }),
    })
  }
  for (const binding of ['assigner', 'editor'])
    await plane.kubectl([
      'create',
      'clusterrolebinding',
      `editors-${binding}`,
      `--clusterrole=kubelet-cfg-agent:${binding}`,
      '--group=editors',
    ])
  const { metadata } = JSON.parse(await plane.kubectl(['get', 'node', 'n1', '-o', 'json']))
  const read = async (holder: string, boundTo?: TokenBinding) =>
    (await readFile((await useAccount(plane, 'kubelet-cfg-agent', holder, boundTo)).tokenFile, 'utf8')).trim()
  return { ofN1: await read('n1', { kind: 'Node', name: 'n1', uid: metadata.uid }), ofNobody: await read('nobody') }
}

async function enforce(plane: ControlPlane): Promise<void> {
  for (const file of FILES) await plane.kubectl(['apply', '-f', file])
  const samples: readonly [string, Who, Asked][] = [
    [CHANNELS, carrier, annotate('n1', { 'kubelet-cfg-agent.io/paused': 'true' })],
    [CONFIGS, carrier, edit('kube-system', 'node-config')],
  ]
  for (const [policy, who, asks] of samples)
    await eventually(async () => (await ask(plane, who, asks)).message.includes(policy), { what: `${policy} is in force` })
}

const annotate = (name: string, annotations: object, subresource = ''): Asked => ({
  method: 'PATCH',
  path: `/api/v1/nodes/${name}${subresource}`,
  body: { metadata: { annotations } },
})
const label = (name: string, labels: object): Asked => ({ method: 'PATCH', path: `/api/v1/nodes/${name}`, body: { metadata: { labels } } })
const configMap = (namespace: string, name = ''): string => `/api/v1/namespaces/${namespace}/configmaps${name && `/${name}`}`
const edit = (namespace: string, name: string): Asked => ({ method: 'PATCH', path: configMap(namespace, name), body: { data: { a: 'c' } } })
const newNode = (metadata: object): Asked => ({
  method: 'POST',
  path: '/api/v1/nodes',
  body: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n3', ...metadata } },
})
const newConfigMap = (namespace: string, metadata: object): Asked => ({
  method: 'POST',
  path: configMap(namespace),
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} },
})

function channelCases(): Case[] {
  const source = { 'kubelet-cfg-agent.io/config-source': 'kube-system/node-config' }
  const refused = (what: string, who: Who, asks: Asked): Case => ({ what, who, asks, refusedBy: CHANNELS })
  const fine = (what: string, who: Who, asks: Asked): Case => ({ what, who, asks, refusedBy: undefined })
  const other = { ...node, name: 'system:node:n3' }
  return [
    refused('the label, by somebody who may patch nodes', carrier, label('n1', { [LABEL]: 'node-config' })),
    refused('the annotation, by the same', carrier, annotate('n1', source)),
    refused('by way of the status', carrier, annotate('n1', source, '/status')),
    refused('the annotation, by the node itself', node, annotate('n1', source)),
    refused('by the node, by way of its status', node, annotate('n1', source, '/status')),
    refused('a pause, by the node itself', node, annotate('n1', { 'kubelet-cfg-agent.io/paused': 'true' })),
    refused('a node that registers itself with the annotation', other, newNode({ annotations: source })),
    refused('a node that is made with the label', carrier, newNode({ labels: { [LABEL]: 'node-config' } })),
    fine('the label, by an editor', editor, label('n1', { [LABEL]: 'node-config' })),
    fine('the annotation, by an editor', editor, annotate('n1', source)),
    fine('a pause, by an editor', editor, annotate('n1', { 'kubelet-cfg-agent.io/paused': 'true' })),
    fine('another annotation, by the node', node, annotate('n1', { 'kubelet-cfg-agent.io/status': '{}' })),
    fine('another label', carrier, label('n1', { role: 'worker' })),
    fine('the first of all its annotations taken away', carrier, annotate('n1', { nothing: null })),
    fine('a node that registers itself', other, newNode({})),
    fine('a heartbeat', node, { method: 'PATCH', path: '/api/v1/nodes/n1/status', body: { status: { phase: 'Running' } } }),
  ]
}

function configCases(): Case[] {
  const unlabel = (value: string | null): object => ({ metadata: { labels: { [FLEET]: value } } })
  const refused = (what: string, who: Who, asks: Asked): Case => ({ what, who, asks, refusedBy: CONFIGS })
  const fine = (what: string, who: Who, asks: Asked): Case => ({ what, who, asks, refusedBy: undefined })
  return [
    refused('an edit of a named ConfigMap', carrier, edit('kube-system', 'node-config')),
    refused('its removal', carrier, { method: 'DELETE', path: configMap('kube-system', 'node-config') }),
    refused('a named one that is made', carrier, newConfigMap('kube-system', { name: 'kubelet-config' })),
    refused('an edit of a member of the fleet', carrier, edit('kube-system', 'member')),
    refused('its label taken away', carrier, { method: 'PATCH', path: configMap('kube-system', 'member'), body: unlabel(null) }),
    refused('one that becomes a member', carrier, { method: 'PATCH', path: configMap('kube-system', 'other'), body: unlabel('true') }),
    refused('any in the namespace of configs', carrier, edit('node-configs', 'any')),
    refused('one under a name that the server makes up', carrier, newConfigMap('node-configs', { generateName: 'some-' })),
    refused('all of the namespace at once', carrier, { method: 'DELETE', path: configMap('node-configs') }),
    fine('an edit by an editor', editor, edit('kube-system', 'node-config')),
    fine('a member made by an editor', editor, newConfigMap('node-configs', { name: 'new', labels: { [FLEET]: 'true' } })),
    fine('its removal by an editor', editor, { method: 'DELETE', path: configMap('node-configs', 'any') }),
    fine('the end of a namespace, by its controller', janitor, { method: 'DELETE', path: configMap('node-configs') }),
    fine('any other ConfigMap', carrier, edit('kube-system', 'other')),
    fine('the one that every namespace has', carrier, edit('node-configs', 'kube-root-ca.crt')),
  ]
}

function accountCases({ ofN1, ofNobody }: Tokens): Case[] {
  const agent: Who = { kind: 'token', token: ofN1 }
  const stranger: Who = { kind: 'token', token: ofNobody }
  const condition = { type: 'KubeletConfigReady', status: 'True', reason: 'Promoted', message: '' }
  const status = (name: string, body: object): Asked => ({ method: 'PATCH', path: `/api/v1/nodes/${name}/status`, body: { status: body } })
  const spec = { method: 'PATCH', path: '/api/v1/nodes/n1', body: { spec: { unschedulable: true } } } as const
  const said = { 'kubelet-cfg-agent.io/status': '{}' }
  const event = (name: string, component = 'kubelet-cfg-agent', kind = 'Node'): Asked => ({
    method: 'POST',
    path: '/api/v1/namespaces/default/events',
    body: {
      metadata: { name: `${name}.1`, namespace: 'default' },
      // An API server takes an event about what has a namespace in that namespace only.
      involvedObject: { kind, name, uid: name, ...(kind !== 'Node' && { namespace: 'default' }) },
      type: 'Normal',
      reason: 'KubeletConfigChanged',
      message: '',
      source: { component, host: name },
    },
  })
  const refused = (what: string, who: Who, asks: Asked): Case => ({ what, who, asks, refusedBy: ACCOUNT })
  const fine = (what: string, who: Who, asks: Asked): Case => ({ what, who, asks, refusedBy: undefined })
  return [
    refused('the status of another node', agent, status('n2', { conditions: [condition] })),
    refused('the annotation of another node', agent, annotate('n2', said)),
    refused('an event about another node', agent, event('n2')),
    refused('an event about a pod', agent, event('n1', 'kubelet-cfg-agent', 'Pod')),
    refused('an event of another component', agent, event('n1', 'kubelet')),
    refused('a cordon', agent, spec),
    refused('a label', agent, label('n1', { role: 'control-plane' })),
    refused('another annotation', agent, annotate('n1', { other: 'x' })),
    refused('an annotation that is taken away', agent, annotate('n1', { given: null })),
    refused('another condition', agent, status('n1', { conditions: [{ ...condition, type: 'Ready' }] })),
    refused('the rest of the status', agent, status('n1', { allocatable: { cpu: '1000' } })),
    refused('the status, with a token that names no node', stranger, status('n1', { conditions: [condition] })),
    refused('the annotation, with such a token', stranger, annotate('n1', said)),
    refused('an event, with such a token', stranger, event('n1')),
    fine('its condition', agent, status('n1', { conditions: [condition] })),
    fine('its annotation', agent, annotate('n1', said)),
    fine('its event', agent, event('n1')),
  ]
}
