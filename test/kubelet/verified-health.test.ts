// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type PortHealth, VerifiedHealthProbe } from '../../src/kubelet/verified-health.ts'
import type { PortHolder } from '../../src/ports/probes.ts'

const TARGET = { host: '127.0.0.1', port: 10248 }
const OWN: PortHolder = { kind: 'own', inodes: ['1'] }
const STRANGER: PortHolder = { kind: 'stranger', uid: 65534, inodes: ['2'] }
const NOBODY: PortHolder = { kind: 'unseen', detail: 'nobody listens there' }
const UNTOLD: PortHolder = { kind: 'untold', detail: 'EACCES' }
const OK: PortHealth = { ok: true, detail: 'ok' }
const FAILING: PortHealth = { ok: false, detail: 'HTTP 500' }
const REFUSED: PortHealth = { ok: false, detail: 'connection refused', unreached: 'refused' }
const SILENT: PortHealth = { ok: false, detail: 'no answer within 2 s', unreached: 'other' }

/** Each look and each question takes the next of its row; the last one goes on. */
function open(holders: readonly PortHolder[], answers: readonly PortHealth[], keeper = NOBODY) {
  const counts = { looks: 0, asked: 0, seconds: 0 }
  const next = <T>(row: readonly T[], index: number): T => row[Math.min(index, row.length - 1)] as T
  const probe = new VerifiedHealthProbe(
    { healthz: async () => next(answers, counts.asked++) },
    { holderOf: () => next(holders, counts.looks++), keeperOf: async () => keeper },
    { now: () => ({ bootId: 'b', monotonicUs: counts.seconds * 1e6, wallMs: 0 }) },
  )
  return { ask: (pid = 7) => probe.healthz(TARGET, pid), counts }
}

t.test('only what kubelet answers counts', async (t) => {
  const who = 'a process of uid 65534, which is not kubelet, has port 10248 of 127.0.0.1'
  const strangers = { ok: 'unknown', detail: who }
  const cases: [holder: PortHolder, answer: PortHealth, health: object][] = [
    [OWN, OK, OK],
    [OWN, FAILING, FAILING],
    [OWN, SILENT, { ok: false, detail: SILENT.detail }],
    [OWN, REFUSED, { ok: false, detail: 'connection refused' }],
    [STRANGER, OK, strangers],
    [STRANGER, FAILING, strangers],
    [STRANGER, SILENT, strangers],
    [NOBODY, REFUSED, { ok: false, detail: 'connection refused' }],
    [NOBODY, SILENT, { ok: false, detail: SILENT.detail }],
    [NOBODY, FAILING, { ok: 'unknown', detail: /nobody listens there/ }],
    [NOBODY, OK, { ok: 'unknown', detail: /nobody listens there/ }],
    [UNTOLD, OK, { ...OK, unverified: 'EACCES' }],
    [UNTOLD, FAILING, { ...FAILING, unverified: 'EACCES' }],
  ]
  for (const [holder, answer, health] of cases) t.match(await open([holder], [answer]).ask(), health, `${holder.kind}: ${answer.detail}`)
})

t.test('whoever keeps the port from kubelet is not its illness', async (t) => {
  const refused = (keeper: PortHolder) => open([NOBODY], [REFUSED], keeper).ask()
  t.match(await refused(NOBODY), { ok: false, detail: 'connection refused' })
  t.match(await refused(STRANGER), { ok: 'unknown', detail: /uid 65534/ }, 'it listens by now')
  t.match(await refused(OWN), { ok: false }, 'kubelet listens by now')
  t.match(await refused(UNTOLD), { ok: false, unverified: 'EACCES' })
  const unnamed: PortHolder = { kind: 'stranger', uid: undefined, inodes: [] }
  const detail = 'a process that does not listen there has port 10248 of 127.0.0.1, so that kubelet cannot'
  t.same(await refused(unnamed), { ok: 'unknown', detail, isStrangers: true })
  const left = open([OWN], [REFUSED, OK], unnamed)
  await left.ask()
  t.same(await left.ask(), OK, 'kubelet has it by now')
})

t.test('whoever has the port only for a moment is not believed', async (t) => {
  t.match(await open([OWN], [OK, FAILING]).ask(), { ok: false, detail: 'HTTP 500' }, 'kubelet is asked once it has the port')
  t.match(await open([OWN, STRANGER], [OK]).ask(), { ok: 'unknown', detail: /uid 65534/ })
  const other: PortHolder = { kind: 'own', inodes: ['3'] }
  t.match(await open([OWN, other], [OK]).ask(), { ok: 'unknown', detail: /changes hands/ })
})

t.test('a kubelet that is known to have the port is believed until it answers otherwise', async (t) => {
  const { ask, counts } = open([OWN, OWN, OWN, STRANGER], [OK, OK, OK, OK, FAILING, OK, REFUSED, OK])
  for (let i = 0; i < 3; i++) await ask()
  t.match(counts, { looks: 2, asked: 4 })
  t.match(await ask(), { ok: false, detail: 'HTTP 500' })
  t.match(await ask(), OK)
  t.equal(counts.looks, 3)
  t.match(await ask(), { ok: false, detail: 'connection refused' })
  t.equal(counts.looks, 3, 'the kernel says that nobody listens')
  t.match(await ask(), { ok: 'unknown', detail: /uid 65534/ }, 'and whoever listens then has to be known')
  const another = open([OWN, OWN, STRANGER], [OK])
  await another.ask()
  t.match(await another.ask(8), { ok: 'unknown', detail: /uid 65534/ }, 'so has another process')
})

t.test('a port that is not known to be that of kubelet is looked at again, and not all the time', async (t) => {
  for (const holder of [STRANGER, UNTOLD]) {
    const { ask, counts } = open([holder, OWN], [OK])
    const first = await ask()
    counts.seconds = 9
    t.same(await ask(), first)
    t.equal(counts.looks, 1, 'a look costs more than an answer')
    counts.seconds = 10
    t.same(await ask(), OK, `${holder.kind}: kubelet has it by now`)
  }
  const left = open([STRANGER, OWN], [OK, REFUSED, OK])
  t.match(await left.ask(), { ok: 'unknown' })
  await left.ask()
  t.same(await left.ask(), OK, 'the stranger has given it up')
  const starting = open([NOBODY, OWN], [SILENT, OK])
  await starting.ask()
  t.same(await starting.ask(), OK, 'a port that nobody had is looked at at once')
})
