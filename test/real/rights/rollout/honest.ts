// SPDX-License-Identifier: Apache-2.0
/** The writes of honest agents, and more that do no harm: nobody refuses them. */
import { A, B, begun, type ChangedRecord, type ConfigName, MINE, many, others, type RecordCase, state, type Version } from './cases.ts'
import type { Data } from './write.ts'

type Changed = NonNullable<ChangedRecord['data']>

const fine = (
  what: string,
  before: Data | ((config: Version) => Data),
  after: Changed | ((config: Version) => Changed),
  config: ConfigName = 'node-config',
): RecordCase => ({
  what,
  config,
  refusedBy: undefined,
  before: (version) => ({ data: typeof before === 'function' ? before(version) : before }),
  after: (version) => ({ data: typeof after === 'function' ? after(version) : after }),
})

const CLAIM = 'claim 900'

const written = (manager: string, fieldsV1: object): object => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
})

/** As several people and nodes leave it behind. */
const WRITTEN: RecordCase = {
  what: 'a claim in a record that many have written',
  config: 'node-config',
  refusedBy: undefined,
  before: () => ({
    metadata: {
      labels: { a: 'b' },
      managedFields: [
        written('one', { 'f:data': { '.': {}, 'f:readme': {} } }),
        written('two', { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } }),
        written('three', { 'f:data': { 'f:node.n2': {} } }),
        written('four', { 'f:data': { 'f:state': {} } }),
      ],
    },
    data: { readme: 'see docs', state: state(3), ...others('3 1 proof') },
  }),
  after: (config) => ({ data: { state: begun(config), [MINE]: `4 0 ${CLAIM}`, 'node.n2': undefined } }),
}

