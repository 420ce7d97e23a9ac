// SPDX-License-Identifier: Apache-2.0
/** `release` as a process, over real files and the composition root. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { FileCheckpoints } from '../../../../src/checkpoint/checkpoints.ts'
import { DurableFiles } from '../../../../src/checkpoint/files.ts'
import { layoutOf } from '../../../../src/checkpoint/layout.ts'
import { takeLock } from '../../../../src/checkpoint/lock.ts'
import { NodeDisk } from '../../../../src/checkpoint/node-disk.ts'
import { FileRecords } from '../../../../src/checkpoint/records.ts'
import type { ConfigMapSource } from '../../../../src/subject/config-source.ts'
import { UnitActivation } from '../../../../src/systemd/activation.ts'
import { envWiring, fileWiring } from '../../../../src/systemd/wiring-kinds.ts'
import { MemoryRecords } from '../../../agent/memory-runtime.ts'
import { faultsOver } from '../../../checkpoint/faults.ts'
import { silentLog } from '../../../checkpoint/silent-log.ts'
import { source } from '../../../report/build.ts'

const ROOT = resolve(import.meta.dirname, '../../../..')
/** The bundle: it starts in a fraction of the time that the modules take one by one. */
const built = mkdtempSync(join(tmpdir(), 'release-built-'))
t.teardown(() => rmSync(built, { recursive: true }))
const build = spawnSync(process.execPath, ['scripts/build.mjs', 'src/main.ts', built], { cwd: ROOT, encoding: 'utf8' })
t.equal(build.status, 0, build.stderr)
const MAIN = join(built, 'kubelet-cfg-agent.mjs')
const GOOD = source('1')
const TRIED = source('2')
const ORIGINAL = '{"kind":"KubeletConfiguration"}'

