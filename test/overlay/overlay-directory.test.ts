// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { parseLocated } from '../../src/kubelet/yaml.ts'
import { OverlayDirectory } from '../../src/overlay/overlay-directory.ts'
import { INSTANCE_CONFIG, OVERLAY } from '../../src/overlay/patch-set.ts'
import type { OverlayFiles } from '../../src/overlay/read-overlay.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

/** A directory and a clock controlled by the test, and the number of texts that were parsed. */
function open(first: Readonly<Record<string, string>> = {}, patches = OVERLAY) {
  const log = silentLog()
  let files: OverlayFiles = filesOf(first)
  let nowMs = 0
  let notify = () => {}
  const sleepers: (() => void)[] = []
  const counts = { parsed: 0, changes: 0 }
  let broken = false
  const overlay = new OverlayDirectory({
    directory: '/o',
    read: () => files,
    yaml: {
      ...IN_PLACE,
      firstOfAny: async (text) => {
        counts.parsed += 1
        if (broken) throw new Error('no such program')
        return parseLocated(text)
      },
    },
    parseConfig: parseLocated,
    watch: (_path, onChange) => {
      notify = onChange
      return { close: async () => {} }
    },
    pace: {
      nowMs: () => nowMs,
      sleep: (_ms, signal) =>
        new Promise((resolve) => {
          sleepers.push(resolve)
          signal.addEventListener('abort', () => resolve())
        }),
    },
    patches,
    log,
  })
  overlay.start(() => {
    counts.changes += 1
  })
  const pass = async (ms: number) => {
    nowMs += ms
    for (const wake of sleepers.splice(0)) wake()
    // Loading, parsing and looking again take a few turns of the microtask queue.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }
  return {
    ...{ overlay, counts, log, pass },
    write: (next: Readonly<Record<string, string>> | OverlayFiles) => {
      files =
        'kind' in next && next.kind === 'faulty'
          ? { kind: 'faulty', detail: String(Object(next).detail) }
          : filesOf(next as Record<string, string>)
      notify()
    },
    breakParser: (isBroken: boolean) => {
      broken = isBroken
    },
    poll: () => notify(),
  }
}

function filesOf(files: Readonly<Record<string, string>>): OverlayFiles {
  return { kind: 'files', files: new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])) }
}

t.test('an empty directory at the start: no overlay after the settle time, and nothing is parsed', async (t) => {
  const { overlay, counts, pass, poll, log } = open()
  t.strictSame(overlay.view(), { kind: 'pending' })
  await pass(320)
  t.strictSame(overlay.view(), { kind: 'none' })
  poll()
  t.same(counts, { parsed: 0, changes: 1 })
  t.same(log.said, [])
  await overlay.stop()
})

t.test('files that are being replaced at the start are not missed', async (t) => {
  const { overlay, write, pass, counts } = open()
  await pass(100)
  write({ 'a.yaml': 'a: 1\n' })
  await pass(320)
  t.match(overlay.view(), { kind: 'present' })
  t.equal(counts.changes, 1)
  await overlay.stop()
})

t.test('files count after they have settled', async (t) => {
  const { overlay, write, pass, counts } = open({ 'a.yaml': 'a: 1\n' })
  t.strictSame(overlay.view(), { kind: 'pending' })
  await pass(320)
  t.match(overlay.view(), { kind: 'present', files: ['a.yaml'] })
  write({ 'a.yaml': 'a: 2\n' })
  await pass(200)
  write({ 'a.yaml': 'a: 2\nb: 3\n' })
  await pass(200)
  t.equal(counts.changes, 1, 'it is being written')
  await pass(320)
  const view = overlay.view()
  t.match(view.kind === 'present' && view.render({ k: 'a: 1\n' }, 'k'), { rendered: { data: { k: '{\n  "a": 2,\n  "b": 3\n}\n' } } })
  t.equal(counts.changes, 2)
  await overlay.stop()
})

t.test('a file that is being replaced still counts in between', async (t) => {
  const { overlay, write, pass, counts } = open({ 'a.yaml': 'a: 1\n' })
  await pass(320)
  write({})
  t.match(overlay.view(), { kind: 'present' })
  await pass(100)
  write({ 'a.yaml': 'a: 1\n' })
  await pass(1000)
  t.match(overlay.view(), { kind: 'present' })
  t.equal(counts.changes, 1)
  write({})
  await pass(320)
  t.strictSame(overlay.view(), { kind: 'none' })
  await overlay.stop()
})

t.test('a fault is logged once with its place, and ends when it is corrected', async (t) => {
  const { overlay, write, pass, log, poll } = open({ 'a.yaml': 'a: [\n' })
  await pass(320)
  t.match(overlay.view(), { kind: 'faulty', detail: /^\/o\/a\.yaml: .* at line/ })
  poll()
  await pass(1000)
  t.equal(log.said.filter((line) => line.includes('cannot be used')).length, 1)
  write({ kind: 'faulty', detail: '/o/a.yaml is writable by group or others' })
  await pass(320)
  t.match(overlay.view(), { kind: 'faulty', detail: /by group or others/ })
  write({ 'a.yaml': 'a: 1\n' })
  await pass(320)
  t.match(overlay.view(), { kind: 'present' })
  await overlay.stop()
})

t.test('a parser that cannot run runs again at the next look; until then nothing changes', async (t) => {
  const { overlay, pass, counts, breakParser, poll } = open({ 'a.yaml': 'a: 1\n' })
  breakParser(true)
  await pass(320)
  t.strictSame(overlay.view(), { kind: 'pending' })
  await pass(1000)
  t.equal(counts.parsed, 1, 'not before the next look')
  breakParser(false)
  poll()
  await pass(320)
  t.match(overlay.view(), { kind: 'present' })
  await overlay.stop()
})

t.test('the log says of a faulty instance config which ConfigMap it is for', async (t) => {
  const { overlay, pass, log } = open({ 'instance-config.yaml': 'containerRuntimeEndpoint: "unix:///var/ru' }, INSTANCE_CONFIG)
  await pass(320)
  t.equal(overlay.view().kind, 'faulty')
  t.match(log.said, [/instance config cannot be used; nothing is changed where ConfigMap kube-system\/kubelet-config is assigned: /])
})
