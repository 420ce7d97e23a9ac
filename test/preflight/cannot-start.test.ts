// SPDX-License-Identifier: Apache-2.0
/**
 * A package has put another kubelet on disk, which does not start with the flags of the unit, and
 * nobody has restarted the one that runs. A config that is edited now must not end it.
 */
import t from 'tap'
import { AgentPreflight } from '../../src/preflight/agent-preflight.ts'
import { inspectWith } from '../../src/preflight/inspect.ts'
import { asOfNextStart, targetOf } from '../../src/preflight/inspection.ts'
import { classify } from '../../src/preflight/kubelet/classify.ts'
import { placesIn } from '../../src/preflight/kubelet/judgement.ts'
import { NOTHING_KNOWN } from '../../src/preflight/node/surroundings.ts'
import { listParts } from '../../src/preflight/parts.ts'
import { describeSource } from '../../src/subject/config-source.ts'
import { CRASHES, SmallWorld, WELL } from '../agent/small-world.ts'
import { A, A_EDITED, B, MINUTE_US, textOf } from '../decision/snapshots.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const VERSION = { major: 1, minor: 27, patch: 0 }
const REMOVED = '--container-runtime=remote'
/** `--max-pods=${MAX_PODS}`, where the variable comes from systemd's own environment. */
const EMPTY = '--max-pods='
const PLACES = placesIn('/run/judge', 'kubelet', 'load')
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const END = 'Running as unit: x.service\nFinished with result: exit-code\n'

/** The output of kubelet 1.27 in its sandbox. */
function outputWith(flags: readonly string[]): string {
  const failure = flags.includes(REMOVED)
    ? 'failed to parse kubelet flag: unknown flag: --container-runtime'
    : flags.includes(EMPTY)
      ? 'failed to parse kubelet flag: invalid argument "" for "--max-pods" flag: strconv.ParseInt: parsing "": invalid syntax'
      : `failed to run Kubelet: unable to load kubeconfig: stat ${PLACES.kubeconfig}: no such file or directory`
  return `${END}E1121 20:44:19.976746      82 run.go:74] "command failed" err=${JSON.stringify(failure)}\n`
}

function checksOf(world: SmallWorld): AgentPreflight {
  const signal = new AbortController().signal
  const parts = listParts({
    surroundings: async () => NOTHING_KNOWN,
    policy: () => ({ base: 'open', allow: [], deny: [], requireDrain: [] }),
    guardsOff: () => [],
    judge: {
      judge: async ({ flags, incomplete }) =>
        classify(outputWith(flags), { stage: 'load', places: PLACES, flags, incomplete, version: VERSION }),
      forget: () => {},
    },
    signal,
  })
  return new AgentPreflight({
    inspect: ({ source, data, unit }, ended) => {
      const { command } = asOfNextStart(unit)
      const recipient = { kubelet: command && targetOf(command), version: VERSION, node: undefined, unknownKeys: 'warn' } as const
      const config = { name: describeSource(source), files: { kubelet: `${HEAD}# ${data.kubelet}\n` }, key: 'kubelet' }
      const options = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'if-possible', node: true } as const
      return inspectWith(parts, async () => recipient, IN_PLACE, ended)(config, options)
    },
    decode: async () => ({ kind: 'accepted', remarks: [], drain: [] }),
    settings: () => undefined,
    forget: () => {},
    onDone: () => {},
    onTimed: () => {},
    clock: { now: () => ({ bootId: 'boot-1', monotonicUs: world.nowUs, wallMs: world.nowUs / 1000 }) },
    signal,
    sleep: () => new Promise(() => {}),
  })
}

/** Kubelet runs A, which has passed its trial. */
async function settledOn(): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.checks = checksOf(world)
  world.want(A)
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  return world
}

/** The kubelet on disk is another one from now on, and so is what verdicts are recorded for. */
function upgrade(world: SmallWorld, nextWords: readonly string[]): void {
  world.kubeletIdentity = `kubelet 1.27 ${nextWords.join(' ')}`
  world.kubeletCommand = { path: '/usr/bin/kubelet', words: [REMOVED], nextWords }
}

t.test('kubelet is left alone until its flags are corrected', async (t) => {
  const world = await settledOn()
  const restarts = world.restartsAskedAtUs.length
  upgrade(world, [REMOVED])
  world.want(A_EDITED)
  const wait = await world.run(30 * MINUTE_US)
  t.equal(world.restartsAskedAtUs.length, restarts, 'kubelet is not restarted')
  t.equal(await world.running(), textOf(A))
  t.match(wait, { phase: 'unknown', detail: /preflight of .* could not be carried out/ })
  t.match(world.snapshots.at(-1)?.troubles, [
    { step: 'preflight', detail: /kubelet 1\.27\.0 does not accept the flags .*: unknown flag: --container-runtime.*correct its flags/ },
  ])
  t.equal(world.log.said.filter((line) => line.includes('preflight failed')).length, 1, 'it is said once')
  t.same([...(world.snapshots.at(-1)?.verdicts ?? [])], [], 'the config is not at fault')
  upgrade(world, [])
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(A_EDITED), 'it goes on by itself')
})

t.test('flags that are corrected already, and that the process does not have yet, hold up nothing', async (t) => {
  const world = await settledOn()
  upgrade(world, [])
  world.want(A_EDITED)
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(A_EDITED))
})

t.test('a kubelet that is down falls back all the same', async (t) => {
  const world = await settledOn()
  world.behave(B, CRASHES)
  world.want(B)
  await world.until('restart')
  upgrade(world, [REMOVED])
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
})

t.test('no config is blamed for a flag of a kubelet that is down, though its unit does not set every variable', async (t) => {
  const world = new SmallWorld()
  world.checks = checksOf(world)
  world.behave('local', CRASHES)
  world.kubeletCommand = { path: '/usr/bin/kubelet', words: [REMOVED], incomplete: 'more' }
  world.behave(A, CRASHES)
  world.want(A)
  const wait = await world.run(30 * MINUTE_US)
  t.match(wait, { phase: 'unknown', detail: /preflight of .* could not be carried out/ })
  t.same([...(world.snapshots.at(-1)?.verdicts ?? [])], [], 'the config is not at fault')
  // The drop-in of kubeadm still names KUBELET_EXTRA_ARGS, which nothing sets.
  world.kubeletCommand = { path: '/usr/bin/kubelet', words: [], incomplete: 'more' }
  world.behave(A, WELL)
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
})

t.test('a corrected config reaches a kubelet that is down, though its flags are not known completely', async (t) => {
  const world = await settledOn()
  world.behave(A, CRASHES)
  world.behave('local', CRASHES)
  world.kubeletCommand = { path: '/usr/bin/kubelet', words: [EMPTY], incomplete: 'more' }
  await world.run(30 * MINUTE_US)
  world.want(A_EDITED)
  await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(A_EDITED))
})