/** A node whose kubelet is stopped, on which GOOD is last-known-good and TRIED is activated. */
function node(t: Test, activation: 'env' | 'file') {
  const root = mkdtempSync(join(tmpdir(), 'release-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const directory = join(root, 'state')
  const envFile = join(directory, 'kubelet.env')
  const configPath = join(root, 'config.json')
  writeFileSync(configPath, ORIGINAL)
  const command = activation === 'env' ? '$KUBELET_CONFIG_ARGS' : `--config=${configPath}`
  const properties = [
    'LoadState=loaded',
    'ActiveState=inactive',
    'SubState=dead',
    'Result=success',
    'MainPID=0',
    'InvocationID=',
    'NRestarts=0',
    'ExecMainStartTimestampMonotonic=0',
    `ExecStart={ path=${process.execPath} ; argv[]=${process.execPath} ${command} ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }`,
    `Environment=KUBELET_CONFIG_ARGS=--config=${configPath}`,
    ...(activation === 'env' ? [`EnvironmentFiles=${envFile} (ignore_errors=yes)`] : []),
    'DropInPaths=',
    'NeedDaemonReload=no',
  ]
  const systemctl = join(root, 'systemctl')
  writeFileSync(systemctl, `#!/bin/sh\necho "$1" >> ${root}/calls\ncat <<'END'\n${properties.join('\n')}\nEND\n`, { mode: 0o755 })

  const files = new DurableFiles(new NodeDisk())
  const layout = layoutOf(directory)
  const checkpoints = new FileCheckpoints(files, layout, () => {}, faultsOver())
  const records = new FileRecords({ files, layout, log: silentLog(), onSetAside: () => {}, faults: faultsOver(), run: new MemoryRecords() })
  for (const { uid, resourceVersion } of [GOOD, TRIED]) checkpoints.save(uid, resourceVersion, { kubelet: `version: ${resourceVersion}` })
  records.put('last-known-good', GOOD)
  records.put('assigned', TRIED)
  const activate = (target: ConfigMapSource) => {
    const clock = { now: () => ({ bootId: 'b', monotonicUs: 1, wallMs: Date.now() }) }
    const parts = {
      files,
      ownership: { give: () => {} },
      clock,
      dynamicConfigDir: directory,
      envFile,
      runtimeDir: join(root, 'run'),
      log: silentLog(),
    }
    new UnitActivation(parts).activate(target, activation === 'env' ? envWiring(envFile, '') : fileWiring(configPath))
  }
  const flags = [
    '--dynamic-config-dir',
    directory,
    '--runtime-dir',
    join(root, 'run'),
    '--kubelet-env-file',
    envFile,
    '--systemctl',
    systemctl,
  ]
  const release = () =>
    new Promise<{ code: number | string; out: string; err: string }>((done) => {
      const args = [MAIN, 'release', ...flags]
      execFile(process.execPath, args, (error, out, err) => done({ code: error?.code ?? 0, out, err }))
    })
  const calls = () => (existsSync(join(root, 'calls')) ? new Set(readFileSync(join(root, 'calls'), 'utf8').trim().split('\n')) : new Set())
  /** As if kubelet's package was removed first. */
  const forgetUnit = () => writeFileSync(systemctl, '#!/bin/sh\necho LoadState=not-found\n', { mode: 0o755 })
  const silence = () => writeFileSync(systemctl, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  return { release, activate, forgetUnit, silence, calls, layout, directory, envFile, configPath, checkpoints }
}

t.test('kubelet.env names last-known-good, and nothing was restarted', async (t) => {
  const { release, activate, calls, envFile, checkpoints } = node(t, 'env')
  activate(TRIED)
  t.match(readFileSync(envFile, 'utf8'), checkpoints.path(TRIED))
  t.match(await release(), { code: 0, out: /next start uses kube-system\/my-node-config:kubelet@1: /, err: '' })
  t.match(readFileSync(envFile, 'utf8'), checkpoints.path(GOOD))
  t.match(await release(), { code: 0, out: /^Nothing to release: kubelet starts with last-known-good next/m, err: '' })
  for (const call of calls()) t.ok(call === 'show' || call === 'is-system-running', String(call))
})

t.test('restores the original of a replaced file', async (t) => {
  const { release, activate, configPath } = node(t, 'file')
  activate(TRIED)
  t.equal(readFileSync(configPath, 'utf8'), 'version: 2')
  t.match(await release(), { code: 0, out: /next start uses local/, err: '' })
  t.equal(readFileSync(configPath, 'utf8'), ORIGINAL)
})

t.test('restores the original even if the unit no longer names the file', async (t) => {
  const { release, activate, configPath, forgetUnit } = node(t, 'file')
  activate(TRIED)
  forgetUnit()
  t.match(await release(), { out: /config\.json has its original content again\./ })
  t.equal(readFileSync(configPath, 'utf8'), ORIGINAL)
})

t.test('restores the original after the directory was lost, and then there is nothing to do', async (t) => {
  const { release, activate, directory, configPath } = node(t, 'file')
  activate(TRIED)
  rmSync(directory, { recursive: true })
  t.match(await release(), { code: 0, out: /next start uses local/, err: '' })
  t.equal(readFileSync(configPath, 'utf8'), ORIGINAL)
  rmSync(directory, { recursive: true })
  t.match(await release(), { code: 0, out: 'Nothing to release: no agent has worked on this node.\n', err: '' })
})

t.test('says so where the directory was lost, and systemd does not answer', async (t) => {
  const { release, activate, directory, configPath, silence } = node(t, 'file')
  activate(TRIED)
  rmSync(directory, { recursive: true })
  silence()
  t.match(await release(), { code: 1, out: '', err: /state does not exist, and kubelet's unit is unknown: systemctl show/ })
  t.equal(readFileSync(configPath, 'utf8'), 'version: 2')
  t.notOk(existsSync(directory))
})

t.test('does nothing while an agent is running, and names the agent', async (t) => {
  const { release, activate, layout, envFile, checkpoints, calls } = node(t, 'env')
  activate(TRIED)
  const taken = takeLock(layout.lock, process.pid)
  t.ok(taken.ok)
  t.match(await release(), { code: 1, out: '', err: `another agent (process ${process.pid}) uses this directory: stop it first` })
  if (taken.ok) taken.lock.release()
  t.match(readFileSync(envFile, 'utf8'), checkpoints.path(TRIED))
  t.equal(calls().size, 0, 'it did not call systemctl')
})

t.test('creates no directory on a node that never had an agent', async (t) => {
  const { release, directory } = node(t, 'env')
  rmSync(directory, { recursive: true })
  t.match(await release(), { code: 0, out: 'Nothing to release: no agent has worked on this node.\n', err: '' })
  t.notOk(existsSync(directory))
})
