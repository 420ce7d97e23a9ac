// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { readLocalConfig, readSourceRecord } from '../../src/agent/node-configs.ts'
import type { SourceName } from '../../src/decision/records.ts'
import type { ActivationStamp } from '../../src/ports/activation.ts'
import type { Records } from '../../src/ports/store.ts'
import type { KnownUnit } from '../../src/subject/unit-state.ts'
import { dropInWiring } from '../../src/systemd/wiring-kinds.ts'
import { BOOT, INVOCATION, NOW_US, READY, SECOND_US, unit } from '../decision/snapshots.ts'

const PATH = '/var/lib/kubelet/config.yaml'
const read = (bytes: () => Buffer | undefined, facts: Partial<KnownUnit> = {}) =>
  readLocalConfig({ readLocal: () => bytes() }, { ...unit(), wiring: READY, localConfigPath: PATH, ...facts })
const text = () => Buffer.from('maxPods: 1\n')

t.test('the text of the local config, with its path', async (t) => {
  t.same(read(text), { kind: 'found', path: PATH, text: 'maxPods: 1\n' })
})

t.test('with a drop-in of the agent, kubelet merges it over that file', async (t) => {
  t.same(read(text, { wiring: dropInWiring('/etc/kubelet.d') }), { kind: 'found', path: PATH, text: 'maxPods: 1\n', staysBelow: true })
})

t.test('a file that cannot be used says why', async (t) => {
  t.match(
    read(() => undefined),
    { kind: 'unusable', detail: `${PATH} does not exist` },
  )
  t.match(
    read(() => Buffer.from([0xff])),
    { kind: 'unusable', detail: /not valid UTF-8/ },
  )
  t.match(
    read(() => Buffer.alloc((1 << 20) + 1, 'a')),
    { kind: 'unusable', detail: /more than 1048576 bytes/ },
  )
  const fails = () => {
    throw new Error(`${PATH} cannot be read: EIO`)
  }
  t.match(read(fails), { kind: 'unusable', detail: `${PATH} cannot be read: EIO` })
  t.match(read(text, { localConfigPath: undefined }), { kind: 'unusable', detail: /its unit has no --config/ })
})

t.test('a unit that is not known, or does not take its config from the agent, does not tell', async (t) => {
  const activation = { readLocal: text }
  t.match(readLocalConfig(activation, { kind: 'unknown', detail: 'no answer' }), { kind: 'unknown', detail: 'no answer' })
  const wiring = { kind: 'broken', reason: 'daemon-reload-needed', detail: 'x' } as const
  t.match(read(text, { wiring }), { kind: 'unknown', detail: 'x' })
})

/** Nothing is recorded. */
const RECORDS: Pick<Records, 'read'> = { read: () => ({ kind: 'source', source: 'local', absent: true }) }
const STARTED_US = NOW_US - 60 * SECOND_US

function readWith(since: ActivationStamp | undefined, name: SourceName = 'assigned') {
  return readSourceRecord(RECORDS, name, {
    unit: unit({ startedAtUs: STARTED_US }),
    activation: { kind: 'local', since },
    lastProcess: undefined,
  })
}

t.test('without a record nothing was assigned, unless the file of kubelet held something else when it started', async (t) => {
  t.match(readWith(undefined), { kind: 'source', source: 'local' })
  t.match(readWith({ bootId: BOOT, monotonicUs: STARTED_US - 1 }), { kind: 'source', source: 'local' })
  t.match(readWith({ bootId: BOOT, monotonicUs: STARTED_US + 1 }), { kind: 'damaged', detail: /is lost/ })
  t.match(readWith({ bootId: BOOT, monotonicUs: STARTED_US + 1, runsIn: 'another' }), { kind: 'damaged' })
  t.match(readWith({ bootId: BOOT, monotonicUs: STARTED_US + 1, runsIn: INVOCATION }), { kind: 'source', source: 'local' })
  const isInUse = { bootId: BOOT, monotonicUs: STARTED_US + 1 }
  t.match(readWith(isInUse, 'last-known-good'), { kind: 'damaged', detail: /meta\/last-known-good is lost/ })
  t.match(readWith(isInUse, 'previous'), { kind: 'source', source: 'local' }, 'which is written at the first promotion')
})
