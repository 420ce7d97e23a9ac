// SPDX-License-Identifier: Apache-2.0
/**
 * Of channels.yaml. `n1` and `n2` carry nothing that assigns; `kept` carries all of it, a
 * configSource of an earlier release included.
 */
import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION, GUARDED_PREFIX, PAUSED_ANNOTATION } from '../../node-words.ts'
import type { Asked } from '../ask.ts'
import {
  annotate,
  applyNode,
  type Case,
  CHANNELS,
  carrier,
  editor,
  fine,
  label,
  nodeItself,
  owner,
  patchNode,
  refused as refusedBy,
} from './case.ts'

/** The labels of the Node `kept`. */
export const KEPT = {
  labels: { [CONFIG_LABEL]: 'node-config', [`${GUARDED_PREFIX}/pool`]: 'a', role: 'worker' },
  annotations: { [CONFIG_SOURCE_ANNOTATION]: 'kube-system/node-config', [PAUSED_ANNOTATION]: 'true' },
  configSource: { configMap: { namespace: 'kube-system', name: 'node-config', kubeletConfigKey: 'kubelet' } },
}
const otherSource = { configMap: { ...KEPT.configSource.configMap, name: 'other' } }

const refused = refusedBy.bind(undefined, CHANNELS)
const newNode = (metadata: object): Asked => ({
  method: 'POST',
  path: '/api/v1/nodes',
  body: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n3', ...metadata } },
})

export function channelCases(): Case[] {
  return [...setCases(), ...keptCases(), ...ownerCases(), ...harmlessCases()]
}

/** Set on a Node that has nothing. */
function setCases(): Case[] {
  const [node, other] = [nodeItself('n1'), nodeItself('n3')]
  const source = { [CONFIG_SOURCE_ANNOTATION]: 'kube-system/node-config' }
  const [paused, config, pool] = [{ [PAUSED_ANNOTATION]: 'true' }, { [CONFIG_LABEL]: 'node-config' }, { [`${GUARDED_PREFIX}/pool`]: 'a' }]
  return [
    refused('the label, by somebody who may patch nodes', carrier, label('n1', config)),
    refused('the annotation, by the same', carrier, annotate('n1', source)),
    refused('a pause, by the same', carrier, annotate('n1', paused)),
    refused('a label for a selector, by the same', carrier, label('n1', pool)),
    refused('the label, by way of the status', carrier, label('n1', config, '/status')),
    refused('the annotation, by way of the status', carrier, annotate('n1', source, '/status')),
    refused('a pause, by way of the status', carrier, annotate('n1', paused, '/status')),
    refused('the annotation, applied', carrier, applyNode('n1', { metadata: { annotations: source } })),
    refused('a node that is made by an apply', carrier, applyNode('n3', { metadata: { annotations: source } })),
    refused('the annotation, by the node itself', node, annotate('n1', source)),
    refused('by the node, by way of its status', node, annotate('n1', source, '/status')),
    refused('a pause, by the node itself', node, annotate('n1', paused)),
    refused('a node that registers itself with the annotation', other, newNode({ annotations: source })),
    refused('a node that registers itself with a pause', other, newNode({ annotations: paused })),
    refused('a node that is made with the label', carrier, newNode({ labels: config })),
    refused('a node that is made with a label for a selector', carrier, newNode({ labels: pool })),
    fine('the label, by an editor', editor, label('n1', config)),
    fine('the annotation, by an editor', editor, annotate('n1', source)),
    fine('a pause, by an editor', editor, annotate('n1', paused)),
    fine(
      'all of it on a new node, by an editor',
      editor,
      newNode({ labels: { ...config, ...pool }, annotations: { ...source, ...paused } }),
    ),
  ]
}

interface Way {
  readonly what: string
  readonly removed: Asked
  readonly changed: Asked
  /** The whole Node, without this. */
  readonly put: Asked
}

