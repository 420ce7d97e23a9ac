// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Computation, isComputationResult } from '../../src/cel/computation.ts'
import { AGENT_VERSION } from '../../src/compose/kube-api.ts'
import { HelperProcess } from '../../src/helper/helper-process.ts'
import {
  isComparison,
  isConfigzAnswer,
  isFactsResult,
  isNothing,
  isPreflightResult,
  isReport,
  isZoneAnswer,
} from '../../src/helper/protocol.ts'
import type { PreflightRequest } from '../../src/ports/preflight.ts'
import { resolveSettings } from '../../src/settings/resolve-settings.ts'
import type { KnownUnit } from '../../src/subject/unit-state.ts'
import { LimitError } from '../../src/values/errors.ts'

// Starts the helper, from source.
t.setTimeout(120_000)

const SRC = join(import.meta.dirname, '../../src')
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const limitMs = 60_000

const UNIT: KnownUnit = {
  kind: 'known',
  activity: 'running',
  summary: 'active/running/success',
  invocationId: 'a'.repeat(32),
  nRestarts: 0,
  startedAtUs: 1,
  kubeletIdentity: 'kubelet',
  process: { kind: 'other', pid: 1, configPath: undefined },
  command: undefined,
  localConfigPath: undefined,
  runtimeEndpoint: undefined,
  healthzFlags: {},
  wiring: { kind: 'broken', reason: 'drop-in-missing', detail: 'missing' },
}

function open(t: Test, version = AGENT_VERSION): HelperProcess {
  const directory = t.testdir({})
  const flags = {
    dynamicConfigDir: join(directory, 'state'),
    runtimeDir: join(directory, 'run'),
    kubeconfig: join(directory, 'kubeconfig'),
    changePolicy: 'open',
  }
  const resolved = resolveSettings({ flags, env: {}, file: { kind: 'absent', path: '' } })
  if (!resolved.ok) throw new Error(resolved.problems.join())
  const context = { version, settings: resolved.settings, standIn: [], yamlChild: join(SRC, 'kubelet/yaml-child.ts') }
  const command = [process.execPath, ...process.execArgv, '--max-old-space-size=160', join(SRC, 'compose/helper.ts')]
  const helper = new HelperProcess({ command, context: () => context })
  t.teardown(() => helper.end())
  return helper
}

function candidate(text: string): PreflightRequest {
  const source = { namespace: 'ns', name: 'config', kubeletConfigKey: 'kubelet', uid: 'u1', resourceVersion: '1' }
  return { source, data: { kubelet: text }, key: 'content@kubelet', fallback: false, unit: UNIT, basePath: undefined }
}

t.test('judges a config as the agent would', async (t) => {
  const helper = open(t)
  t.equal(await helper.ask('warm', [undefined], { check: isNothing, limitMs }), null)
  const good = await helper.ask('check', [candidate(`${HEAD}maxPods: 20\n`)], { check: isReport, limitMs })
  t.match(good, { outcome: 'accepted' })
  t.match(
    good.parts.map(({ part }) => part),
    ['fields', 'node', 'change'],
  )
  const bad = await helper.ask('check', [candidate(`${HEAD}maxPods: 20\nimageGCHighThresholdPercent: 200\n`)], { check: isReport, limitMs })
  t.match(bad, { outcome: 'refused', findings: [{ path: ['imageGCHighThresholdPercent'], position: { line: 4 } }] })
  // More than one process of its own may parse, and not more than that takes.
  const costly = await helper.ask('check', [candidate(`${HEAD}evictionHard: &a {memory.available: 5%}\nevictionSoft: *a\n`)], {
    check: isReport,
    limitMs,
  })
  t.match(costly, { outcome: /accepted|refused/ })
  t.match(await helper.ask('fallback', [candidate(`${HEAD}maxPods: x\n`)], { check: isPreflightResult, limitMs }), { kind: 'refused' })
  t.match(await helper.ask('fallback', [candidate(`${HEAD}maxPods: 20\n`)], { check: isPreflightResult, limitMs }), { kind: 'accepted' })
  t.equal(await helper.ask('forget', [], { check: isNothing, limitMs }), null)
})

