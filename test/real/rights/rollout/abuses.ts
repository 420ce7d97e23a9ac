// SPDX-License-Identifier: Apache-2.0
/**
 * The writes of a compromised node with the identity of n1, and the rule that refuses each. RBAC
 * lets all of them pass here.
 */
import {
  A,
  B,
  begun,
  type ChangedRecord,
  type ConfigName,
  MINE,
  many,
  others,
  type RecordCase,
  type Rule,
  state,
  type Version,
} from './cases.ts'
import type { ConfigMap, Data } from './write.ts'

type Changed = NonNullable<ChangedRecord['data']>
type Written = Changed | ((config: Version) => Changed)

const refused = (
  refusedBy: Rule,
  what: string,
  before: Data | ((config: Version) => Data),
  after: Written,
  config: ConfigName = 'node-config',
): RecordCase => ({
  what,
  config,
  refusedBy,
  before: (version) => ({ data: typeof before === 'function' ? before(version) : before }),
  after: (version) => ({ data: typeof after === 'function' ? after(version) : after }),
})

/** Together with a claim that would be admitted. */
const around = (
  what: string,
  before: Omit<Partial<ConfigMap>, 'metadata'> & Pick<ChangedRecord, 'metadata'>,
  after: ChangedRecord,
  refusedBy: Rule = 'metadata',
): RecordCase => ({
  what,
  config: 'node-config',
  refusedBy,
  before: () => ({ ...before, data: { state: state(1) } }),
  after: () => ({ ...after, data: { [MINE]: '3 1 claim 900' } }),
})

const fields = (fieldsV1: object, manager = 'any', operation: 'Update' | 'Apply' = 'Update'): object => ({
  manager,
  operation,
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
})
/** An object that was emptied once has no managedFields any more, unless somebody sets them. */
const TRACKED = [fields({ 'f:data': { '.': {}, 'f:state': {} } }, 'administrator')]
const filled = (what: string, ...managedFields: readonly object[]): RecordCase =>
  around(what, { metadata: { managedFields: TRACKED } }, { metadata: { managedFields } }, 'managed')

const CLAIM = 'claim 900'
const ONE = { state: state(1) }

/** Changes outside of the data. */
const AROUND: readonly RecordCase[] = [
  around('a label', {}, { metadata: { labels: { 'kubelet-cfg-agent.io/fleet': 'true' } } }),
  around('a label that is taken away', { metadata: { labels: { a: 'b' } } }, { metadata: { labels: {} } }),
  around('an annotation', {}, { metadata: { annotations: { a: 'b' } } }),
  around('an annotation that is changed', { metadata: { annotations: { a: 'b' } } }, { metadata: { annotations: { a: 'c' } } }),
  around('a finalizer', {}, { metadata: { finalizers: ['example.com/stay'] } }),
  around('an owner that is gone', {}, { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'gone', uid: 'gone' }] } }),
  around('binaryData', {}, { binaryData: { a: 'YQ==' } }),
  around('immutable', {}, { immutable: true }),
  around('immutable: false', {}, { immutable: false }),
]

const MANAGED: readonly RecordCase[] = [
  filled('managedFields of keys that are not there', fields({ 'f:data': { 'f:other': {} } })),
  filled('managedFields within a key', fields({ 'f:data': { 'f:state': { 'f:other': {} } } })),
  filled('managedFields of other parts', fields({ 'f:other': { 'f:state': {} } })),
  filled('managedFields of one more manager that applies', fields({ 'f:data': { 'f:state': {} } }, 'any', 'Apply')),
  filled('managedFields of many managers', ...['a', 'b', 'c', 'd'].map((manager) => fields({ 'f:data': { 'f:state': {} } }, manager))),
]

const OTHER_KEYS: readonly RecordCase[] = [
  refused('keys', "another node's claim", ONE, { 'node.n2': `3 1 ${CLAIM}` }),
  refused('keys', "another node's proof", { ...ONE, ...others('3 1 claim 9') }, { 'node.n2': '3 1 proof' }),
  refused('keys', "another node's veto", { ...ONE, ...others('3 1 claim 9') }, { 'node.n2': '3 1 veto no' }),
  refused('keys', "another node's key of an old generation", { ...ONE, ...others('2 1 proof') }, { 'node.n2': '3 1 proof' }),
  refused('keys', 'a key that is empty', ONE, { 'node.n2': '' }),
  refused('keys', 'a key that is no node', ONE, { readme: 'x' }),
  refused('keys', 'a key that is no node, changed', { ...ONE, readme: 'see docs' }, { readme: 'x' }),
  refused('keys', 'a key that begins with its own', ONE, { [`${MINE}.example.com`]: `3 1 ${CLAIM}` }),
  refused('stays', "another node's veto, taken away", { ...ONE, ...others('3 1 veto no') }, { 'node.n2': undefined }),
  refused('stays', 'its own claim, taken away', { ...ONE, [MINE]: '3 1 claim 9' }, { [MINE]: undefined }),
  refused('stays', 'state, taken away', ONE, { state: undefined }),
  refused('stays', 'a key that is no node, taken away', { ...ONE, readme: 'see docs' }, { readme: undefined }),
]

