// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { NodeDisk } from '../../src/checkpoint/node-disk.ts'
import { openInspection } from '../../src/compose/preflight.ts'
import type { VersionAnswer } from '../../src/preflight/kubelet/judgement.ts'
import { resolveSettings } from '../../src/settings/resolve-settings.ts'
import type { CheckpointFile } from '../../src/subject/config-source.ts'
import type { KnownUnit } from '../../src/subject/unit-state.ts'
import { READY, unit } from '../decision/snapshots.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const TEXT = `${HEAD}staticPodPath: pods.yaml\nauthentication: {x509: {clientCAFile: ./ca.crt}}\n`
const FILES = { kubelet: TEXT, 'pods.yaml': 'a', 'ca.crt': 'b', notes: 'c' }
const DENIED = 'staticPodPath,authentication'

type Files = Readonly<Record<string, string>>

interface Situation {
  /** Settings, as flags. */
  readonly policy?: Readonly<Record<string, string>>
  /** The running config. undefined: the local config, with these files beside it. */
  readonly running?: Files
  readonly wiring?: KnownUnit['wiring']
  /** The candidate is given to a command, without its ConfigMap. */
  readonly isAlone?: true
}

type World = Parameters<typeof openInspection>[0]

function openHere(here: KnownUnit, directory: string, settings: ReturnType<World['settings']>, versions?: NonNullable<World['versions']>) {
  return openInspection({
    settings: () => settings,
    stores: {
      files: new DurableFiles(new NodeDisk()),
      unit: { observe: async () => here },
      checkpoints: { path: ({ resourceVersion }: CheckpointFile) => join(directory, `checkpoints/u/${resourceVersion}/kubelet`) },
      yaml: IN_PLACE,
      standIn: [],
      activation: { read: () => ({ kind: 'local', since: undefined }) },
    } as unknown as World['stores'],
    runtime: {
      probe: async () => ({ ok: false, detail: '' }),
      cgroupDriver: async () => undefined,
      imageDirectory: async () => undefined,
    } as never,
    ...{ kubeconfig: undefined as never, api: undefined as never, nodeName: () => '' },
    signal: new AbortController().signal,
    ...(versions && { versions }),
  })
}

/** @returns the outcome, and the rules of the findings with their paths */
async function judge(t: Test, files: Files, { policy = { changePolicy: 'guarded' }, running, wiring = READY, isAlone }: Situation) {
  const directory = t.testdir({})
  const resolved = resolveSettings({
    flags: { dynamicConfigDir: directory, runtimeDir: join(directory, 'run'), preflight: 'rules', ...policy },
    env: {},
    file: { kind: 'absent', path: '' },
  })
  if (!resolved.ok) throw new Error(resolved.problems.join())
  const place = join(directory, running === undefined ? 'local' : 'checkpoints/u/1')
  mkdirSync(place, { recursive: true })
  for (const [name, text] of Object.entries(running ?? FILES)) writeFileSync(join(place, name), text)
  const basePath = join(place, 'kubelet')
  const source = { namespace: 'ns', name: 'config', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '2' }
  const here = unit({ localConfigPath: join(directory, 'local/kubelet'), wiring, process: { kind: 'other', pid: 1, configPath: basePath } })
  const { checkCandidate, inspect, mergeHere } = openHere(here, directory, resolved.settings)
  const request = { source, data: files, key: 'content@kubelet', fallback: false, unit: here, basePath } as const
  const options = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'no', node: true } as const
  const report =
    isAlone === undefined
      ? await checkCandidate(request, new AbortController().signal)
      : await inspect({ name: 'bare.yaml', files, key: 'kubelet', isAlone }, options)
  const policies = report.findings.filter(({ rule }) => rule.startsWith('policy/'))
  return { report, mergeHere, found: policies.map(({ rule, path }) => `${rule} ${path.join('.')}`) }
}

t.test('a file that a relative path names is a part of the field', async (t) => {
  const found = async (files: Files, situation: Situation = {}) => (await judge(t, files, { running: FILES, ...situation })).found
  t.same(await found(FILES), [])
  t.same(await found({ ...FILES, notes: 'x', more: 'y' }), [], 'other keys change nothing')
  t.same(await found({ ...FILES, 'pods.yaml': 'x' }), ['policy/guarded staticPodPath'], 'changed')
  t.same(await found({ ...FILES, 'ca.crt': 'x' }), ['policy/guarded authentication.x509.clientCAFile'])
  const { 'pods.yaml': _, ...without } = FILES
  t.same(await found(without), ['policy/guarded staticPodPath'], 'went')
  t.same(await found(FILES, { running: without }), ['policy/guarded staticPodPath'], 'appeared')
  const denied = await found({ ...FILES, 'pods.yaml': 'x', 'ca.crt': 'y' }, { policy: { changePolicy: 'open', denyChanges: DENIED } })
  t.same(denied, ['policy/deny[0] staticPodPath', 'policy/deny[1] authentication.x509.clientCAFile'])
  t.same(await found({ ...FILES, 'pods.yaml': 'x' }, { policy: { requireDrain: 'class:static-pods' } }), [
    'policy/require-drain staticPodPath',
  ])
  t.same(await found({ ...FILES, 'pods.yaml': 'x' }, { policy: { changePolicy: 'guarded', allowChanges: 'staticPodPath' } }), [])
  const { report } = await judge(t, { ...FILES, 'ca.crt': 'hush' }, { running: { ...FILES, 'ca.crt': 'hushed' } })
  t.notMatch(JSON.stringify(report), /hush/)
})

