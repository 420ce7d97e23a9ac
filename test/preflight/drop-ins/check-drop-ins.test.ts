// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeletConfig } from '../../../src/kubelet/decode.ts'
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { compareRunning } from '../../../src/preflight/drop-ins/check-drop-ins.ts'
import type { DropInsHere } from '../../../src/preflight/drop-ins/read-drop-ins.ts'
import { inspectWith } from '../../../src/preflight/inspect.ts'
import type { InspectOptions, Recipient } from '../../../src/preflight/inspection.ts'
import { NOTHING_KNOWN } from '../../../src/preflight/node/surroundings.ts'
import { listParts } from '../../../src/preflight/parts.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const v134 = { major: 1, minor: 34, patch: 1 }
const OPTIONS: InspectOptions = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'no', node: true }
const DIRECTORY = '/etc/kubelet.d'
const FILE = `${DIRECTORY}/50-pool.conf`
const withFile = (config: KubeletConfig): Extract<DropInsHere, { kind: 'usable' }> => ({
  kind: 'usable',
  directory: DIRECTORY,
  order: { below: [], above: [{ path: FILE, config }] },
})

function inspect(yaml: string, dropIns: DropInsHere | undefined, fields: Partial<Recipient> = {}, localPath?: string) {
  const parts = listParts({
    surroundings: async () => NOTHING_KNOWN,
    policy: () => ({ base: 'open', allow: [], deny: [], requireDrain: [] }),
    guardsOff: () => [],
    judge: { judge: async () => ({ kind: 'accepted', detail: '' }), forget: () => {} },
    signal: new AbortController().signal,
  })
  const node = { flags: [`--config-dir=${DIRECTORY}`], folder: '/c', running: {}, kubeletPid: 7 }
  const recipient: Recipient = { kubelet: undefined, version: v134, node, dropIns, unknownKeys: 'refuse', ...fields }
  const config = { name: 'x.yaml', files: { kubelet: HEAD + yaml }, key: 'kubelet', localPath }
  return inspectWith(parts, async () => recipient, IN_PLACE)(config, OPTIONS)
}
const rules = ({ findings }: Awaited<ReturnType<typeof inspect>>) => findings.map(({ severity, rule }) => `${severity} ${rule}`)

t.test('without --config-dir the report does not mention drop-ins', async (t) => {
  const { parts } = await inspect('maxPods: 5\n', undefined)
  t.notOk(parts.some(({ part }) => part === 'drop-ins'))
})

t.test('a file that overrides an assigned field is named, with the place of the field', async (t) => {
  const report = await inspect('podsPerCore: 3\nmaxPods: 200\n', withFile({ maxPods: 50 }))
  t.equal(report.outcome, 'accepted')
  t.match(report.findings, [
    {
      rule: 'drop-ins/overridden',
      severity: 'warn',
      path: ['maxPods'],
      position: { line: 4, column: 1 },
      problem: `maxPods has no effect: kubelet merges ${FILE} over this config, and that file sets it`,
    },
  ])
  t.match(report.parts[0], { part: 'drop-ins', outcome: 'accepted', detail: `merged with 1 drop-in in ${DIRECTORY}` })
})

t.test('a file that sets the same value, or other fields, overrides nothing', async (t) => {
  t.same(rules(await inspect('maxPods: 200\n', withFile({ maxPods: 200, podsPerCore: 4 }))), [])
  const maps = await inspect('evictionHard: {memory.available: 1Gi}\n', withFile({ evictionHard: { 'nodefs.available': '5%' } }))
  t.same(rules(maps), ['warn otherwise/eviction-defaults'], 'maps are merged')
})

t.test('a null in a file removes an assigned field', async (t) => {
  const { findings } = await inspect('podsPerCore: 3\nevictionHard: {memory.available: 1Gi}\n', withFile({ evictionHard: null }))
  t.match(findings, [{ path: ['evictionHard', 'memory.available'], problem: /and that file removes it$/ }])
})

t.test('a config of which nothing would take effect is refused', async (t) => {
  const report = await inspect('maxPods: 200\nclusterDNS: [10.0.0.1]\n', withFile({ maxPods: 50, clusterDNS: ['10.0.0.2'] }))
  t.equal(report.outcome, 'refused')
  t.match(report.findings, [
    { rule: 'drop-ins/no-effect', severity: 'refuse', problem: /^nothing of this config would take effect: .*50-pool/ },
  ])
  t.equal((await inspect('', withFile({ maxPods: 50 }))).outcome, 'accepted', 'a config without fields has nothing to lose')
})

t.test('a file that kubelet cannot load refuses every config', async (t) => {
  const detail = 'kind must be KubeletConfiguration, but is not set'
  const report = await inspect('maxPods: 5\n', { kind: 'unusable', directory: DIRECTORY, path: FILE, detail })
  t.equal(report.outcome, 'refused')
  t.match(report.findings, [
    { rule: 'drop-ins/unusable', reason: 'load', problem: `kubelet would not start, with this config or any other: ${FILE}: ${detail}` },
  ])
})

t.test('a file that kubelet may read differently refuses every config but the local one', async (t) => {
  const dropIns: DropInsHere = { kind: 'unusable', directory: DIRECTORY, path: FILE, detail: 'a tag', unjudged: true }
  t.match(await inspect('maxPods: 5\n', dropIns), {
    outcome: 'refused',
    findings: [{ rule: 'drop-ins/unusable', problem: `no config can be judged: ${FILE}: a tag` }],
  })
  const local = await inspect('maxPods: 5\n', dropIns, {}, '/etc/kubelet.yaml')
  t.match(local.parts[0], { part: 'drop-ins', outcome: 'unjudged', detail: `${FILE}: a tag` })
  t.equal(local.outcome, 'accepted')
})