const OWN_KEY: readonly RecordCase[] = [
  refused('mine', 'nothing in its own key', ONE, { [MINE]: '' }),
  refused('mine', 'a proof without a claim', ONE, { [MINE]: '3 1 proof' }),
  refused('mine', 'a proof after a claim of another generation', { ...ONE, [MINE]: '2 1 claim 9' }, { [MINE]: '3 1 proof' }),
  refused('mine', 'a proof for the generation of an old claim', { ...ONE, [MINE]: '2 1 claim 9' }, { [MINE]: '2 1 proof' }),
  refused('mine', 'a proof of another stage than its claim', { ...ONE, [MINE]: '3 0 claim 9' }, { [MINE]: '3 1 proof' }),
  refused('mine', 'a proof of another generation than its claim', { ...ONE, [MINE]: '3 1 claim 9' }, { [MINE]: '4 1 proof' }),
  refused('mine', 'a proof after a veto', { ...ONE, [MINE]: '3 1 veto no' }, { [MINE]: '3 1 proof' }),
  refused('mine', 'a claim after a proof of the stage before', { ...ONE, [MINE]: '3 0 proof' }, { [MINE]: `3 1 ${CLAIM}` }),
  refused('mine', 'a claim in place of its claim', { ...ONE, [MINE]: '3 1 claim 9' }, { [MINE]: `3 1 ${CLAIM}` }),
  refused('mine', 'a claim after a veto', { ...ONE, [MINE]: '3 1 veto no' }, { [MINE]: `3 1 ${CLAIM}` }, 'small'),
  refused('mine', 'a claim of the stage before', ONE, { [MINE]: `3 0 ${CLAIM}` }),
  refused('mine', 'a claim of the stage after', ONE, { [MINE]: `3 2 ${CLAIM}` }),
  refused('mine', 'a claim of another generation', ONE, { [MINE]: `4 1 ${CLAIM}` }),
  refused('mine', 'a claim before anything began', {}, { [MINE]: `0 0 ${CLAIM}` }),
  refused('mine', 'a claim without a deadline', ONE, { [MINE]: '3 1 claim' }),
  refused('mine', 'a claim without an end', ONE, { [MINE]: '3 1 claim 999999' }),
  refused('mine', 'a claim of no time', ONE, { [MINE]: '3 1 claim 0' }),
  refused('mine', 'a claim of some other kind', ONE, { [MINE]: `3 1 ${CLAIM} canary` }),
  refused('mine', 'a claim when stage 0 has a veto', { state: state(0), ...others('3 0 veto no') }, { [MINE]: `3 0 ${CLAIM}` }, 'small'),
  refused('mine', 'a claim when it is halted', { ...ONE, ...others('3 0 veto no') }, { [MINE]: `3 1 ${CLAIM}` }),
  refused(
    'mine',
    'a claim when it is halted with another plan',
    { ...ONE, ...others('3 0 veto no', '3 1 veto no') },
    { [MINE]: `3 1 ${CLAIM}` },
    'small',
  ),
  refused('mine', 'a fourth claim in stage 0', { state: state(0), ...others(...many(3, '3 0 claim 9')) }, { [MINE]: `3 0 ${CLAIM}` }),
  refused(
    'mine',
    'an eighth claim in stage 1',
    { ...ONE, ...others(...many(4, '3 1 proof'), ...many(3, '3 1 claim 9')) },
    { [MINE]: `3 1 ${CLAIM}` },
  ),
  refused(
    'mine',
    'a third claim with another plan',
    { ...ONE, ...others('3 1 claim 9', '3 1 claim 9') },
    { [MINE]: `3 1 ${CLAIM}` },
    'small',
  ),
  refused(
    'mine',
    'a claim of a control plane beside another',
    { ...ONE, ...others('3 0 claim 9 control-plane') },
    { [MINE]: `3 1 ${CLAIM} control-plane` },
  ),
  refused(
    'mine',
    'a claim of a control plane when it is finished and halted',
    { state: state(5), ...others('3 5 veto no') },
    { [MINE]: `3 5 ${CLAIM} control-plane` },
  ),
  refused(
    'mine',
    'a claim of the stage that its write opens',
    { state: state(0), ...others('3 0 proof') },
    { state: state(1), [MINE]: `3 1 ${CLAIM}` },
  ),
  refused('mine', 'a veto without a reason', ONE, { [MINE]: '3 1 veto ' }),
  refused('mine', 'a veto of two lines', ONE, { [MINE]: '3 1 veto a\nb' }),
  refused('mine', 'a veto that writes to terminals', ONE, { [MINE]: '3 1 veto \u001b[2J' }),
  refused('mine', 'a veto that is long', ONE, { [MINE]: `3 1 veto ${'x'.repeat(161)}` }),
  refused('mine', 'a veto of another stage', ONE, { [MINE]: '3 0 veto no' }),
  refused('mine', 'a veto of another generation', ONE, { [MINE]: '4 1 veto no' }),
  refused('mine', 'a veto in place of its veto', { ...ONE, [MINE]: '3 1 veto no' }, { [MINE]: '3 1 veto never' }),
  refused('mine', 'a sixth veto without a claim', { ...ONE, ...others(...many(5, '3 1 veto no')) }, { [MINE]: '3 1 veto no' }),
  refused('mine', 'another word', ONE, { [MINE]: '3 1 leader' }),
]

