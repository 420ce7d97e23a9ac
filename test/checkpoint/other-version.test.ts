// SPDX-License-Identifier: Apache-2.0
/**
 * Agents of other versions and the records that were added since 0.1.0, whose own are in
 * `older-agent.test.ts`. An agent that does not know a record leaves it where it is, and the files
 * that it writes itself lack it. So each record has a row: what it says, and what its absence,
 * damage, and a field of a later agent mean.
 */
import { posix } from 'node:path'
import t from 'tap'
import { setForeignStateAside } from '../../src/checkpoint/binding.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { FileRecords } from '../../src/checkpoint/records.ts'
import { parseDropInRecord } from '../../src/systemd/drop-in-record.ts'
import { parseOriginalRecord } from '../../src/systemd/original-records.ts'
import { isObject } from '../../src/values/is-object.ts'
import { MemoryRecords } from '../agent/memory-runtime.ts'
import { DROP_IN, KEPT_BASELINE, LEFT, ORIGINAL, RESTARTS, SOURCE } from './agent-0.1.0.ts'
import { FakeDisk } from './fake/fake-disk.ts'
import { faultsOver } from './faults.ts'
import { silentLog } from './silent-log.ts'

const ROOT = '/dynamic'

function open() {
  const disk = new FakeDisk(() => 0)
  const files = new DurableFiles(disk)
  const layout = layoutOf(ROOT)
  const aside: string[] = []
  const options = { files, layout, log: silentLog(), faults: faultsOver() }
  const records = new FileRecords({ ...options, onSetAside: ({ path }) => aside.push(path), run: new MemoryRecords() })
  return { disk, files, layout, records, aside }
}

type Opened = ReturnType<typeof open>

interface Row {
  /** In the dynamic config directory. */
  readonly path: string
  /** As this agent writes it. */
  readonly text: string
  /** The way in which this agent reads the record. */
  readonly read: (opened: Opened) => unknown
  readonly value: unknown
  /** Another agent wrote everything but this, or this without what was added. */
  readonly withoutIt: { readonly text: string | undefined; readonly value: unknown }
  readonly damaged: unknown
}

const STAMP = { bootId: 'boot', hash: 'ab', isLocal: false, sinceUs: 10 }
const ENDED = { ...STAMP, rewording: 'cd', next: 'ef', foundUs: 11 }
const textAt = ({ disk }: Opened, path: string) => disk.read(`${ROOT}/${path}`).toString()

const ROWS: readonly Row[] = [
  {
    path: 'meta/local',
    text: '{"local":["assigned","previous"]}',
    // Both records are empty files.
    read: ({ records, disk, layout }) => {
      for (const name of ['assigned', 'previous'] as const) disk.plant(layout.record(name), '')
      return [records.read('assigned'), records.read('previous')]
    },
    value: [
      { kind: 'source', source: 'local' },
      { kind: 'source', source: 'local' },
    ],
    withoutIt: {
      text: undefined,
      value: [
        { kind: 'source', source: 'local', unconfirmed: true },
        { kind: 'source', source: 'local' },
      ],
    },
    damaged: [
      { kind: 'source', source: 'local', unconfirmed: true },
      { kind: 'source', source: 'local', unconfirmed: true },
    ],
  },
  {
    path: 'meta/left',
    text: JSON.stringify(LEFT),
    read: ({ records }) => records.get('left'),
    value: LEFT,
    withoutIt: { text: JSON.stringify({ sources: LEFT.sources }), value: { sources: LEFT.sources } },
    // Any checkpoint may be one that it names.
    damaged: 'damaged',
  },
  {
    path: 'meta/baseline',
    text: JSON.stringify(KEPT_BASELINE),
    read: ({ records }) => records.get('kept-baseline'),
    value: KEPT_BASELINE,
    withoutIt: { text: undefined, value: undefined },
    damaged: undefined,
  },
  {
    path: 'meta/restart',
    text: JSON.stringify(RESTARTS[0]),
    read: ({ records }) => records.get('last-restart'),
    value: RESTARTS[0],
    withoutIt: { text: undefined, value: undefined },
    damaged: undefined,
  },
  ...[STAMP, ENDED].map(
    (stamp): Row => ({
      path: 'local/0123456789abcdef/record.json',
      text: JSON.stringify({ ...ORIGINAL, stamp }),
      read: (opened) => parseOriginalRecord(textAt(opened, 'local/0123456789abcdef/record.json')),
      value: { ...ORIGINAL, stamp },
      withoutIt: { text: JSON.stringify(ORIGINAL), value: ORIGINAL },
      damaged: undefined,
    }),
  ),
  {
    path: 'drop-ins/0123456789abcdef.json',
    text: JSON.stringify({ ...DROP_IN, stamp: STAMP }),
    read: (opened) => parseDropInRecord(textAt(opened, 'drop-ins/0123456789abcdef.json')),
    value: { ...DROP_IN, stamp: STAMP },
    withoutIt: { text: JSON.stringify({ ...DROP_IN, stamp: { bootId: 7 } }), value: DROP_IN },
    damaged: undefined,
  },
]

