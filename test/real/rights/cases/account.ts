// SPDX-License-Identifier: Apache-2.0
/**
 * Of serviceaccount.yaml, with each kind of token that names the node n1, and with one that names
 * none. `n1` has what kubelet and others write: `given` and OTHERS.
 */
import type { Asked, Who } from '../ask.ts'
import { NAMESPACE } from '../tokens.ts'
import { ACCOUNT, annotate, applyNode, type Case, fine, label, owner, patchNode, refused as refusedBy } from './case.ts'

export interface Tokens {
  /** Tokens that name n1, by what makes them do so. */
  readonly ofN1: Readonly<Record<string, string>>
  readonly ofNobody: string
}

/** The status that `n1` has. */
export const OTHERS = {
  conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }],
  allocatable: { cpu: '4' },
}

const refused = refusedBy.bind(undefined, ACCOUNT)
const CONDITION = { type: 'KubeletConfigReady', status: 'True', reason: 'Promoted', message: '' }
const CONDITIONS = [CONDITION, { ...CONDITION, type: 'KubeletConfigDegraded', status: 'False', reason: 'AsExpected' }]
const SAID = { 'kubelet-cfg-agent.io/status': '{}' }
const STATE = { 'kubelet-cfg-agent.io/state': 'Promoted' }
const status = (name: string, body: object, patch?: 'strategic'): Asked =>
  patchNode(name, { status: body }, { subresource: '/status', ...(patch && { patch }) })

export function accountCases({ ofN1, ofNobody }: Tokens): Case[] {
  const stranger: Who = { kind: 'token', token: ofNobody }
  return [
    ...Object.entries(ofN1).flatMap(([bound, token]) =>
      agentCases({ kind: 'token', token }).map((each) => ({ ...each, what: `${each.what} (${bound})` })),
    ),
    refused('the status, with a token that names no node', stranger, status('n1', { conditions: [CONDITION] }, 'strategic')),
    refused('the annotation, with such a token', stranger, annotate('n1', SAID)),
    refused('an event, with such a token', stranger, event('n1')),
    refused('an event of a rollout, with such a token', stranger, event('node-config', { ...ROLLOUT, host: undefined })),
  ]
}

function agentCases(agent: Who): Case[] {
  const [ready] = OTHERS.conditions
  return [
    refused('the status of another node', agent, status('n2', { conditions: [CONDITION] })),
    refused('the annotation of another node', agent, annotate('n2', SAID)),
    refused('an event about another node', agent, event('n2')),
    refused('an event about a pod', agent, event('n1', { kind: 'Pod' })),
    refused('an event of another component', agent, event('n1', { component: 'kubelet' })),
    refused('an event of a rollout, in the name of another node', agent, event('node-config', { ...ROLLOUT, host: 'n2' })),
    refused('an event of a rollout, in the name of no node', agent, event('node-config', { ...ROLLOUT, host: undefined })),
    refused('an event of a rollout, about a pod', agent, event('n1', { ...ROLLOUT, kind: 'Pod' })),
    refused('an event of a rollout, of another component', agent, event('node-config', { ...ROLLOUT, component: 'kubelet' })),
    refused('another event about a ConfigMap', agent, event('node-config', { ...ROLLOUT, reason: 'Deleted' })),
    refused('a cordon', agent, patchNode('n1', { spec: { unschedulable: true } })),
    refused('a cordon, applied', agent, applyNode('n1', { spec: { unschedulable: true } })),
    refused('a label', agent, label('n1', { role: 'control-plane' })),
    refused('a label, by way of the status', agent, label('n1', { role: 'control-plane' }, '/status')),
    refused('another label, changed', agent, label('n1', { given: 'y' })),
    refused('a label that is taken away', agent, label('n1', { given: null })),
    refused('the label of another node', agent, label('n2', STATE)),
    refused('an owner', agent, patchNode('n1', { metadata: { ownerReferences: [owner] } })),
    refused('a finalizer', agent, patchNode('n1', { metadata: { finalizers: ['example.com/stay'] } })),
    refused('another annotation', agent, annotate('n1', { other: 'x' })),
    refused('another annotation, changed', agent, annotate('n1', { given: 'y' })),
    refused('an annotation that is taken away', agent, annotate('n1', { given: null })),
    refused('another condition', agent, status('n1', { conditions: [{ ...CONDITION, type: 'Other' }] }, 'strategic')),
    refused('another condition, changed', agent, status('n1', { conditions: [{ ...ready, status: 'False' }, CONDITION] })),
    refused('another condition, taken away', agent, status('n1', { conditions: [CONDITION] })),
    refused('the rest of the status', agent, status('n1', { capacity: { cpu: '1000' } })),
    refused('the rest of the status, changed', agent, status('n1', { allocatable: { cpu: '1000' } })),
    refused('the rest of the status, taken away', agent, status('n1', { allocatable: null })),
    fine('its conditions', agent, status('n1', { conditions: CONDITIONS }, 'strategic')),
    fine('its annotation', agent, annotate('n1', SAID)),
    fine('its label', agent, label('n1', STATE)),
    fine('its label, by way of the status', agent, label('n1', STATE, '/status')),
    fine('its label, taken away', agent, label('n1', { 'kubelet-cfg-agent.io/state': null })),
    fine('its event', agent, event('n1')),
    ...['RolloutStarted', 'RolloutAdvanced', 'RolloutHalted'].map((reason) =>
      fine(`an event of a rollout: ${reason}`, agent, event('node-config', { ...ROLLOUT, reason })),
    ),
    fine('status.config that an earlier release stored', agent, status('n1', { config: { error: 'none' } })),
    fine('the same, taken away', agent, status('n1', { config: null })),
  ]
}

/** Of deploy/rbac/rollout-events.yaml, from the agent of n1. */
const ROLLOUT = { kind: 'ConfigMap', namespace: NAMESPACE, reason: 'RolloutStarted', host: 'n1' } as const

interface EventFields {
  readonly component?: string
  readonly kind?: string
  readonly namespace?: string
  readonly reason?: string
  readonly host?: string | undefined
}

function event(name: string, fields: EventFields = {}): Asked {
  const { component = 'kubelet-cfg-agent', kind = 'Node', namespace = 'default', reason = 'KubeletConfigChanged' } = fields
  return {
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/events`,
    body: {
      metadata: { name: `${name}.1`, namespace },
      // An API server takes an event about what has a namespace in that namespace only.
      involvedObject: { kind, name, uid: name, ...(kind !== 'Node' && { namespace }) },
      type: 'Normal',
      reason,
      message: '',
      source: { component, host: 'host' in fields ? fields.host : name },
    },
  }
}