t.test('asks for the kubelet on disk with the flags of its next start', async (t) => {
  const helper = open(t)
  const binary = join(t.testdir({}), 'kubelet')
  copyFileSync('/bin/false', binary)
  const unit = { ...UNIT, command: { path: binary, words: [], nextWords: ['--max-pods=7'] } }
  const { outcome, parts, findings } = await helper.ask('check', [{ ...candidate(`${HEAD}maxPods: 20\n`), unit }], {
    check: isReport,
    limitMs,
  })
  t.equal(outcome, 'unjudged')
  t.match(
    parts.find(({ part }) => part === 'kubelet'),
    { outcome: 'cannot-start', detail: `${binary} cannot run on this machine` },
  )
  t.match(findings, [{ rule: 'change/overridden-by-flag', problem: /--max-pods/ }])
})

t.test('reads the facts of the machine, asks for /configz and compares it', async (t) => {
  const helper = open(t)
  t.match(await helper.ask('facts', [], { check: isFactsResult, limitMs }), { ok: true, facts: { architecture: process.arch } })
  t.match(await helper.ask('configz', [UNIT], { check: isConfigzAnswer, limitMs }), { kind: 'unreachable' })
  t.match(await helper.ask('compare', [{}, UNIT, undefined], { check: isComparison, limitMs }), {
    ok: false,
    detail: 'its config cannot be read',
  })
  await t.rejects(helper.ask('no-such-method', [], { check: isNothing, limitMs }), /there is no method no-such-method/)
})

t.test('judges nothing for an agent of another version, as in the middle of an upgrade', async (t) => {
  const message = `the helper has version ${AGENT_VERSION}, and the agent 0.0.1: restart kubelet-cfg-agent`
  await t.rejects(open(t, '0.0.1').ask('check', [candidate(HEAD)], { check: isReport, limitMs }), { message })
})

t.test('ends with the input, and when its unit is stopped', async (t) => {
  for (const how of ['input', 'SIGTERM'] as const) {
    const helper = spawn(process.execPath, [...process.execArgv, join(SRC, 'compose/helper.ts')], { stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = new Promise((resolve) => helper.once('exit', (code, signal) => resolve(code ?? signal)))
    // Any answer: it has started.
    const heard = new Promise((resolve) => helper.stdout.once('data', resolve))
    helper.stdin.write(`${JSON.stringify({ id: 1, method: 'none', args: [], context: null, memory: null })}\n`)
    await heard
    if (how === 'input') helper.stdin.end()
    else helper.kill(how)
    t.equal(await ended, 0, how)
  }
})

t.test('evaluates expressions, and one that takes too much ends by the limit', async (t) => {
  const helper = open(t)
  const node = { name: 'n1', labels: {}, capacity: { cpu: '4' }, podCIDRs: [] }
  const evaluate = (expression: string, ms = limitMs) =>
    helper.ask('evaluate', [{ expressions: [expression], node } satisfies Computation], { check: isComputationResult, limitMs: ms })
  t.same(await evaluate('node.cpus * 20'), { ok: true, values: [80] })
  t.match(await evaluate('node.gpus'), { ok: false, at: 0 })
  const ten = '[0,1,2,3,4,5,6,7,8,9]'
  const costly = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].reduce((inner, name) => `${ten}.exists(${name}, ${inner})`, 'false')
  await t.rejects(evaluate(costly, 3000), LimitError)
  t.same(await evaluate('1'), { ok: true, values: [1] }, 'the next one goes to another helper')
  const doubled = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].reduce((inner, name) => `${ten}.map(${name}, ${inner})`, "'x'")
  await t.rejects(evaluate(doubled), /took too much memory|within|heap/)
})

t.test('reads a time zone, or says that there is none', async (t) => {
  const helper = open(t)
  const [fromMs, untilMs] = [Date.UTC(2027, 2, 20), Date.UTC(2027, 3, 5)]
  const read = (timeZone: string) => helper.ask('timeZone', [timeZone, fromMs, untilMs], { check: isZoneAnswer, limitMs })
  t.match(await read('Europe/Berlin'), {
    ok: true,
    offsets: {
      offsets: [
        { sinceMs: fromMs, offsetMs: 3_600_000 },
        { sinceMs: Date.UTC(2027, 2, 28, 1), offsetMs: 7_200_000 },
      ],
    },
  })
  t.match(await read('Europe/Atlantis'), { ok: false, detail: 'there is no time zone Europe/Atlantis: correct timeZone in the plan' })
})
