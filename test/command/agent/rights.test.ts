// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findVantage, type PathNeed, readRights, readRightsFrom } from '../../../src/command/agent/rights.ts'

import { until } from '../../until.ts'

const root = process.getuid?.() === 0

function state(path: string, need: PathNeed['need']) {
  return readRights([{ path, need }])[0]
}

t.test('existing paths', async (t) => {
  const directory = t.testdir({ file: 'x' })
  const file = join(directory, 'file')
  t.match(state(directory, 'write'), { state: 'granted' })
  t.match(state(file, 'read'), { state: 'granted' })
  t.match(state(file, 'execute'), { state: 'refused', detail: 'permission denied' }, 'root cannot execute a file without any execute bit')
  chmodSync(file, 0o755)
  t.match(state(file, 'execute'), { state: 'granted' })
})

t.test('missing paths', async (t) => {
  const directory = t.testdir({ file: 'x' })
  t.match(state(join(directory, 'none'), 'read'), { state: 'missing' })
  t.match(state(join(directory, 'a/b/c'), 'write'), { state: 'missing', detail: 'will be created' })
  t.match(readRights([{ path: join(directory, 'none'), need: 'write', mustExist: true }]), [
    { state: 'refused', detail: 'no such directory' },
  ])
  t.match(state(join(directory, 'file/b'), 'write'), { state: 'refused', detail: 'ENOTDIR' })
  t.strictSame(t.testdir(), directory)
})

t.test('refused paths', { skip: root && 'root may access these paths' }, async (t) => {
  const directory = t.testdir({ closed: {} })
  const closed = join(directory, 'closed')
  writeFileSync(join(closed, 'file'), '', { mode: 0o000 })
  chmodSync(closed, 0o500)
  t.match(state(join(closed, 'file'), 'read'), { state: 'refused', detail: 'permission denied' })
  t.match(state(join(closed, 'new'), 'write'), { state: 'refused', detail: /cannot be created in .*closed: permission denied/ })
})

t.test(
  'paths as another process sees them: what is read-only or hidden in its mounts',
  { skip: !root && 'only root makes mounts' },
  async (t) => {
    const directory = t.testdir({ etc: { file: 'x' }, home: { kubeconfig: 'x', plugin: 'x' }, state: {} })
    const [etc, home, state] = ['etc', 'home', 'state'].map((name) => join(directory, name))
    // As ProtectSystem=strict and ProtectHome=yes do it.
    const script = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && mount -t tmpfs none "$2" && touch "$3/ready" && exec sleep 60`
    const sandboxed = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', `${etc}`, `${home}`, `${state}`])
    t.teardown(() => sandboxed.kill())
    await until(() => existsSync(join(directory, 'state/ready')), 'the process has its mounts')
    chmodSync(`${home}/plugin`, 0o755)
    const vantage = findVantage({ kind: 'running', pid: sandboxed.pid })
    t.same(vantage, { kind: 'agent', pid: sandboxed.pid })
    const needs: PathNeed[] = [
      { path: `${etc}`, need: 'write' },
      { path: `${etc}/new/deep`, need: 'write' },
      { path: `${state}`, need: 'write' },
      { path: `${home}/kubeconfig`, need: 'read' },
      { path: `${etc}/none`, need: 'read' },
      { path: `${home}/plugin`, need: 'execute' },
    ]
    t.match(readRightsFrom(vantage, needs), [
      { path: etc, state: 'refused', detail: 'read-only file system' },
      { state: 'refused', detail: `does not exist and cannot be created in ${etc}: read-only file system` },
      { path: state, state: 'granted' },
      { path: `${home}/kubeconfig`, state: 'refused', detail: /sandbox of the unit hides it/ },
      { state: 'missing' },
      { path: `${home}/plugin`, state: 'refused', detail: /sandbox of the unit hides it/ },
    ])
    const outside = findVantage({ kind: 'absent' })
    t.equal(readRightsFrom(outside, needs)[0]?.state, 'granted', 'no agent runs')
  },
)

t.test(
  'paths as a process without capabilities sees them: root cannot read what belongs to others',
  { skip: !root && 'only root gives files away' },
  async (t) => {
    const directory = t.testdir({ theirs: { file: 'x' }, kubeconfig: 'x', open: 'x', own: 'x' })
    const [theirs, kubeconfig, open, own] = ['theirs', 'kubeconfig', 'open', 'own'].map((name) => join(directory, name))
    for (const path of [`${theirs}`, `${kubeconfig}`, `${open}`]) chownSync(path, 1000, 1000)
    chmodSync(`${theirs}`, 0o700)
    chmodSync(`${kubeconfig}`, 0o640)
    chmodSync(`${open}`, 0o644)
    chmodSync(`${own}`, 0o600)
    const needs = [`${kubeconfig}`, `${theirs}/file`, `${open}`, `${own}`].map((path): PathNeed => ({ path, need: 'read' }))
    needs.push({ path: `${theirs}`, need: 'write' }, { path: `${theirs}/new`, need: 'write' })
    const start = async (ready: string, command: string, ...args: string[]) => {
      const script = 'touch "$1" && exec sleep 60'
      const agent = spawn(command, [...args, 'sh', '-c', script, 'sh', join(directory, ready)])
      t.teardown(() => agent.kill())
      await until(() => existsSync(join(directory, ready)), 'the process runs')
      return readRightsFrom(findVantage({ kind: 'running', pid: agent.pid }), needs)
    }
    const denied = { state: 'refused', detail: 'permission denied' }
    t.match(await start('bare', 'setpriv', '--bounding-set=-all', '--inh-caps=-all'), [
      denied,
      denied,
      { state: 'granted' },
      { state: 'granted' },
      denied,
      { state: 'refused', detail: /^does not exist and cannot be created in .*theirs: permission denied$/ },
    ])
    const powerful = await start('powerful', 'env')
    t.same(
      powerful.map(({ state }) => state),
      ['granted', 'granted', 'granted', 'granted', 'granted', 'missing'],
    )
  },
)

t.test('an agent whose files cannot be looked at', async (t) => {
  t.match(findVantage({ kind: 'running', pid: undefined }), { kind: 'outside' })
  t.match(findVantage({ kind: 'running', pid: 2 ** 30 }), { kind: 'outside', why: /process 1073741824 cannot be looked at/ })
  t.match(findVantage({ kind: 'unknown', detail: 'flock is missing' }), { kind: 'outside', why: /flock is missing/ })
})
