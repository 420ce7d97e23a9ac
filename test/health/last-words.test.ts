// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeletExit } from '../../src/health/exits.ts'
import { findFailure } from '../../src/health/failure.ts'
import { type HealthRecord, recordSample } from '../../src/health/fold.ts'
import { areLatestAlike, findTakenAddress, isSameCause, mayBeNodes, withLastWords } from '../../src/health/last-words.ts'
import { A, B, BOOT, keyOf, NOW_US, POLICY, SECOND_US, unit } from '../decision/snapshots.ts'

const SUBJECT = keyOf(A)
const DOWN = unit({ activity: 'starting', process: { kind: 'none' } })
const PANIC = 'panic: unrecognized feature gate: Nope'

/** A process that started at this second and exited six seconds later. */
const exit = (startedAt: number, fields: Partial<KubeletExit> = {}): KubeletExit => ({
  ...{ key: SUBJECT, invocationId: `i-${startedAt}`, words: PANIC },
  ...{ startedAtUs: NOW_US + startedAt * SECOND_US, atUs: NOW_US + (startedAt + 6) * SECOND_US },
  ...fields,
})

function recordWith(recentExits: readonly KubeletExit[], exits = recentExits.length): HealthRecord {
  const at = { bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 }
  const record = recordSample(
    undefined,
    { at, unit: DOWN, running: { kind: 'none' }, healthz: undefined, runtimeUp: true },
    SUBJECT,
    POLICY,
  )
  if (record === undefined) throw new Error('no record')
  return { ...record, started: true, exits, recentExits }
}

function verdictOn(
  recentExits: readonly KubeletExit[],
  facts: { runtimeUp?: boolean | undefined; changesRuntime?: boolean; exits?: number } = {},
) {
  const { exits = recentExits.length, ...sample } = { runtimeUp: true, ...facts }
  const at = { bootId: BOOT, monotonicUs: NOW_US + 30 * SECOND_US, wallMs: 0 }
  return findFailure(recordWith(recentExits, exits), { unit: DOWN, at, ...sample }, POLICY)?.detail
}

t.test('two exits in a row with the same last words are a crash loop (rule 21)', async (t) => {
  t.equal(verdictOn([exit(0), exit(16)]), `kubelet exited 2 times: ${PANIC}`)
  t.equal(verdictOn([exit(0), exit(16)], { runtimeUp: undefined, changesRuntime: true }), `kubelet exited 2 times: ${PANIC}`)
})

t.test('what is no crash loop of two', async (t) => {
  const cases: readonly (readonly [string, ReturnType<typeof verdictOn>])[] = [
    ['one exit', verdictOn([exit(0)])],
    ['other words', verdictOn([exit(0, { words: 'panic: other' }), exit(16)])],
    ['words that are not known', verdictOn([exit(0), exit(16, { words: undefined })])],
    ['a start that is not known', verdictOn([exit(0, { startedAtUs: undefined }), exit(16)])],
    ['a long time until the first exit', verdictOn([exit(-100, { atUs: NOW_US }), exit(16)])],
    ['a long time until the second exit', verdictOn([exit(0), exit(16, { atUs: NOW_US + 77 * SECOND_US })])],
    ['a long time between them', verdictOn([exit(-90), exit(16)])],
    ['exits of another content', verdictOn([exit(0, { key: keyOf(B) }), exit(16)])],
    ['exits that are not charged', verdictOn([exit(0), exit(16)], { exits: 1 })],
    ['a runtime that is not known to answer', verdictOn([exit(0), exit(16)], { runtimeUp: undefined })],
    ['a runtime that does not answer', verdictOn([exit(0), exit(16)], { runtimeUp: false })],
  ]
  for (const [what, verdict] of cases) t.equal(verdict, undefined, what)
})

t.test('at the limit of exits, words or not', async (t) => {
  const three = [exit(0, { words: 'a' }), exit(10, { words: 'b' }), exit(20, { words: 'c' })]
  t.equal(verdictOn(three), 'kubelet exited 3 times: c')
  t.equal(verdictOn(three.map((each) => ({ ...each, words: undefined }))), 'kubelet exited 3 times')
})

