// SPDX-License-Identifier: Apache-2.0
/**
 * The packages on a node: installed, upgraded in the middle of a trial, removed, installed again
 * and purged, and kubelet's process is the same through each of it. Only where `npm run package`
 * has made them.
 */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { run } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import type { Source } from '../records.ts'
import { assignNew, promoteGood } from './assign.ts'
import { findDeb, findRpm, installDeb } from './install-agent.ts'
import { type Node, withNode } from './node.ts'

const AGENT = 'kubelet-cfg-agent'
const COMPILED = '/var/cache/kubelet-cfg-agent/compiled'
/** A trial that is over at once, and one that goes on while the test looks at it. */
const SHORT = { TRIAL_DURATION: '1s' }
const LONG = { TRIAL_DURATION: '1h' }
const SPEC = join(import.meta.dirname, '../../../packaging/rpm/kubelet-cfg-agent.spec')

export async function addPackageScenarios(plane: ControlPlane, program: string): Promise<void> {
  const [deb, rpm] = [await findDeb(), await findRpm()]
  if (deb === undefined) console.log('no deb in dist: the agent is installed by hand, and the scenarios of the packages are left out')
  if (deb !== undefined) addDebScenario(plane, program, deb)
  if (rpm !== undefined) addRpmScenario(plane, program, rpm)
}

function addDebScenario(plane: ControlPlane, program: string, deb: string): void {
  const options = { name: 'deb', settings: SHORT, agent: 'absent' } as const
  scenario('node: the deb is upgraded, removed, installed again and purged', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      const previous = await step('a package of an earlier version is made', () =>
        withVersion(join(plane.directory, 'previous-deb'), deb, '0.0.1'),
      )
      await step('it is installed: enabled, running, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          await installDeb(node, previous)
          await admin.untilStatus({})
          assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
        }),
      )
      const good = await step('a good one is promoted', () => promoteGood(node, admin))
      const next = await step('another one is on trial', () => onTrial(node, admin, 'next', 61, good))
      await step('upgraded: another agent, which resumes the trial, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          const before = await node.show(AGENT, 'MainPID')
          await installDeb(node, deb)
          assert.notDeepEqual(await node.show(AGENT, 'MainPID'), before)
          await node.configureAgent(SHORT)
          await admin.untilStatus({ assigned: next, active: next, lastKnownGood: next })
          assert.notDeepEqual(await readdir(node.host(COMPILED)), [], 'nothing that Node.js compiled is kept')
        }),
      )
      const last = await step('a third one is on trial', () => onTrial(node, admin, 'last', 71, next))
      await step('removed: kubelet goes on, and the state stays', () =>
        keepingKubelet(node, async () => {
          const { stdout } = await node.exec('apt-get', 'remove', '--yes', AGENT)
          assert.match(stdout, /its next start uses its local config/)
          assert.match(node.read('meta', 'assigned') ?? '', new RegExp(last.uid))
          // A later installation must not arm a config that no agent has checked by then.
          assert.equal(node.read('kubelet.env'), undefined)
          const { DropInPaths, NeedDaemonReload } = await node.show('kubelet', 'DropInPaths', 'NeedDaemonReload')
          assert.doesNotMatch(DropInPaths, /kubelet-cfg-agent/)
          assert.equal(NeedDaemonReload, 'no')
          assert.equal(existsSync(node.host(COMPILED)), false)
        }),
      )
      await step("kubelet's next start uses its local config", async () => {
        await node.systemctl('restart', 'kubelet')
        await node.untilRuns(110)
      })
      await step('installed again: it takes up what is assigned', async () => {
        await node.prepareAgent(SHORT)
        await installDeb(node, deb)
        await admin.untilStatus({ assigned: last, active: last, lastKnownGood: last })
        await node.untilRuns(71)
      })
      await step('purged: kubelet goes on, and what it runs is all that is left', () =>
        keepingKubelet(node, async () => {
          await node.exec('apt-get', 'purge', '--yes', AGENT)
          assert.match(node.read('checkpoints', last.uid, last.resourceVersion, 'kubelet') ?? '', /maxPods: 71/)
          for (const gone of ['kubelet.env', 'history.jsonl', 'meta/assigned']) assert.equal(node.read(gone), undefined)
          assert.equal(node.read('checkpoints', good.uid, good.resourceVersion, 'kubelet'), undefined)
        }),
      )
      await step("and kubelet's next start uses its local config", async () => {
        await node.systemctl('restart', 'kubelet')
        await node.untilRuns(110)
      })
    }),
  )
}