/** Taken from a Node that has it, or changed there. */
function keptCases(): Case[] {
  const { labels, annotations, configSource } = KEPT
  const ways: Way[] = [
    ...Object.keys(labels)
      .filter((key) => key.startsWith(GUARDED_PREFIX))
      .map((key) => ({
        what: key.replace(GUARDED_PREFIX, 'label ..'),
        removed: label('kept', { [key]: null }),
        changed: label('kept', { [key]: 'other' }),
        put: put({ labels: without(labels, key) }),
      })),
    ...Object.keys(annotations).map((key) => ({
      what: `annotation ${key}`,
      removed: annotate('kept', { [key]: null }),
      changed: annotate('kept', { [key]: 'kube-system/other' }),
      put: put({ annotations: without(annotations, key) }),
    })),
    {
      what: 'spec.configSource of an earlier release',
      removed: patchNode('kept', { spec: { configSource: null } }),
      changed: patchNode('kept', { spec: { configSource: otherSource } }),
      put: put({ configSource: undefined }),
    },
  ]
  const itself = nodeItself('kept')
  return [
    ...ways.flatMap(({ what, removed, changed, put: replaced }) => [
      refused(`${what}, taken away`, carrier, removed),
      refused(`${what}, changed`, carrier, changed),
      refused(`${what}, left out of the whole`, carrier, replaced),
      fine(`${what}, taken away by an editor`, editor, removed),
      fine(`${what}, changed by an editor`, editor, changed),
    ]),
    refused('spec.configSource, taken away by the node itself', itself, patchNode('kept', { spec: { configSource: null } })),
    refused('a pause, ended by the node itself', itself, annotate('kept', { [PAUSED_ANNOTATION]: null })),
    refused('all labels taken away', carrier, patchNode('kept', { metadata: { labels: null } })),
    refused('the label, changed by an apply', carrier, applyNode('kept', { metadata: { labels: { [CONFIG_LABEL]: 'other' } } })),
    refused('spec.configSource, changed by an apply', carrier, applyNode('kept', { spec: { configSource: otherSource } })),
    fine('the whole as it is, with a taint', carrier, put({ taints: [{ key: 'a', effect: 'NoSchedule' }] })),
    fine('another label, applied', carrier, applyNode('kept', { metadata: { labels: { zone: 'a' } } })),
    fine('another label of it, changed', carrier, label('kept', { role: null })),
    fine('a cordon', carrier, patchNode('kept', { spec: { unschedulable: true } })),
    fine('its heartbeat', itself, patchNode('kept', { status: { phase: 'Running' } }, { subresource: '/status' })),
    fine('a configSource that a server of this time drops', carrier, patchNode('n2', { spec: { configSource } })),
  ]
}

/** Whose owner is gone is deleted by the garbage collector, whoever named the owner. */
function ownerCases(): Case[] {
  const owned = { metadata: { ownerReferences: [owner] } }
  return [
    refused('an owner of a node that is assigned', carrier, patchNode('kept', owned)),
    refused('the same, by way of the status', carrier, patchNode('kept', owned, { subresource: '/status' })),
    refused('the same, where only an annotation is there', carrier, patchNode('annotated', owned)),
    refused('the same, where only a pause is there', carrier, patchNode('paused', owned)),
    refused('the same, where only a label is there', carrier, patchNode('labelled', owned)),
    refused('the same, where only spec.configSource is there', carrier, patchNode('sourced', owned)),
    refused('an owner taken away', carrier, patchNode('paused', { metadata: { ownerReferences: null } })),
    fine('an owner, by an editor', editor, patchNode('kept', owned)),
    fine('an owner of any other node', carrier, patchNode('n2', owned)),
  ]
}

function harmlessCases(): Case[] {
  const node = nodeItself('n1')
  return [
    fine('another annotation, by the node', node, annotate('n1', { 'kubelet-cfg-agent.io/status': '{}' })),
    fine('another label', carrier, label('n1', { role: 'worker' })),
    fine('the first of all its annotations taken away', carrier, annotate('n1', { nothing: null })),
    fine('a node that registers itself', nodeItself('n3'), newNode({})),
    fine('a heartbeat', node, patchNode('n1', { status: { phase: 'Running' } }, { subresource: '/status' })),
    // Said in the README: whoever may delete a Node takes its assignment with it.
    fine('the end of a node that is assigned', carrier, { method: 'DELETE', path: '/api/v1/nodes/kept' }),
  ]
}

interface Whole {
  readonly labels?: object
  readonly annotations?: object
  readonly configSource?: object | undefined
  readonly taints?: readonly object[]
}

function put(whole: Whole): Asked {
  const { labels, annotations, configSource, taints } = { ...KEPT, taints: [], ...whole }
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'kept', labels, annotations }, spec: { configSource, taints } }
  return { method: 'PUT', path: '/api/v1/nodes/kept', body }
}

function without(record: Readonly<Record<string, string>>, key: string): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key))
}