const EXCLUDED: readonly RecordCase[] = [
  refused('excluded', 'a claim of a node that is excluded', ONE, { [MINE]: `3 1 ${CLAIM}` }, 'alone'),
  refused('excluded', 'a veto of a node that is excluded', { ...ONE, [MINE]: '3 1 claim 9' }, { [MINE]: '3 1 veto no' }, 'alone'),
  refused('excluded', 'a stage, by a node that is excluded', { ...ONE, ...others(...many(5, '3 1 proof')) }, { state: state(2) }, 'alone'),
  refused(
    'state',
    'stage 2 with a proof of a node that is excluded',
    { ...ONE, ...others(...many(5, '3 1 proof')) },
    { state: state(2) },
    'apart',
  ),
  refused(
    'mine',
    'a claim when others than the one that is excluded halt it',
    { ...ONE, ...others('3 1 proof', '3 0 veto no') },
    { [MINE]: `3 1 ${CLAIM}` },
    'apart',
  ),
]

const STAGES: readonly RecordCase[] = [
  refused('state', 'stage 1 without a proof', { state: state(0), [MINE]: '3 0 claim 9' }, { state: state(1) }),
  refused('state', 'stage 2 with four proofs', { ...ONE, ...others(...many(4, '3 1 proof')) }, { state: state(2) }),
  refused(
    'state',
    'stage 2 with proofs of stage 0 among them',
    { ...ONE, ...others('3 0 proof', ...many(4, '3 1 proof')) },
    { state: state(2) },
  ),
  refused('state', 'stage 2 with proofs of another generation', { ...ONE, ...others(...many(5, '2 1 proof')) }, { state: state(2) }),
  refused(
    'state',
    'stage 2 with a proof in a key that is no node',
    { ...ONE, note: '3 1 proof', ...others(...many(4, '3 1 proof')) },
    { state: state(2) },
  ),
  refused('state', 'stage 2 with one proof, with another plan', { ...ONE, ...others('3 1 proof') }, { state: state(2) }, 'small'),
  refused('state', 'two stages at once', { ...ONE, ...others(...many(5, '3 1 proof')) }, { state: state(3) }),
  refused('state', 'the stage before', { ...ONE, ...others(...many(5, '3 1 proof')) }, { state: state(0) }),
  refused('state', 'a stage when it is halted', { ...ONE, ...others('3 1 veto no', ...many(5, '3 1 proof')) }, { state: state(2) }),
  refused(
    'state',
    'a stage past the last without its proofs',
    { state: state(5), ...others(...many(4, '3 5 proof')) },
    { state: state(6) },
  ),
  refused(
    'state',
    'a stage past the last of another plan without its proofs',
    { state: state(3), ...others('3 3 proof') },
    { state: state(4) },
    'small',
  ),
  refused('state', 'a stage and another content', { ...ONE, ...others(...many(5, '3 1 proof')) }, { state: state(2, { hash: B }) }),
  refused('state', 'a stage and another uid', { ...ONE, ...others(...many(5, '3 1 proof')) }, { state: state(2, { uid: 'abc' }) }),
  refused('state', 'a stage and another version', { ...ONE, ...others(...many(5, '3 1 proof')) }, { state: state(2, { version: '2' }) }),
  refused('state', 'a stage and another retry', { ...ONE, ...others(...many(5, '3 1 proof')) }, { state: state(2, { retry: 9 }) }),
  refused(
    'state',
    'a stage and another generation',
    { ...ONE, ...others(...many(5, '3 1 proof')) },
    { state: state(2, { generation: 2 }) },
  ),
  refused('state', 'another content in the same generation', ONE, { state: state(1, { hash: B }) }),
]

