import t from 'tap'
import { FakeDisk } from '../../src/checkpoint/fake/fake-disk.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { FileRuntimeRecords } from '../../src/checkpoint/runtime-records.ts'
import type { RestartRecord, SpreadRecord } from '../../src/decision/records.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
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
  t.equal(records.health(), undefined)
  t.same(records.restarts(), [])
  t.equal(records.spread(), undefined)
  const settled: RestartRecord = { ...RESTART, outcome: { ok: false, detail: 'refused' } }
  records.writeHealth(HEALTH)
  records.writeRestarts([RESTART, settled])
  records.writeSpread(SPREAD)
  const next = open(disk).records
  t.same(next.health(), asJson(HEALTH))
  t.same(next.restarts(), asJson([RESTART, settled]))
  t.same(next.spread(), SPREAD)
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
    t.equal(records.health(), undefined, text)
    t.same(records.restarts(), [], text)
    t.equal(records.spread(), undefined, text)
  }
  t.end()
})

t.test('a record that cannot be written is kept in memory, logged once, and written later', (t) => {
  const { disk, log, records } = open()
  records.writeHealth(HEALTH)
  disk.full = true
  records.writeHealth({ ...HEALTH, exits: 1 })
  records.writeHealth({ ...HEALTH, exits: 2 })
  records.writeRestarts([RESTART])
  t.equal(records.health()?.exits, 2)
  t.same(records.restarts(), asJson([RESTART]))
  t.equal(log.said.length, 2)
  t.equal(open(disk).records.health()?.exits, 0)
  disk.full = false
  records.writeHealth({ ...HEALTH, exits: 3 })
  t.equal(records.health()?.exits, 3)
  t.equal(open(disk).records.health()?.exits, 3)
  t.same(open(disk).records.restarts(), asJson([RESTART]), 'with all others')
  t.end()
})

t.test('a file in the place of the runtime directory stops nothing', (t) => {
  const { disk, records } = open()
  disk.plant(RUN, '')
  t.equal(records.health(), undefined)
  records.writeHealth(HEALTH)
  t.same(records.health(), asJson(HEALTH))
  t.end()
})
