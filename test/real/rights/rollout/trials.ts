// SPDX-License-Identifier: Apache-2.0
/**
 * Each case as requests: in each way, by a node and by a token that names it; and what is no change
 * of a record, such as its deletion.
 */
import type { ControlPlane } from '../../lab/control-plane.ts'
import { type Asked, ask, type Who } from '../ask.ts'
import { nodeItself } from '../cases/case.ts'
import { ABUSES } from './abuses.ts'
import { type ChangedRecord, type ConfigName, type RecordCase, RULES, state, type Version } from './cases.ts'
import { HONEST } from './honest.ts'
import { type ConfigMap, change, creation, pathOf, put, WAYS, type Way } from './write.ts'

export const NAMESPACE = 'kube-system'
const administrator: Who = { kind: 'user', name: 'administrator', groups: ['system:masters', 'system:authenticated'] }
const n1 = nodeItself('n1')

export interface Trial {
  readonly what: string
  readonly who: Who
  /** The record as it is to be before; undefined: there is none. */
  readonly before: ConfigMap | undefined
  readonly asks: Asked
  /** Part of the refusal; undefined: it is admitted. */
  readonly refusal: string | undefined
}

export interface World {
  readonly versions: Readonly<Record<ConfigName, Version>>
  /** Of the ServiceAccount, for n1, and for no node. */
  readonly tokens: { readonly ofN1: string; readonly ofNobody: string }
  /** The name of the record of a config. */
  recordOf(config: ConfigName): string
}

/** The fault of the answer; undefined: it is as expected. */
export async function play(plane: ControlPlane, { what, who, before, asks, refusal }: Trial): Promise<string | undefined> {
  if (before !== undefined) await put(plane, administrator, before)
  const { status, message } = await ask(plane, who, asks)
  const isAsExpected = refusal === undefined ? status < 400 : [403, 422].includes(status) && message.includes(refusal)
  return isAsExpected ? undefined : `${what}: ${status} ${message}`
}

export function trialsOf(world: World, ways: readonly Way[] = WAYS): Trial[] {
  const token: Who = { kind: 'token', token: world.tokens.ofN1 }
  const cases = [...ABUSES, ...HONEST]
  return [
    ...others(world),
    ...ways.flatMap((way) => cases.map((each) => trialOf(world, each, way, n1, 'a node'))),
    ...cases.map((each) => trialOf(world, each, 'merge patch', token, 'a token')),
  ]
}

function trialOf(world: World, { what, config, refusedBy, ...record }: RecordCase, way: Way, who: Who, whose: string): Trial {
  const version = world.versions[config]
  const { metadata, ...fields } = record.before(version)
  const before: ConfigMap = { ...fields, metadata: { ...metadata, name: world.recordOf(config), namespace: NAMESPACE } }
  const asks = change(before, changed(before, record.after(version)), way)
  return { what: `${what} (${way}, ${whose})`, who, before, asks, refusal: refusedBy && RULES[refusedBy] }
}

function changed(before: ConfigMap, after: ChangedRecord): ConfigMap {
  const data = Object.entries({ ...before.data, ...after.data }).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
  return { ...before, ...after, metadata: { ...before.metadata, ...after.metadata }, data: Object.fromEntries(data) }
}

function others({ recordOf, tokens }: World): Trial[] {
  const metadata = { name: recordOf('node-config'), namespace: NAMESPACE }
  const record: ConfigMap = { metadata, data: { state: state(1) } }
  const unbound: Who = { kind: 'token', token: tokens.ofNobody }
  const stranger: Who = { kind: 'user', name: 'kubelet', groups: ['system:nodes', 'system:authenticated'] }
  const [emptied, claim] = [{ metadata, data: {} }, { data: { 'node.n1': '3 1 claim 900' } }]
  const remove: Asked = { method: 'DELETE', path: pathOf(metadata) }
  const patch = (body: object): Asked => ({ method: 'PATCH', path: pathOf(metadata), body })
  const owned: Asked = { ...patch({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: record.data }), patch: 'apply' }
  const elsewhere = { metadata: { name: 'anything', namespace: NAMESPACE }, data: { a: 'b' } }
  return [
    { what: 'ownership of a key, by server-side apply', who: n1, before: record, asks: owned, refusal: 'ValidatingAdmissionPolicy' },
    { what: 'deletion', who: n1, before: record, asks: remove, refusal: RULES.operation },
    { what: 'deletion of an empty record', who: n1, before: emptied, asks: remove, refusal: RULES.operation },
    { what: 'deletion by a token', who: { kind: 'token', token: tokens.ofN1 }, before: record, asks: remove, refusal: RULES.operation },
    {
      what: 'a token that names no node',
      who: unbound,
      before: record,
      asks: patch(claim),
      refusal: 'the token of the agent names no node',
    },
    {
      what: 'such a token, nothing',
      who: unbound,
      before: record,
      asks: patch({ data: { 'node.': '3 1 claim 900' } }),
      refusal: 'the token of the agent names no node',
    },
    { what: 'a node without a name', who: stranger, before: record, asks: patch(claim), refusal: 'the token of the agent names no node' },
    { what: 'an administrator', who: administrator, before: record, asks: patch({ data: { state: null } }), refusal: undefined },
    { what: 'deletion by an administrator', who: administrator, before: record, asks: remove, refusal: undefined },
    {
      what: 'another ConfigMap',
      who: n1,
      before: elsewhere,
      asks: { method: 'DELETE', path: pathOf(elsewhere.metadata) },
      refusal: undefined,
    },
  ]
}

/** Records of which one is not there, and of which one has no config. */
export function absences(neverMade: string, withoutConfig: string): Trial[] {
  const asks = creation({ metadata: { name: neverMade, namespace: NAMESPACE }, data: {} })
  const body = { data: { 'node.n1': '3 1 claim 900' } }
  const claim: Asked = { method: 'PATCH', path: pathOf({ name: withoutConfig, namespace: NAMESPACE }), body }
  return [
    { what: 'creation', who: n1, before: undefined, asks, refusal: RULES.operation },
    { what: 'creation by an administrator', who: administrator, before: undefined, asks, refusal: undefined },
    { what: 'a claim where the config is gone', who: n1, before: undefined, asks: claim, refusal: 'no params found' },
    { what: 'an administrator where the config is gone', who: administrator, before: undefined, asks: claim, refusal: 'no params found' },
  ]
}
