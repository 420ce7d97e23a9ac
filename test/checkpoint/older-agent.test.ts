// SPDX-License-Identifier: Apache-2.0
/**
 * A newer agent reads the records of an older one: the frozen files of each version are read with
 * the present code. An older agent reads those of a newer one as far as it can: the same files with
 * a field, or a word, that is not known.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readBinding } from '../../src/checkpoint/binding.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { FileRecords, FileRuntimeRecords } from '../../src/checkpoint/records.ts'
import { FileRequests } from '../../src/checkpoint/requests.ts'
import { SameContents } from '../../src/checkpoint/same-contents.ts'
import { AcceptedWarnings } from '../../src/report/accepted-warnings.ts'
import { parseHistory } from '../../src/report/history.ts'
import { contentOfKey, identityOfKey } from '../../src/subject/trial-key.ts'
import { parseDropInRecord } from '../../src/systemd/drop-in-record.ts'
import { readEnvFile } from '../../src/systemd/env-activation.ts'
import { parseOriginalRecord } from '../../src/systemd/original-records.ts'
import { isObject } from '../../src/values/is-object.ts'
import { snapshot, unit } from '../decision/snapshots.ts'
import * as written from './agent-0.1.0.ts'
import { FakeDisk } from './fake/fake-disk.ts'
import { faultsOver } from './faults.ts'
import { silentLog } from './silent-log.ts'

const FROZEN = join(import.meta.dirname, 'fixtures', '0.1.0')
const ROOT = '/dynamic'
const FILES = readdirSync(FROZEN, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(FROZEN, name)).isFile())
/** Maps, in which a name is no field. */
const MAPS: readonly string[] = ['claims', 'answeredUs']

type Change = (name: string, text: string) => string

function open(change: Change = (_name, text) => text) {
  const disk = new FakeDisk(() => 0)
  const files = new DurableFiles(disk)
  const layout = layoutOf(ROOT)
  const log = silentLog()
  const faults = faultsOver()
  const aside: string[] = []
  for (const name of FILES) {
    const path = name.startsWith('run/') ? `/${name}` : `${ROOT}/${name}`
    disk.plant(path, change(name, readFileSync(join(FROZEN, name), 'utf8')))
  }
  return {
    ...{ files, layout, aside },
    text: (name: string) => disk.read(`${ROOT}/${name}`).toString(),
    records: new FileRecords({
      files,
      layout,
      log,
      onSetAside: ({ path }) => aside.push(path),
      faults,
      run: new FileRuntimeRecords(files, '/run', log),
    }),
    requests: new FileRequests({ files, layout, log, faults }),
    same: new SameContents({ files, layout, log, faults, runtimeDir: '/run' }),
    warnings: new AcceptedWarnings({ files, directory: ROOT, log }),
  }
}

type Opened = ReturnType<typeof open>

/** All but the sources. */
function readAll({ files, layout, records, requests, same, text }: Opened): Readonly<Record<string, unknown>> {
  return {
    proven: records.get('proven')?.key,
    boots: records.get('trial-boots'),
    left: records.get('left'),
    baseline: records.get('kept-baseline'),
    restart: records.get('last-restart'),
    heard: records.get('channel-state'),
    rollouts: records.get('stagings'),
    verdicts: [...records.verdicts().values()],
    same: same.of(written.SAME.content),
    cluster: readBinding(files, layout),
    health: records.get('health'),
    restarts: records.get('restarts'),
    spread: records.get('spread'),
    evidence: records.get('evidence'),
    observation: records.get('observation'),
    turn: records.get('rollout-turn'),
    requests: requests.read(),
    original: parseOriginalRecord(text('record.json')),
    dropIn: parseDropInRecord(text('drop-in.json')),
    env: readEnvFile(text('kubelet.env'), written.ENV_ARGS, (source) => layout.file(source)),
    history: parseHistory(text('history.jsonl')),
  }
}