t.test('two exits have the same cause, whatever differs from start to start', async (t) => {
  for (const [before, after] of [
    ['dial tcp 127.0.0.1:41234->127.0.0.1:6443: refused after 1m0.5s', 'dial tcp 127.0.0.1:9->127.0.0.1:6443: refused after 59.9s'],
    ['panic: 0xc000375310 at 2026-11-22T13:44:58.97Z', 'panic: 0xc0aa at 2026-11-22T13:45:09Z'],
    ['pod 1b4e28ba-2fa1-11d2-883f-0016d3cca427 of process 812', 'pod 6fa459ea-ee8a-3ca4-894e-db77e160355e of process 90314'],
    ['at 2026-11-22T13:44:58Z', 'at 2027-01-02 03:04:05.678+01:00'],
    ['at 2026-11-22T13:44:58Z', 'at 2026-11-22T13:44:58-0930'],
    ['at 2026-11-22T13:44:58Z', 'at 2026-11-22T13:44:58'],
    ['after 5ns', 'after 1.5us'],
    ['after 2µs', 'after 10ms'],
    ['after 1h2m3.5s', 'after 59m'],
    ['after 2h', 'after 3s'],
    ['after 1.25s', 'after 3s'],
    ['at 0xABC', 'at 0xdef'],
    ['id deadbeef1', 'id 1A'],
    ['port 1', 'port 22'],
  ] as const)
    t.ok(isSameCause(before, after), before)
  for (const [before, after] of [
    ['unknown flag: --a', 'unrecognized feature gate: A'],
    ['pod abc', 'pod fed'],
    ['3mx', '3sx'],
    ['in cafe', 'in babe'],
    ['exit status 1', 'exit status '],
    ['10250 in use', 'port 10250 in use'],
  ] as const)
    t.notOk(isSameCause(before, after), before)
})

t.test('the bounds of two exits that are alike', (t) => {
  const minute = 60
  const pair = (before: Partial<KubeletExit>, after: Partial<KubeletExit>) =>
    areLatestAlike({ subject: SUBJECT, recentExits: [exit(-500, { words: 'other' }), exit(0, before), exit(16, after)] })
  const at = (second: number) => NOW_US + second * SECOND_US
  t.equal(pair({}, {}), true)
  t.equal(pair({ atUs: at(minute) - 1 }, {}), true, 'just within a minute of its start')
  t.equal(pair({ atUs: at(minute) }, {}), false, 'a minute after it')
  t.equal(pair({}, { atUs: at(16 + minute) - 1 }), true)
  t.equal(pair({}, { atUs: at(16 + minute) }), false)
  t.equal(pair({}, { startedAtUs: at(6 + minute) - 1, atUs: at(70) }), true, 'just within a minute of the exit before')
  t.equal(pair({}, { startedAtUs: at(6 + minute), atUs: at(70) }), false)
  t.equal(pair({ killedBy: 'SIGKILL' }, {}), false)
  t.equal(pair({}, { killedBy: 'SIGKILL' }), false)
  t.same([pair({ lackedRuntime: true }, {}), pair({}, { lackedRuntime: true })], [false, false], 'without its runtime')
  t.equal(pair({ words: undefined }, { words: undefined }), false)
  t.equal(pair({ startedAtUs: undefined }, {}), false)
  t.equal(pair({ words: undefined }, {}), false)
  t.equal(areLatestAlike({ subject: SUBJECT, recentExits: [exit(0), exit(8, { key: keyOf(B), words: 'x' }), exit(16)] }), true)
  t.same([areLatestAlike({ subject: SUBJECT }), areLatestAlike({ subject: SUBJECT, recentExits: [exit(0)] })], [false, false])
  t.end()
})

t.test('the words that are added to what happened', (t) => {
  const add = (...recentExits: readonly KubeletExit[]) => withLastWords('kubelet exited', { subject: SUBJECT, recentExits })
  t.equal(add(), 'kubelet exited')
  t.equal(withLastWords('kubelet exited', { subject: SUBJECT }), 'kubelet exited')
  t.equal(add(exit(0, { words: 'first' }), exit(16)), `kubelet exited: ${PANIC}`)
  t.equal(add(exit(0), exit(16, { words: undefined })), 'kubelet exited', 'of the last exit alone')
  t.equal(add(exit(0), exit(16, { key: keyOf(B), words: 'other' })), `kubelet exited: ${PANIC}`, 'of this config alone')
  t.equal(add(exit(0, { words: undefined, killedBy: 'SIGKILL' })), 'kubelet exited, killed by SIGKILL')
  t.end()
})

