// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { DropInsHere } from '../../src/preflight/drop-ins/read-drop-ins.ts'
import { NOTHING_KNOWN } from '../../src/preflight/node/surroundings.ts'
import { describeEffects } from '../../src/preflight/running-effects.ts'
import { unit } from '../decision/snapshots.ts'

const command = (...words: readonly string[]) => ({ command: { path: '/usr/bin/kubelet', words: [...words] } })
const NO_LOCKS = { ...NOTHING_KNOWN, logind: { dropIns: new Map(), locks: [] } }

function describe(config: object | undefined, { words = [] as readonly string[], dropIns = undefined as DropInsHere | undefined } = {}) {
  const running = { unit: unit(command(...words)), path: '/c', version: { major: 1, minor: 34, patch: 1 }, config: config && { ...config } }
  return describeEffects(running, dropIns, NO_LOCKS)
}

t.test('what the config that runs does not do', async (t) => {
  t.same(describe({}), { shutdown: undefined, skipped: [], asksForCertificate: false })
  t.same(describe(undefined), { shutdown: undefined, skipped: [], asksForCertificate: false }, 'it cannot be read')
  t.match(describe({ shutdownGracePeriod: '30s' }).shutdown, /holds no lock of logind/)
  t.equal(describe({ serverTLSBootstrap: true }).asksForCertificate, true)
  t.equal(describe({}, { words: ['--rotate-server-certificates'] }).asksForCertificate, true)
  const order = { below: [], above: [] }
  const skipped = ['/etc/kubelet.d/10-a.yaml']
  t.same(describe({}, { dropIns: { kind: 'usable', directory: '/etc/kubelet.d', order, skipped } }).skipped, [
    'kubelet skips /etc/kubelet.d/10-a.yaml: of --config-dir it reads only the files whose names end in .conf; rename it to 10-a.conf, or move it to another directory',
  ])
  t.same(describe({}, { dropIns: { kind: 'unusable', directory: '/d', path: '/d/x', detail: 'y' } }).skipped, [])
})