export const HONEST: readonly RecordCase[] = [
  WRITTEN,
  fine(
    'a stage that its proofs open, by a witness of the stage before',
    { state: state(1), [MINE]: '3 0 proof', ...others(...many(5, '3 1 proof')) },
    { state: state(2) },
  ),
  fine(
    "a second claim beside one of two vetoes, which takes no claim's place",
    { state: state(1), ...others('3 1 veto no', '3 1 claim 9') },
    { [MINE]: `3 1 ${CLAIM}` },
    'small',
  ),
  fine('the first begin, with a claim', {}, (config) => ({ state: begun(config, { generation: 1 }), [MINE]: `1 0 ${CLAIM}` })),
  fine('the first begin, with a veto', {}, (config) => ({ state: begun(config, { generation: 1 }), [MINE]: '1 0 veto it crashed' })),
  fine(
    'another content, in stage 3; the keys of the generation before it go',
    { state: state(3), ...others('3 1 proof', '3 3 claim 9') },
    (config) => ({
      state: begun(config),
      [MINE]: `4 0 ${CLAIM}`,
      'node.n2': undefined,
      'node.n3': undefined,
    }),
  ),
  fine('another content; the keys of the generation before it stay', { state: state(1), ...others('3 0 proof') }, (config) => ({
    state: begun(config),
    [MINE]: `4 0 ${CLAIM}`,
  })),
  fine('another content, by a node that vetoed the one before', { state: state(0), [MINE]: '3 0 veto it crashed' }, (config) => ({
    state: begun(config),
    [MINE]: '4 0 veto it crashed as well',
  })),
  fine(
    'another content of a config that was made again, and has the version of before',
    ({ version }) => ({ state: state(3, { version }) }),
    (config) => ({
      state: begun(config),
      [MINE]: `4 0 ${CLAIM}`,
    }),
  ),
  fine(
    'another content of the same config',
    ({ uid }) => ({ state: state(3, { uid }) }),
    (config) => ({ state: begun(config), [MINE]: `4 0 ${CLAIM}` }),
  ),
  fine(
    'the same content after retry was raised',
    { state: state(0, { retry: 6 }), ...others('3 0 veto it crashed') },
    (config) => ({ state: begun(config, { hash: A, retry: 7 }), [MINE]: `4 0 ${CLAIM}` }),
    'retried',
  ),
  fine('the same content once it was finished', { state: state(5) }, (config) => ({
    state: begun(config, { hash: A }),
    [MINE]: `4 0 ${CLAIM}`,
  })),
  fine(
    'the same with another plan',
    { state: state(3) },
    (config) => ({ state: begun(config, { hash: A }), [MINE]: `4 0 ${CLAIM}` }),
    'small',
  ),
  fine('a begin by a control plane', { state: state(5) }, (config) => ({ state: begun(config), [MINE]: `4 0 ${CLAIM} control-plane` })),
  fine('a stage past the last, after an edit of the waves', { state: state(5), ...others(...many(5, '3 5 proof')) }, { state: state(6) }),
  fine('a third claim in stage 0', { state: state(0), ...others('3 0 claim 9', '3 0 claim 9') }, { [MINE]: `3 0 ${CLAIM}` }),
  fine(
    'a seventh claim in stage 1',
    { state: state(1), ...others('3 0 proof', ...many(2, '3 1 claim 9'), ...many(4, '3 1 proof')) },
    { [MINE]: `3 1 ${CLAIM}` },
  ),
  fine('a claim beside those of another generation', { state: state(0), ...others(...many(5, '2 0 claim 9')) }, { [MINE]: `3 0 ${CLAIM}` }),
  fine(
    'a claim of a node that vetoed the generation before',
    { state: state(1), [MINE]: '2 1 veto it crashed' },
    { [MINE]: `3 1 ${CLAIM}` },
  ),
  fine('a claim beside vetoes of the generation before', { state: state(1), ...others('2 1 veto no') }, { [MINE]: `3 1 ${CLAIM}` }),
  fine('a claim with one of two vetoes', { state: state(1), ...others('3 1 veto no') }, { [MINE]: `3 1 ${CLAIM}` }, 'small'),
  fine(
    'a claim beside that of a control plane',
    { state: state(0), ...others('3 0 claim 9', '3 0 claim 9', '3 0 claim 9 control-plane') },
    { [MINE]: `3 0 ${CLAIM}` },
  ),
  fine(
    'a claim of a control plane beside all witnesses',
    { state: state(1), ...others(...many(7, '3 1 claim 9')) },
    { [MINE]: `3 1 ${CLAIM} control-plane` },
  ),
  fine(
    'a claim of a control plane where no witness is needed',
    { state: state(5), ...others(...many(8, '3 5 proof')) },
    { [MINE]: `3 5 ${CLAIM} control-plane` },
  ),
  fine(
    'a claim of a control plane after one of the generation before',
    { state: state(1), ...others('2 1 claim 9 control-plane') },
    {
      [MINE]: `3 1 ${CLAIM} control-plane`,
    },
  ),
  fine('the proof that opens stage 1', { state: state(0), [MINE]: '3 0 claim 9' }, { state: state(1), [MINE]: '3 0 proof' }),
  fine(
    'the proof that opens stage 2',
    { state: state(1), [MINE]: '3 1 claim 9', ...others(...many(4, '3 1 proof')) },
    { state: state(2), [MINE]: '3 1 proof' },
  ),
  fine(
    'the proof that opens a stage of another plan',
    { state: state(1), [MINE]: '3 1 claim 9', ...others('3 1 proof') },
    { state: state(2), [MINE]: '3 1 proof' },
    'small',
  ),
  fine('a proof that opens nothing', { state: state(1), [MINE]: '3 1 claim 9' }, { [MINE]: '3 1 proof' }),
  fine('the proof of a control plane', { state: state(5), [MINE]: '3 5 claim 9 control-plane' }, { [MINE]: '3 5 proof' }),
  fine('a late proof of a stage before', { state: state(3), [MINE]: '3 1 claim 9' }, { [MINE]: '3 1 proof' }),
  fine(
    'a proof that halts nothing any more',
    { state: state(1), [MINE]: '3 1 claim 9', ...others('3 1 veto no') },
    { [MINE]: '3 1 proof' },
  ),
  fine(
    'a stage that its proofs open, without one of its own',
    { state: state(1), ...others(...many(5, '3 1 proof')) },
    { state: state(2) },
  ),
  fine(
    'a stage that opens in spite of one of two vetoes',
    { state: state(1), ...others('3 1 proof', '3 1 proof', '3 0 veto no') },
    { state: state(2) },
    'small',
  ),
  fine('a veto after a claim', { state: state(0), [MINE]: '3 0 claim 9' }, { [MINE]: '3 0 veto kubelet crashed 5 times: déjà vu' }),
  fine('a veto after a claim of a stage before', { state: state(2), [MINE]: '3 1 claim 9' }, { [MINE]: '3 2 veto it crashed' }),
  fine('a veto after a proof', { state: state(2), [MINE]: '3 1 proof' }, { [MINE]: '3 2 veto it crashed' }),
  fine('a fifth veto, without a claim', { state: state(0), ...others(...many(4, '3 0 veto no')) }, { [MINE]: '3 0 veto it crashed' }),
  fine(
    'a sixth veto, after a claim',
    { state: state(0), [MINE]: '3 0 claim 9', ...others(...many(5, '3 0 veto no')) },
    { [MINE]: '3 0 veto it crashed' },
  ),
  fine('a veto of a node that vetoed the generation before', { state: state(0), [MINE]: '2 0 veto no' }, { [MINE]: '3 0 veto it crashed' }),
  fine('a veto when it is finished', { state: state(5), [MINE]: '3 4 proof' }, { [MINE]: '3 5 veto it crashed' }),
  fine(
    'keys of another generation are taken away',
    { state: state(0), [MINE]: '2 0 proof', ...others('2 1 proof') },
    { [MINE]: undefined, 'node.n2': undefined },
  ),
  fine(
    'a claim beside the veto of a node that is excluded',
    { state: state(1), ...others('3 1 veto no') },
    { [MINE]: `3 1 ${CLAIM}` },
    'apart',
  ),
  fine('a claim in the place of one', { state: state(0), ...others(...many(3, '3 0 claim 9')) }, { [MINE]: `3 0 ${CLAIM}` }, 'apart'),
  fine(
    'a claim of a control plane beside one',
    { state: state(1), ...others('3 0 claim 9 control-plane') },
    { [MINE]: `3 1 ${CLAIM} control-plane` },
    'apart',
  ),
  fine('a claim beside a key that is no node, and reads like a veto', { state: state(1), note: '3 1 veto no' }, { [MINE]: `3 1 ${CLAIM}` }),
  fine('a key that is no node stays', { state: state(0), readme: 'see docs' }, { [MINE]: `3 0 ${CLAIM}` }),
  fine(
    'another content after retry was lowered',
    ({ uid }) => ({ state: state(0, { uid, hash: B, retry: 1 }) }),
    (config) => ({
      state: begun(config, { hash: A }),
      [MINE]: `4 0 ${CLAIM}`,
    }),
  ),
]