/** With a field that no agent knows, in each object. */
function addField(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addField)
  if (!isObject(value)) return value
  return { ...Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, addField(inner)])), addedLater: { more: 1 } }
}

function withoutField(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutField)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, inner]) => (name === 'addedLater' ? [] : [[name, withoutField(inner)]])))
}

/** As JSON shows it: a field that is undefined is left out. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))

for (const { path, text, read, value, withoutIt, damaged } of ROWS) {
  t.test(`${path}: ${text.slice(-60)}`, async (t) => {
    const readWith = (written: string | undefined) => {
      const opened = open()
      if (written !== undefined) opened.disk.plant(`${ROOT}/${path}`, written)
      const found = withoutField(plain(read(opened)))
      return { found, aside: opened.aside }
    }
    const whole = (expected: unknown) => ({ found: plain(expected), aside: [] })
    t.same(readWith(text), whole(value))
    t.same(readWith(JSON.stringify(addField(JSON.parse(text)))), whole(value), 'a field that is not known hides nothing')
    t.same(readWith(withoutIt.text), whole(withoutIt.value), 'of an agent that did not write it')
    for (const garbage of ['', 'garbage', '\0\0']) t.same(readWith(garbage).found, damaged, `damaged: ${JSON.stringify(garbage)}`)
  })
}

t.test('a record that is not known stays where it is, and goes with the rest', async (t) => {
  const { disk, files, layout, records } = open()
  const known = [...new Set(ROWS.map(({ path }) => posix.dirname(path))), 'meta'].map((directory) => `${directory}/added-later`)
  for (const path of known) disk.plant(`${ROOT}/${path}`, '{"later":1}')
  records.put('assigned', SOURCE)
  records.put('last-known-good', 'local')
  records.markLocal()
  records.verdicts()
  files.settle(ROOT)
  for (const path of known) t.equal(disk.read(`${ROOT}/${path}`).toString(), '{"later":1}', path)
  setForeignStateAside(
    files,
    layout,
    () => true,
    () => {},
  )
  t.equal(files.read(`${ROOT}/foreign-1/meta/added-later`)?.toString(), '{"later":1}')
})

t.test('an agent that keeps the last hundred verdicts forgets none of damage that no restart undoes', async (t) => {
  const { disk, layout, records } = open()
  const verdict = { reason: 'validate', detail: '', source: SOURCE, atWallMs: 1 } as const
  records.writeVerdict({ ...verdict, key: 'harmful', state: 'confirmed', damage: 'one-way' })
  for (let index = 0; index < 120; index += 1) records.writeVerdict({ ...verdict, key: `refused-${index}`, state: 'refused' })
  const written = JSON.parse(disk.read(layout.verdicts).toString()) as readonly { readonly key: string }[]
  const byTheOther = [...written, { ...verdict, key: 'new', state: 'refused' }].slice(-100)
  disk.plant(layout.verdicts, JSON.stringify(byTheOther))
  t.ok(records.verdicts().has('harmful'))
})
