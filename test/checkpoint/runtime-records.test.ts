// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { FileRuntimeRecords } from '../../src/checkpoint/records.ts'
import type { RestartRecord, SpreadRecord } from '../../src/decision/records.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import { FakeDisk } from './fake/fake-disk.ts'
import { silentLog } from './silent-log.ts'

const RUN = '/run/kubelet-cfg-agent'
const HEALTH: HealthRecord = {
  bootId: 'boot',
  subject: 'content@kubelet',
  subjectSinceUs: 1,
  starts: 1,
  started: true,
  invocationId: 'invocation',
  wasHealthy: true,
  everHealthy: true,
  healthySinceUs: 2.5,
  unhealthySinceUs: undefined,
  lastSampleUs: 3,
  excused: false,
  exits: 0,
  lastNRestarts: 0,
  lastProcess: { invocationId: 'invocation', content: 'content', kubeletIdentity: 'kubelet' },
  lastDetail: 'ok',
}
const RESTART: RestartRecord = {
  bootId: 'boot',
  atUs: 1,
  target: 'content@kubelet',
  fallback: false,
  invocationBefore: '',
  failed: false,
  outcome: undefined,
}
const SPREAD: SpreadRecord = {
  bootId: 'boot',
  source: { namespace: 'n', name: 'n', kubeletConfigKey: 'k', uid: 'u', resourceVersion: '1' },
  sinceUs: 1,
}

/** Without the fields that are undefined. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function open(disk = new FakeDisk(() => 0)) {
  const log = silentLog()
  return { disk, log, records: new FileRuntimeRecords(new DurableFiles(disk), RUN, log) }
}

t.test('nothing is known after boot; a restarted agent reads what was written', (t) => {
  const { disk, records } = open()
  t.equal(records.get('health'), undefined)
  t.equal(records.get('restarts'), undefined)
  t.equal(records.get('spread'), undefined)
  const settled: RestartRecord = { ...RESTART, outcome: { ok: false, detail: 'refused' } }
  records.put('health', HEALTH)
  records.put('restarts', [RESTART, settled])
  records.put('spread', SPREAD)
  const next = open(disk).records
  t.same(next.get('health'), asJson(HEALTH))
  t.same(next.get('restarts'), asJson([RESTART, settled]))
  t.same(next.get('spread'), SPREAD)
  t.end()
})

t.test('an invalid record counts as absent', (t) => {
  const wrong = [
    '',
    'garbage',
    'null',
    '[]',
    '{}',
    JSON.stringify({ ...HEALTH, exits: '3' }),
    JSON.stringify({ ...HEALTH, bootId: undefined }),
    JSON.stringify([{ ...RESTART, atUs: null }]),
    JSON.stringify({ ...SPREAD, source: 'somewhere' }),
  ]
  for (const text of wrong) {
    const { disk, records } = open()
    for (const name of ['health', 'restarts', 'spread']) disk.plant(`${RUN}/${name}`, text)
    t.equal(records.get('health'), undefined, text)
    t.same(records.get('restarts') ?? [], [], text)
    t.equal(records.get('spread'), undefined, text)
  }
  t.end()
})

t.test('a record that cannot be written is kept in memory, logged once, and written later', (t) => {
  const { disk, log, records } = open()
  records.put('health', HEALTH)
  disk.full = true
  records.put('health', { ...HEALTH, exits: 1 })
  records.put('health', { ...HEALTH, exits: 2 })
  records.put('restarts', [RESTART])
  t.equal(records.get('health')?.exits, 2)
  t.same(records.get('restarts'), asJson([RESTART]))
  t.equal(log.said.length, 2)
  t.equal(open(disk).records.get('health')?.exits, 0)
  disk.full = false
  records.put('health', { ...HEALTH, exits: 3 })
  t.equal(records.get('health')?.exits, 3)
  t.equal(open(disk).records.get('health')?.exits, 3)
  t.same(open(disk).records.get('restarts'), asJson([RESTART]), 'with all others')
  t.end()
})

t.test('a file in the place of the runtime directory stops nothing', (t) => {
  const { disk, records } = open()
  disk.plant(RUN, '')
  t.equal(records.get('health'), undefined)
  records.put('health', HEALTH)
  t.same(records.get('health'), asJson(HEALTH))
  t.end()
})