t.test('a death by signal says so, and what was said before it explains nothing', async (t) => {
  const killed = [0, 16, 32].map((startedAt) => exit(startedAt, { killedBy: 'SIGSEGV' }))
  t.equal(verdictOn(killed.slice(0, 2)), undefined)
  t.equal(verdictOn(killed), `kubelet exited 3 times, killed by SIGSEGV: ${PANIC}`)
  t.equal(verdictOn(killed.map((each) => ({ ...each, words: undefined }))), 'kubelet exited 3 times, killed by SIGSEGV')
})

t.test('where an address of kubelet was taken, the node itself may be the cause', async (t) => {
  const words = 'listen tcp 0.0.0.0:10250: bind: address already in use'
  const at = { bootId: BOOT, monotonicUs: NOW_US + 30 * SECOND_US, wallMs: 0 }
  const failure = (fields: Partial<KubeletExit>) =>
    findFailure(recordWith([exit(0, fields), exit(16, fields)], 3), { unit: DOWN, at, runtimeUp: true }, POLICY)
  t.match(failure({ words }), { reason: 'crash-loop', doubtful: true })
  t.equal(failure({})?.doubtful, undefined)
  t.equal(failure({ words, killedBy: 'SIGSEGV' })?.doubtful, undefined, 'they explain no signal')
})

t.test('a want of the node, and a signal of others, leave a doubt', async (t) => {
  const isDoubt = (words: string | undefined, killedBy?: string) =>
    mayBeNodes({ subject: SUBJECT, recentExits: [exit(0), exit(16, { words, killedBy })] })
  for (const words of [
    'Failed to run kubelet: mkdir /var/lib/kubelet/plugins: no space left on device',
    'failed to start cAdvisor: inotify_init: too many open files',
    'runtime: failed to create new OS thread (have 9 already; errno=11)',
    'Failed to initialize CSINode after retrying: timed out waiting for the condition',
    'open /var/lib/kubelet/cpu_manager_state: input/output error',
    'fork/exec /usr/bin/nsenter: cannot allocate memory',
  ])
    t.equal(isDoubt(words), true, words)
  t.equal(isDoubt('mkdir /usr/libexec/kubernetes: read-only file system'), false, 'a config may name what cannot be written')
  t.equal(isDoubt('dial unix /run/other.sock: connect: connection refused'), false, 'or nothing that answers')
  t.equal(isDoubt(PANIC), false)
  t.equal(isDoubt(undefined), false)
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']) t.equal(isDoubt(undefined, signal), true, signal)
  for (const signal of ['SIGSEGV', 'SIGABRT', 'SIGBUS']) t.equal(isDoubt(undefined, signal), false, signal)
})

t.test('which address was taken', (t) => {
  const find = (words: string, fields: Partial<KubeletExit> = {}) =>
    findTakenAddress({ subject: SUBJECT, recentExits: [exit(0), exit(16, { words, ...fields })] })
  const at = (address: string) => `"Failed to listen and serve" err="listen tcp ${address}: bind: address already in use"`
  t.same(find(at('0.0.0.0:10250')), { host: '0.0.0.0', port: 10250 })
  t.same(find(at('[fd00::5]:10255')), { host: 'fd00::5', port: 10255 })
  t.same(find(at(':10250')), { host: '0.0.0.0', port: 10250 })
  t.equal(find('bind: address already in use'), undefined)
  t.same(find(`panic: ${at('10.0.0.1:65535')} at main.go`), { host: '10.0.0.1', port: 65535 })
  t.same(find(at('1.2.3.4:1').replace('tcp', 'tcp4')), { host: '1.2.3.4', port: 1 })
  t.same(find(at('[::]:10250').replace('tcp', 'tcp6')), { host: '::', port: 10250 })
  t.same(find(at('[fe80::1%eth0]:10250')), { host: 'fe80::1%eth0', port: 10250 })
  t.equal(find(at('1.2.3.4:65536')), undefined)
  t.equal(find(at('1.2.3.4:123456')), undefined)
  t.equal(find(at('1.2.3.4:http')), undefined)
  t.equal(find(at('1.2.3.4:1').replace('tcp', 'udp')), undefined)
  t.same(
    [[], [exit(0, { words: undefined })]].map((recentExits) => mayBeNodes({ subject: SUBJECT, recentExits })),
    [false, false],
  )
  t.equal(find(at('0.0.0.0:70000')), undefined, 'no port')
  t.equal(find(PANIC), undefined)
  t.equal(find(at('0.0.0.0:10250'), { killedBy: 'SIGKILL' }), undefined)
  t.equal(find(at('0.0.0.0:10250'), { key: keyOf(B) }), undefined, 'that of another config')
  t.end()
})