const begins = (
  rule: Rule,
  what: string,
  stage: number,
  written: (config: Version) => string,
  own: string | null = `4 0 ${CLAIM}`,
  plan: ConfigName = 'node-config',
): RecordCase => refused(rule, what, { state: state(stage) }, (config) => ({ state: written(config), [MINE]: own ?? undefined }), plan)

const BEGINS: readonly RecordCase[] = [
  begins('state', 'a generation that jumps', 3, (config) => begun(config, { generation: 5 }), `5 0 ${CLAIM}`),
  begins('state', 'a generation that goes back', 3, (config) => begun(config, { generation: 2 }), `2 0 ${CLAIM}`),
  begins(
    'state',
    'a begin in another stage than 0',
    3,
    ({ uid, version }) => state(1, { generation: 4, hash: B, uid, version }),
    `4 1 ${CLAIM}`,
  ),
  begins('state', 'a begin of another version than the present', 3, (config) => begun(config, { version: '2' })),
  begins('state', 'a begin of another config', 3, (config) => begun(config, { uid: 'abc' })),
  begins('state', 'a begin with another retry', 3, (config) => begun(config, { retry: 1 })),
  begins('state', 'a begin without a key of its own', 3, (config) => begun(config), null),
  begins('state', 'the same content, which is not finished', 4, (config) => begun(config, { hash: A })),
  begins('state', 'the same content after retry, which was not raised', 4, (config) => begun(config, { hash: A, retry: 1 })),
  refused(
    'state',
    'the same content after retry was lowered',
    { state: state(3, { retry: 8 }) },
    (config) => ({
      state: begun(config, { hash: A, retry: 7 }),
      [MINE]: `4 0 ${CLAIM}`,
    }),
    'retried',
  ),
  refused(
    'state',
    'a second content of one version, in a late stage',
    ({ uid, version }) => ({ state: state(4, { uid, version }) }),
    (config) => ({
      state: begun(config),
      [MINE]: `4 0 ${CLAIM}`,
    }),
  ),
  refused(
    'state',
    'a second content of one version, which frees it from a veto',
    ({ uid, version }) => ({ state: state(0, { uid, version }), ...others('3 0 veto no') }),
    (config) => ({
      state: begun(config),
      [MINE]: `4 0 ${CLAIM}`,
    }),
  ),
  refused(
    'state',
    'a second content of one version, when it is finished',
    ({ uid, version }) => ({ state: state(5, { uid, version }) }),
    (config) => ({
      state: begun(config),
      [MINE]: `4 0 ${CLAIM}`,
    }),
  ),
  begins('mine', 'a begin with a proof of its own', 3, (config) => begun(config), '4 0 proof'),
  refused('keys', 'a begin with a claim for another node', { state: state(3) }, (config) => ({
    state: begun(config),
    [MINE]: `4 0 ${CLAIM}`,
    'node.n2': `4 0 ${CLAIM}`,
  })),
]

const WORDS: readonly RecordCase[] = [
  begins('words', 'a content that is no hash', 3, (config) => begun(config, { hash: '-' })),
  begins('words', 'a generation with a zero before it', 3, (config) => begun(config, { generation: '04' }), `04 0 ${CLAIM}`),
  begins('words', 'a state of another version', 3, (config) => begun(config).replace('1 ', '2 ')),
  begins('words', 'a word more', 3, (config) => `${begun(config)} x`),
  refused('words', 'a begin over the state of another version', { state: state(3).replace('1 ', '2 ') }, (config) => ({
    state: begun(config),
    [MINE]: `4 0 ${CLAIM}`,
  })),
  refused('words', 'a claim beside the state of another version', { state: state(3).replace('1 ', '2 ') }, { [MINE]: `3 3 ${CLAIM}` }),
]

const BOUNDS: readonly RecordCase[] = [
  refused('size', 'more than 6 KiB', { ...ONE, readme: 'x'.repeat(6144 - 110) }, { [MINE]: `3 1 ${CLAIM}` }),
  refused('size', 'more than 6 KiB, of fewer characters', { ...ONE, readme: 'é'.repeat(3030) }, { [MINE]: `3 1 ${CLAIM}` }),
  refused('change', 'nothing', ONE, {}),
  refused('plan', 'anything with a plan that is none', ONE, { [MINE]: `3 1 ${CLAIM}` }, 'garbled'),
]

export const ABUSES: readonly RecordCase[] = [
  ...AROUND,
  ...MANAGED,
  ...OTHER_KEYS,
  ...OWN_KEY,
  ...EXCLUDED,
  ...STAGES,
  ...BEGINS,
  ...WORDS,
  ...BOUNDS,
]