t.test('the rules check what kubelet makes of the config, and say which file a wrong value is from', async (t) => {
  const report = await inspect('podsPerCore: 3\n', withFile({ maxPods: -1 }))
  t.equal(report.outcome, 'refused')
  t.match(report.findings, [
    { rule: 'fields/range', path: ['maxPods'], position: undefined, problem: new RegExp(`\\(${FILE} sets maxPods\\)$`) },
  ])
  t.equal(
    (await inspect('maxPods: -1\npodsPerCore: 3\n', withFile({ maxPods: 5 }))).outcome,
    'accepted',
    'a wrong value that is overridden',
  )
})

t.test('a running config with the same drop-ins is compared as kubelet has it', async (t) => {
  const node = { flags: [], folder: '/c', running: { maxPods: 50 }, kubeletPid: 7 }
  const { parts } = await inspect('maxPods: 200\npodsPerCore: 3\n', withFile({ maxPods: 50 }), { node })
  t.match(
    parts.find(({ part }) => part === 'change'),
    { detail: '1 field changes' },
  )
})

t.test('before 1.30 what drop-ins do is not judged', async (t) => {
  const version = { major: 1, minor: 28, patch: 15 }
  const report = await inspect('maxPods: 5\n', withFile({ maxPods: -1 }), { version })
  t.equal(report.outcome, 'accepted')
  t.match(report.parts[0], { part: 'drop-ins', outcome: 'unjudged', detail: /^kubelet 1\.28\.15 merges drop-ins in a way of its own/ })
})

t.test("a key of another's drop-in that kubelet takes in spite of its spelling is a warning", async (t) => {
  const otherCase = [{ path: ['maxpods'], field: 'maxPods' }]
  const here: DropInsHere = { kind: 'usable', directory: DIRECTORY, order: { below: [], above: [{ path: FILE, config: {}, otherCase }] } }
  const report = await inspect('maxPods: 5\n', here)
  t.equal(report.outcome, 'accepted')
  t.match(report.findings, [{ rule: 'drop-ins/other-case', severity: 'warn', problem: `${FILE} sets maxpods, which is spelled maxPods` }])
})

t.test('an empty list that kubelet replaces by its default has no effect', async (t) => {
  const report = await inspect('enforceNodeAllocatable: []\nclusterDNS: []\n', withFile({}))
  t.match(report.findings, [
    { path: ['enforceNodeAllocatable'], problem: /takes the default in place of an empty list$/, advice: /^write \[none\]/ },
  ])
  t.equal(report.findings.length, 1)
})

t.test('a config that is a drop-in itself', async (t) => {
  const here: DropInsHere = {
    kind: 'usable',
    directory: DIRECTORY,
    order: { base: { path: '/etc/config.yaml', config: { maxPods: -1, podsPerCore: 3 } }, below: [], above: [] },
  }
  const wrong = await inspect('registryBurst: 9\n', here)
  t.match(wrong.findings, [{ rule: 'fields/range', problem: /\(\/etc\/config\.yaml sets maxPods\)$/ }], 'is checked with the file below')
  t.same(rules(await inspect('maxPods: 5\n', here)), [], 'wins over that file')
  t.same(rules(await inspect('maxPods: null\n', here)), [], 'and a null removes its field')
  const twice = await inspect('maxPods: 5\nmaxPods: 6\n', here)
  t.match(twice.findings, [{ rule: 'drop-ins/repeated-key', severity: 'refuse', position: { line: 4 } }], 'has each key once')
  const other = await inspect('maxpods: 5\n', here)
  t.match(
    other.findings.find(({ rule }) => rule === 'drop-ins/other-case'),
    { severity: 'refuse', position: { line: 3 }, problem: /^maxpods is spelled maxPods: / },
    'spells its keys as kubelet does',
  )
  for (const version of [{ major: 1, minor: 31, patch: 14 }, undefined])
    t.match((await inspect('maxPods: 5\n', here, { version })).findings, [{ rule: 'drop-ins/too-old', severity: 'refuse' }])
})

t.test('/configz: names the file of an assigned field that does not run, and nothing that only the file sets', async (t) => {
  const dropIns = withFile({ maxPods: 50, podsPerCore: 4 })
  const compare = (configz: KubeletConfig, here: DropInsHere | undefined = dropIns) =>
    compareRunning({ maxPods: 200 }, here, { kubeletconfig: configz }, v134, collectFlags([`--config-dir=${DIRECTORY}`]))
  const defaults = { port: 10250 }
  const run = compare({ ...defaults, maxPods: 50, podsPerCore: 4 })
  const of = (comparison: typeof run, name: string) =>
    comparison.ok ? comparison.differences.find(({ path }) => path[0] === name) : undefined
  t.match(of(run, 'maxPods'), { meant: { value: 200 }, running: { value: 50 }, because: FILE })
  t.equal(of(run, 'podsPerCore'), undefined)
  t.match(of(compare({ ...defaults, maxPods: 50, podsPerCore: 9 }), 'podsPerCore'), { meant: { value: 4 }, running: { value: 9 } })
  const unknown = compare({ maxPods: 50 }, { kind: 'unusable', directory: DIRECTORY, path: FILE, detail: 'x' })
  t.match(of(unknown, 'maxPods'), { because: '--config-dir' })
})

t.test('a file that kubelet skips is named', async (t) => {
  const { findings, outcome } = await inspect('maxPods: 5\n', { ...withFile({}), skipped: [`${DIRECTORY}/60-x.yaml`] })
  t.equal(outcome, 'accepted')
  t.match(findings, [
    { rule: 'drop-ins/skipped', severity: 'warn', problem: `kubelet skips ${DIRECTORY}/60-x.yaml`, advice: /^rename it to 60-x\.conf/ },
  ])
})
