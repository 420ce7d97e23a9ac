// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { AcceptedWarnings } from '../../src/report/accepted-warnings.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { IDENTITY, unit } from './build.ts'
import { FakeLog } from './fakes.ts'

const UNKNOWN_FIELD = 'unknown field "x": kubelet ignores it'

function fresh() {
  const log = new FakeLog()
  const files = new DurableFiles(new FakeDisk(() => 0))
  const broken = { failure: undefined as Error | undefined }
  const replace: typeof files.replace = (...given) => {
    if (broken.failure !== undefined) throw broken.failure
    files.replace(...given)
  }
  const wrapped = { read: files.read.bind(files), makeDirectory: files.makeDirectory.bind(files), replace }
  const open = () => new AcceptedWarnings({ files: wrapped, directory: '/d', log })
  return { log, files, broken, open }
}

function node(assignedContent: string, remarks?: readonly string[], fields: Partial<Snapshot> = {}) {
  const accepted: Snapshot['accepted'] =
    remarks === undefined ? new Map() : new Map([[trialKey(assignedContent, IDENTITY), { drain: [], remarks }]])
  return { unit: unit(), assignedContent, accepted, ...fields }
}

t.test('they stay with the config, also when the agent starts again', async (t) => {
  const { open } = fresh()
  const warnings = open()
  t.same(warnings.see(node('a')), [])
  t.same(warnings.see(node('a', [UNKNOWN_FIELD])), [UNKNOWN_FIELD])
  t.same(warnings.see(node('a')), [UNKNOWN_FIELD], 'when the acceptance is forgotten')
  t.same(open().see(node('a')), [UNKNOWN_FIELD])
  t.same(open().see(node('b')), [], 'another content')
  const upgraded = { unit: unit({ kubeletIdentity: 'kubelet-2' }) }
  t.same(open().see(node('a', undefined, upgraded)), [], 'another kubelet')
  t.same(open().see(node('a', undefined, { unit: { kind: 'unknown', detail: '' } })), [UNKNOWN_FIELD], 'systemd is silent for a moment')
  t.same(warnings.see(node('a', [])), [], 'accepted again, without a warning')
  t.same(open().see(node('a')), [])
})

t.test('they are never told of another config, also while systemd is silent', async (t) => {
  const warnings = fresh().open()
  const silent = { unit: { kind: 'unknown', detail: '' } } as const
  t.same(warnings.see(node('a', [UNKNOWN_FIELD])), [UNKNOWN_FIELD])
  t.same(warnings.see(node('b')), [], 'the next one is not accepted yet')
  t.same(warnings.see(node('b', undefined, silent)), [])
  t.same(warnings.see(node('a', undefined, silent)), [UNKNOWN_FIELD])
  t.same(warnings.see({ ...node('a', undefined, silent), assignedContent: undefined }), [])
})

t.test('many and long ones are bounded, and those left out are counted', async (t) => {
  const { open } = fresh()
  const shown = open().see(
    node('a', [`long\n\u001b ${'é'.repeat(300)}`, ...Array.from({ length: 50 }, (_, at) => `unknown field number ${at}`)]),
  )
  t.match(shown.at(-1), /^and \d\d more: see the log of the agent$/)
  t.ok(shown.every((line) => Buffer.byteLength(line) <= 200 && !/\p{Cc}/u.test(line)))
  t.ok(Buffer.byteLength(shown.join('')) < 600)
})

t.test('what kubelet does otherwise is one sentence for the condition', async (t) => {
  const [first, second] = ['clusterDNS[0]: kubelet starts, and drops "x"', 'maxPods: kubelet starts, and takes the default 110']
  const { open } = fresh()
  const warnings = open()
  const see = (...remarks: string[]) => {
    warnings.see(node('a', remarks))
    return warnings.otherwise(node('a'))
  }
  t.equal(see(UNKNOWN_FIELD), undefined)
  t.equal(see(UNKNOWN_FIELD, first), `a warning: ${first}`)
  t.equal(see(first, UNKNOWN_FIELD, second), `2 warnings, the first: ${first}`)
  t.equal(open().otherwise(node('a')), `2 warnings, the first: ${first}`, 'also when the agent starts again')
  t.equal(open().otherwise(node('b')), undefined, 'another content')
  t.equal(Buffer.byteLength(see(`${first}${'é'.repeat(300)}`) ?? '') <= 300, true)
  t.equal(see(), undefined)
})

t.test('a disk that cannot be written, and a file that is none, stop nothing', async (t) => {
  const { log, files, broken, open } = fresh()
  broken.failure = new Error('ENOSPC')
  const warnings = open()
  for (const _ of [1, 2, 3]) t.same(warnings.see(node('a', [UNKNOWN_FIELD])), [UNKNOWN_FIELD])
  t.equal(log.said('warn').length, 1)
  broken.failure = undefined
  warnings.see(node('a'))
  t.same(open().see(node('a')), [UNKNOWN_FIELD], 'it is written as soon as that is possible')
  for (const text of ['', '{}', '[1]', '{"key":"a","warnings":[1]}']) {
    files.replace('/d/meta/warnings', text)
    t.same(open().see(node('a')), [])
  }
})