const ALL = {
  proven: written.PROVEN,
  boots: written.BOOTS,
  left: written.LEFT,
  baseline: written.KEPT_BASELINE,
  restart: written.RESTARTS[0],
  heard: written.HEARD,
  rollouts: written.ROLLOUTS,
  verdicts: written.VERDICTS,
  same: written.SAME.same,
  cluster: written.CLUSTER,
  health: written.HEALTH,
  restarts: written.RESTARTS,
  spread: written.SPREAD,
  evidence: written.EVIDENCE,
  observation: written.OBSERVATION,
  turn: written.TURN,
  requests: { hold: 'local', rollback: { content: written.SAME.same }, retry: true },
  original: written.ORIGINAL,
  dropIn: written.DROP_IN,
  env: { ok: true, source: written.OVERLAID },
  history: { transitions: written.HISTORY, skipped: 0 },
}

/** With a field that no agent knows, in each object. */
function addField(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => addField(each))
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(([field, inner]) => [field, addField(inner, field)] as const)
  return Object.fromEntries(MAPS.includes(name) ? fields : [...fields, ['addedLater', { more: 1 }]])
}

function withoutField(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutField)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, inner]) => (name === 'addedLater' ? [] : [[name, withoutField(inner)]])))
}

const SOURCES: readonly string[] = ['meta/assigned', 'meta/last-known-good', 'meta/previous']

const addFields: Change = (name, text) => {
  if (SOURCES.includes(name)) return text === '' ? text : `${text}    addedLater: x\n`
  if (name === 'kubelet.env') return text.replace(/\{.*\}/, (source) => JSON.stringify(addField(JSON.parse(source))))
  const lines = name === 'history.jsonl' ? text.trimEnd().split('\n') : [text]
  return lines.map((line) => JSON.stringify(addField(JSON.parse(line)))).join('\n')
}

/** As JSON shows it: a field that is undefined is left out. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

t.test('every file of 0.1.0 is read', async (t) => {
  const opened = open()
  t.same(plain(readAll(opened)), plain(ALL))
  const { records, aside, warnings } = opened
  t.same(records.read('assigned'), { kind: 'source', source: written.OVERLAID })
  t.same(records.read('last-known-good'), { kind: 'source', source: written.SOURCE })
  t.same(records.read('previous'), { kind: 'source', source: 'local' })
  const { key } = written.WARNINGS
  const seen = snapshot({ unit: unit({ kubeletIdentity: identityOfKey(key) }), assignedContent: contentOfKey(key), accepted: new Map() })
  t.same(warnings.see(seen), written.WARNINGS.warnings)
  t.same(aside, [])
})

t.test('a field that is not known hides nothing else', async (t) => {
  const opened = open(addFields)
  t.same(withoutField(plain(readAll(opened))), plain(ALL))
  const { records, aside } = opened
  t.match(records.read('assigned'), { kind: 'damaged', detail: /unknown field, addedLater/ }, 'another field can mean another content')
  t.match(records.read('last-known-good'), { kind: 'damaged' })
  t.same(records.read('previous'), { kind: 'source', source: 'local' })
  t.same(aside, [])
})

t.test('a word that is not known', async (t) => {
  const replace = (word: string) => open((_name, text) => text.replaceAll(`"${word}"`, '"later"'))
  t.test('of a verdict leaves it in force', async (t) => {
    const keys = written.VERDICTS.map(({ key }) => key)
    for (const word of ['crash-loop', 'refused', 'provisional', 'confirmed', 'one-way', 'transient', 'static-pods'])
      t.same([...replace(word).records.verdicts().keys()], keys, word)
  })
  t.test('of what can forbid something is damage', async (t) => {
    t.equal(replace('selector').records.get('channel-state'), 'damaged')
    t.equal(replace('switched').records.get('stagings'), 'damaged')
  })
  t.test('of a transition skips that one', async (t) => {
    const { transitions, skipped } = parseHistory(replace('promoted').text('history.jsonl'))
    t.same([transitions.length, skipped], [written.HISTORY.length - 1, 1])
  })
})
