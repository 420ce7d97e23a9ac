// SPDX-License-Identifier: Apache-2.0
/**
 * A config that kubelet starts with, and that would take the node out of the cluster and end its
 * static pods: the command and the agent refuse it, with all three reasons and their places.
 */
import t from 'tap'
import { validateCommand } from '../../src/command/agent/commands/validate.ts'
import { AgentPreflight } from '../../src/preflight/agent-preflight.ts'
import { decodeCandidate } from '../../src/preflight/document.ts'
import type { GuardName } from '../../src/preflight/guards.ts'
import { inspectWith } from '../../src/preflight/inspect.ts'
import type { InspectOptions, Recipient } from '../../src/preflight/inspection.ts'
import { NOTHING_KNOWN } from '../../src/preflight/node/surroundings.ts'
import { listParts } from '../../src/preflight/parts.ts'
import { execute, fakeNode } from '../command/agent/fake-node.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { source, unit } from '../report/build.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const CUTS_OFF = `${HEAD}contentType: application/foo\nmaxPods: 64\nnodeLeaseDurationSeconds: 1000000\n`
const OPTIONS: InspectOptions = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'no', node: true }
const RECIPIENT: Recipient = {
  kubelet: undefined,
  version: { major: 1, minor: 34, patch: 1 },
  node: { flags: [], folder: '/c', running: { staticPodPath: '/etc/kubernetes/manifests' }, kubeletPid: 7 },
  unknownKeys: 'warn',
}

/** A node with two static pods. Its kubelet accepts every config. */
function inspectOn(guardsOff: readonly GuardName[] = []) {
  const parts = listParts({
    surroundings: async () => ({ ...NOTHING_KNOWN, manifests: new Map([['/etc/kubernetes/manifests', 2]]) }),
    policy: () => ({ base: 'open', allow: [], deny: [], requireDrain: [] }),
    guardsOff: () => guardsOff,
    judge: { judge: async () => ({ kind: 'accepted', detail: 'kubelet 1.34.1 loaded and validated the config' }), forget: () => {} },
    signal: new AbortController().signal,
  })
  return inspectWith(parts, async () => RECIPIENT, IN_PLACE)
}

async function validate(options: Readonly<Record<string, string>>, guardsOff: readonly GuardName[] = []) {
  const readInput = async () => ({ kind: 'read', bytes: Buffer.from(CUTS_OFF) }) as const
  const node = fakeNode({ context: { readInput, inspect: inspectOn(guardsOff) } })
  const code = await execute(validateCommand, node, { ...options }, ['kubelet.yaml'])
  return { code, out: node.out() }
}

function agentOn(guardsOff: readonly GuardName[]) {
  return new AgentPreflight({
    inspect: ({ data }) => inspectOn(guardsOff)({ name: 'x', files: data, key: 'kubelet' }, OPTIONS),
    decode: (candidate) => decodeCandidate(candidate, IN_PLACE),
    settings: () => guardsOff,
    forget: () => {},
    onDone: () => {},
    onTimed: () => {},
    clock: { now: () => ({ bootId: 'b', monotonicUs: 0, wallMs: 0 }) },
    signal: new AbortController().signal,
    sleep: () => new Promise(() => {}),
  })
}

const request = (fallback: boolean) => ({ source: source(), data: { kubelet: CUTS_OFF }, key: 'k', fallback, unit: unit(), basePath: '/b' })

t.test('validate refuses it with three findings, each with a place', async (t) => {
  const { code, out } = await validate({})
  t.equal(code, 1)
  t.match(out, /^kubelet\.yaml:3:1: error: contentType "application\/foo" is unknown .*guardsOff: content-type.* \[guard\/content-type\]$/m)
  t.match(out, /^kubelet\.yaml:5:1: error: nodeLeaseDurationSeconds 1000000 .*guardsOff: node-lease.* \[guard\/node-lease\]$/m)
  t.match(
    out,
    /^kubelet\.yaml:2:1: error: staticPodPath is removed, but \/etc\/kubernetes\/manifests holds 2 .*guardsOff: static-pods.* \[guard\/static-pods\]$/m,
  )
  t.match(out, /: refused: 3 errors$/m)
  const sarif: { runs: { results: { ruleId: string; locations: unknown[] }[] }[] } = JSON.parse((await validate({ output: 'sarif' })).out)
  const results = sarif.runs[0]?.results ?? []
  t.same(results.map(({ ruleId, locations }) => `${ruleId} ${locations.length}`).sort(), [
    'guard/content-type 1',
    'guard/node-lease 1',
    'guard/static-pods 1',
  ])
})

t.test('the agent refuses it, and names all three fields in its reason', async (t) => {
  const result = await agentOn([]).check(request(false))
  t.match(result, { kind: 'refused', reason: 'validate' })
  for (const [field, guard] of [
    ['contentType', 'content-type'],
    ['nodeLeaseDurationSeconds', 'node-lease'],
    ['staticPodPath', 'static-pods'],
  ])
    t.match(result, { detail: new RegExp(`${field}.*guardsOff: ${guard} would allow it`) })
})

t.test('with the guards off it is accepted, with three warnings', async (t) => {
  const off = ['content-type', 'node-lease', 'static-pods'] as const
  t.match(await validate({}, off), { code: 0, out: /: accepted, not checked by .+: 3 warnings$/m })
  const result = await agentOn(off).check(request(false))
  t.match(result, { kind: 'accepted' })
  t.equal(result.kind === 'accepted' && result.remarks.filter((remark) => /contentType|nodeLease|staticPodPath/.test(remark)).length, 3)
})

t.test('a guard never refuses a fallback', async (t) => {
  t.match(await agentOn([]).check(request(true)), { kind: 'accepted' })
})