t.test('a relative path may name the whole directory', async (t) => {
  for (const path of ['.', './', 'x/..']) {
    const files = { kubelet: `${HEAD}staticPodPath: ${path}\n`, 'a.yaml': 'a' }
    const found = async (others: Files) => (await judge(t, { ...files, ...others }, { running: files })).found
    t.same(await found({}), [], path)
    t.same(await found({ 'a.yaml': 'b' }), ['policy/guarded staticPodPath'], path)
    t.same(await found({ 'b.yaml': 'b' }), ['policy/guarded staticPodPath'], path)
  }
})

t.test('a relative path that leaves its checkpoint is refused under a policy that restricts', async (t) => {
  for (const path of ['..', '../1/pods.yaml', 'a/../../x', './../2/']) {
    const files = { kubelet: `${HEAD}staticPodPath: ${path}\n` }
    const found = async (policy: Situation['policy']) => (await judge(t, files, { running: files, policy: policy ?? {} })).found
    t.same(await found({ changePolicy: 'guarded', allowChanges: 'staticPodPath' }), ['policy/outside staticPodPath'], path)
    t.same(await found({ denyChanges: 'maxPods' }), ['policy/outside staticPodPath'], path)
    t.same(await found({}), [], path)
  }
  const inside = { kubelet: `${HEAD}staticPodPath: ..x\n` }
  t.same((await judge(t, inside, { running: inside })).found, [])
})

t.test('the same relative path names another file in a local config', async (t) => {
  t.same((await judge(t, FILES, {})).found, ['policy/guarded staticPodPath', 'policy/guarded authentication.x509.clientCAFile'])
})

t.test('where kubelet reads each config from one place, its relative paths name no key', async (t) => {
  const wiring = { ...READY, activation: 'file', replacesLocalFile: true, configFlagIsFixed: true } as const
  t.same((await judge(t, FILES, { wiring })).found, [])
  t.same((await judge(t, { ...FILES, 'pods.yaml': 'x' }, { wiring, running: FILES })).found, [])
})

t.test('the other keys of a bare config are not known: neither missing nor a change', async (t) => {
  const bare = (text: string) => judge(t, { kubelet: text }, { running: FILES, isAlone: true })
  const { found, report } = await bare(TEXT)
  t.same(found, [])
  t.same(
    report.findings.filter(({ rule }) => rule.includes('missing')),
    [],
  )
  t.match(
    report.parts.find(({ part }) => part === 'change'),
    { detail: '0 fields change; the other keys of the ConfigMap are not known here' },
  )
  t.same((await bare(TEXT.replace('pods.yaml', 'other.yaml'))).found, ['policy/guarded staticPodPath'])
  t.same((await bare(TEXT.replace('pods.yaml', '../x'))).found, ['policy/guarded staticPodPath', 'policy/outside staticPodPath'])
  t.same((await judge(t, { kubelet: TEXT }, { isAlone: true })).found, [
    'policy/guarded staticPodPath',
    'policy/guarded authentication.x509.clientCAFile',
  ])
})

t.test('what runs is compared by the version of its process, whatever is on disk by now', async (t) => {
  const directory = t.testdir({ local: { kubelet: `${HEAD}cgroupDriver: cgroupfs\n` }, new: { kubelet: '' }, old: {} })
  const [disk, old] = [join(directory, 'new/kubelet'), join(directory, 'old/kubelet')]
  copyFileSync('/bin/sleep', old)
  const kubelet = spawn(old, ['60'])
  t.teardown(() => kubelet.kill())
  await once(kubelet, 'spawn')
  const pid = kubelet.pid ?? 0
  const version = (path: string, minor: number): [string, VersionAnswer] => {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    const identity = [path, dev, ino, size, mtimeNs, ctimeNs].join(':')
    return [identity, { ok: true, version: { major: 1, minor, patch: 0 }, identity }]
  }
  const resolved = resolveSettings({ flags: { dynamicConfigDir: directory }, env: {}, file: { kind: 'absent', path: '' } })
  if (!resolved.ok) throw new Error(resolved.problems.join())
  const path = join(directory, 'local/kubelet')
  const command = { path: disk, words: [] }
  const here = unit({ command, localConfigPath: path, process: { kind: 'other', pid, configPath: path } })
  const compare = async (minor: number, diskMinor: number) => {
    const versions = new Map([version(`/proc/${pid}/exe`, minor), version(disk, diskMinor)])
    const { compareConfigz } = openHere(here, directory, resolved.settings, versions)
    return compareConfigz({ kubeletconfig: { cgroupDriver: 'systemd' } }, here, path)
  }
  const fromRuntime = { ok: true, differences: [{ because: 'kubelet gets its cgroup driver from the container runtime' }] }
  t.match(await compare(36, 27), fromRuntime)
  t.match(await compare(27, 36), { ok: true, differences: [{ because: undefined }] })
})

t.test('thresholds are compared with what this machine has left', async (t) => {
  const files = { kubelet: `${HEAD}evictionHard: {memory.available: 1Pi}\n` }
  const { report } = await judge(t, files, { policy: {} })
  t.match(
    report.findings.find(({ rule }) => rule === 'guard/eviction'),
    {
      severity: 'refuse',
      path: ['evictionHard', 'memory.available'],
      position: { line: 3, column: 16 },
      problem:
        /^kubelet would evict pods at once: memory\.available is [\d.]+% \([\d.]+ [MG]iB of [\d.]+ GiB\), below evictionHard 1048576\.0 GiB .*guardsOff: eviction/,
    },
  )
  const off = await judge(t, files, { policy: { guardsOff: 'eviction' } })
  t.match(
    off.report.findings.find(({ rule }) => rule === 'guard/eviction'),
    { severity: 'warn' },
  )
})