function addRpmScenario(plane: ControlPlane, program: string, rpm: string): void {
  const options = { name: 'rpm', settings: SHORT, agent: 'absent' } as const
  scenario('node: the rpm is installed, upgraded and erased', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      const previous = await step('a package of an earlier version is made', () =>
        earlierRpm(join(plane.directory, 'previous-rpm'), rpm, '0.0.1'),
      )
      // The packages that it requires are there, but not in a database of rpm's.
      const put = async (how: '--install' | '--upgrade', file: string) => {
        const inside = `/root/${basename(file)}`
        await copyFile(file, node.host(inside))
        await node.exec('rpm', how, '--nodeps', inside)
      }
      await step('installed, with its scriptlets: enabled, running, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          await put('--install', previous)
          await untilRunning(node)
          await admin.untilStatus({})
        }),
      )
      const good = await step('it does its work', () => promoteGood(node, admin))
      await step('upgraded, with the scriptlets of both: another agent, still enabled, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          const before = await node.show(AGENT, 'MainPID')
          await put('--upgrade', rpm)
          const { stdout: installed } = await node.exec('rpm', '--query', AGENT)
          assert.equal(`${installed.trim()}.rpm`, basename(rpm))
          assert.notDeepEqual(await node.show(AGENT, 'MainPID'), before)
          await untilRunning(node)
          const { DropInPaths, NeedDaemonReload } = await node.show('kubelet', 'DropInPaths', 'NeedDaemonReload')
          assert.match(DropInPaths, /kubelet-cfg-agent/)
          assert.equal(NeedDaemonReload, 'no')
          await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
        }),
      )
      await step('the new one does its work', async () => {
        const next = await assignNew(node, admin, 'next', { maxPods: 61 })
        await admin.untilStatus({ assigned: next, active: next, lastKnownGood: next })
        await node.untilRuns(61)
      })
      await step('erased: kubelet goes on, and its next start uses its local config', async () => {
        await keepingKubelet(node, async () => {
          await node.exec('rpm', '--erase', '--nodeps', AGENT)
          assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'inactive')
        })
        await node.systemctl('restart', 'kubelet')
        await node.untilRuns(110)
      })
    }),
  )
}

async function onTrial(node: Node, admin: Administrator, name: string, maxPods: number, lastKnownGood: Source): Promise<Source> {
  await node.configureAgent(LONG)
  const source = await assignNew(node, admin, name, { maxPods })
  await admin.untilStatus({ assigned: source, active: source, lastKnownGood })
  await node.untilRuns(maxPods)
  return source
}

/** On a slow machine systemd may give up its first start, and begin another one. */
async function untilRunning(node: Node): Promise<void> {
  const probe = async () => {
    assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
    return true
  }
  await eventually(probe, { what: 'the agent is enabled and runs', timeoutMs: 120_000 })
}

export async function keepingKubelet(node: Node, work: () => Promise<void>): Promise<void> {
  const before = await node.kubeletProcess()
  await work()
  assert.equal(await node.kubeletProcess(), before)
}

/** The same files and scripts under another version. The directory must not be there yet. */
export async function withVersion(directory: string, deb: string, version: string): Promise<string> {
  await run('dpkg-deb', ['--raw-extract', deb, directory])
  const control = join(directory, 'DEBIAN/control')
  await writeFile(control, (await readFile(control, 'utf8')).replace(/^Version: .*$/m, `Version: ${version}`))
  const made = join(dirname(directory), basename(deb).replace(/_[^_]+_/, `_${version}_`))
  await run('dpkg-deb', ['--build', '-Zgzip', '-z1', directory, made])
  return made
}

/**
 * The same files with the scriptlets of the spec, under another version. The directory must not be
 * there yet.
 */
export async function earlierRpm(directory: string, rpm: string, version: string): Promise<string> {
  const [payload, copy] = [join(directory, 'payload'), join(directory, 'rpm')]
  await mkdir(payload, { recursive: true })
  await copyFile(rpm, copy)
  await run('rpm2archive', ['--nocompression', copy])
  await run('tar', ['--extract', '--file', `${copy}.tar`, '--directory', payload])
  const spec = await readFile(SPEC, 'utf8')
  const changed = spec
    .replace(/^%install\n[\s\S]*?^%files$/m, '%install\ncp -R %{payload}/. %{buildroot}/\n\n%files')
    .replace(/^%global _binary_payload .*$/m, '%global _binary_payload w1.gzdio')
  await writeFile(join(directory, 'earlier.spec'), changed)
  const architecture = /\.([^.]+)\.rpm$/.exec(rpm)?.[1]
  assert(architecture !== undefined && changed !== spec, `${rpm} and ${SPEC} are not what they were`)
  const macros = {
    _topdir: directory,
    _rpmdir: directory,
    _rpmfilename: 'earlier.rpm',
    payload,
    the_version: version,
    maintainer: 'nobody <nobody@example.com>',
    changelog_date: 'Thu Jan 01 1970',
  }
  const defines = Object.entries(macros).flatMap(([name, value]) => ['--define', `${name} ${value}`])
  await run('rpmbuild', ['-bb', '--target', `${architecture}-linux`, ...defines, join(directory, 'earlier.spec')])
  return join(directory, 'earlier.rpm')
}
