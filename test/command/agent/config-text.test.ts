// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { readActiveConfig } from '../../../src/command/agent/config-text.ts'
import type { Snapshot } from '../../../src/decision/snapshot.ts'
import { fileWiring } from '../../../src/systemd/wiring-kinds.ts'
import { following, held, runningContent, snapshot, source, unit } from '../../report/build.ts'

const LOCAL_PATH = '/var/lib/kubelet/config.yaml'
const good = source('100')
const next = source('200')

function read(state: Snapshot, files: Readonly<Record<string, string>> = { [LOCAL_PATH]: 'local text' }) {
  return readActiveConfig(state, {
    checkpoints: { data: (_, version) => (version === '404' ? undefined : { kubelet: `text of ${version}` }) },
    files: { read: (path) => (files[path] === undefined ? undefined : Buffer.from(files[path])) },
  })
}

t.test('reads a checkpoint or the local config', async (t) => {
  t.match(read(following(good)), { ok: true, name: 'kube-system/my-node-config:kubelet@100', text: 'text of 100' })
  t.same(read(snapshot()), { ok: true, name: LOCAL_PATH, text: 'local text', place: 'local' })
})

t.test('reads what runs, not what kubelet starts with next', async (t) => {
  const waiting = following(next, { lastKnownGood: held(good), running: runningContent('content-100') })
  t.match(read(waiting), { ok: true, text: 'text of 100' })
  t.match(read({ ...waiting, running: { kind: 'none' }, unit: unit({ process: { kind: 'none' } }) }), { ok: true, text: 'text of 200' })
})

t.test('a file that was replaced after kubelet started does not show what runs', async (t) => {
  const named = unit({ wiring: fileWiring(LOCAL_PATH) })
  t.match(read(snapshot({ unit: named })), { ok: true, text: 'local text' })
  const replaced = snapshot({ unit: named, nextStart: { kind: 'known', held: held(good) } })
  t.match(read(replaced), { ok: false, detail: /was replaced/ })
})

t.test('reads a config that the agent does not manage', async (t) => {
  const process = { kind: 'other', pid: 1, configPath: '/etc/other.yaml' } as const
  const foreign = snapshot({ unit: unit({ process }), running: runningContent('other:/etc/other.yaml') })
  t.match(read(foreign, { '/etc/other.yaml': 'foreign' }), { ok: true, name: '/etc/other.yaml', text: 'foreign' })
  t.match(read(snapshot({ unit: unit({ process: { ...process, configPath: undefined } }), running: runningContent('other:none') })), {
    ok: false,
  })
})

t.test('reports why the config is unknown', async (t) => {
  t.same(read(snapshot({ unit: { kind: 'unknown', detail: 'no systemctl' } })), { ok: false, detail: 'no systemctl' })
  t.same(read(snapshot(), {}), { ok: false, detail: `${LOCAL_PATH} does not exist` })
  t.match(read(snapshot({ unit: unit({ localConfigPath: undefined }) })), { ok: false, detail: /no local config file/ })
  t.match(read(following(source('404'))), { ok: false, detail: /the checkpoint of .*@404 is missing/ })
  const failing = readActiveConfig(snapshot(), {
    checkpoints: { data: () => undefined },
    files: {
      read: () => {
        throw Object.assign(new Error('cannot read it'), { code: 'EACCES' })
      },
    },
  })
  t.same(failing, { ok: false, detail: 'cannot read it' })
})
