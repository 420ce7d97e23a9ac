// SPDX-License-Identifier: Apache-2.0
/**
 * The corpus of preflight against a real kubelet, in both directions: what its rules refuse, this
 * kubelet refuses, and what they accept, it loads. What 1.20.2 says of each candidate is on record,
 * and what the newest one says.
 */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { stateOf } from '../../src/kubelet/gates.ts'
import { isFlagOf } from '../../src/preflight/change/kubelet-flags.ts'
import type { Candidate } from '../preflight/corpus/candidate.ts'
import { listCandidates } from '../preflight/corpus/candidates.ts'
import { compare, misreadIn, refusalOf } from '../preflight/corpus/compare.ts'
import { listGateCandidates } from '../preflight/corpus/of-gates.ts'
import { JUDGED_BY_NODE, listPeoplesCandidates } from '../preflight/corpus/of-people.ts'
import { type Disagreement, isKnown, type Machine, readDisagreements, readVerdicts } from '../preflight/corpus/recorded.ts'
import { ACCEPTED, type AskedKubelet, askAll, canServe, canStart, type Stage } from './kubelet-verdict.ts'
import type { Binaries } from './lab/build.ts'
import { OLD_MINOR } from './lab/node-choice.ts'
import { run } from './lab/processes.ts'
import { scenario } from './lab/runner.ts'
import { compareMerged } from './preflight-drop-ins.ts'

/** From here on kubelet fills in defaults after it has merged its drop-ins. */
const FIRST_WITH_DEFAULTS = 32
/** From here on kubelet logs its effective config. */
const FIRST_WITH_LOG = 37
/** Names that stand for all gates of a stage. */
const GROUPS = ['AllAlpha', 'AllBeta']
/** Each takes a minute, and many where the machine is busy: they run behind other lanes. */
const LIMIT_MS = 3_600_000

/** On another kubelet than that of the records. */
export function addLaterCorpusScenarios({ kubelet: binary }: Pick<Binaries, 'kubelet'>, minor: number): void {
  scenario(
    `preflight corpus: loading by kubelet 1.${minor}`,
    async (step) => {
      const candidates = listCandidates()
      const misread: (readonly [text: string, what: readonly string[]])[] = []
      const onAccepted = async (text: string, output: string, flags: readonly string[]): Promise<void> => {
        const what = await misreadIn(text, output, flags, { major: 1, minor, patch: 0 })
        if (what.length > 0) misread.push([text.slice(0, 300), what])
      }
      const kubelet = { ...asked(binary, minor), ...(minor >= FIRST_WITH_LOG && { onAccepted }) }
      await step(`of ${candidates.length} candidates it refuses what the rules refuse, and loads the others`, async () => {
        await agree(candidates, await askAll(kubelet, candidates, 'load'), readDisagreements(), minor)
      })
      await step('the effective config that it logs is the one that the rules expect', async () => assert.deepEqual(misread, []))
    },
    { timeoutMs: LIMIT_MS },
  )
  if (minor >= FIRST_WITH_DEFAULTS) addDropInScenario(binary, minor)
  if (canStart(minor)) addStartScenario(binary, minor)
  if (canServe(minor)) addServeScenario(binary, minor)
  addGateScenario(binary, minor)
}

function addDropInScenario(binary: string | undefined, minor: number): void {
  scenario(
    `preflight corpus: drop-ins of kubelet 1.${minor}`,
    (step) => step('what it makes of empty values, nulls and zeros is what the agent computes', () => compareMerged(asked(binary, minor))),
    { timeoutMs: LIMIT_MS },
  )
}

function addStartScenario(binary: string | undefined, minor: number): void {
  scenario(
    `preflight corpus: starting kubelet 1.${minor}`,
    async (step) => {
      const late = listLate(minor, 'atStart')
      await step(`${late.length} candidates that load are refused at the start, in the words on record`, () =>
        endAll(asked(binary, minor), late, 'start'),
      )
      // The oldest takes seven minutes for them.
      if (minor === OLD_MINOR) return
      const people = listPeoplesCandidates()
      await step(`of ${people.length} configs of people it ends with none that the rules accept`, () =>
        startAll(asked(binary, minor), people),
      )
    },
    { timeoutMs: LIMIT_MS },
  )
}

function addServeScenario(binary: string | undefined, minor: number): void {
  scenario(
    `preflight corpus: serving by kubelet 1.${minor}`,
    async (step) => {
      const late = listLate(minor, 'atServing')
      await step(`${late.length} candidates that load end kubelet when it begins to serve, in the words on record`, () =>
        endAll(asked(binary, minor), late, 'serve'),
      )
    },
    { timeoutMs: LIMIT_MS },
  )
}

/** The rules know the flags here: there are none that supply what a config lacks. */
async function startAll(kubelet: AskedKubelet, people: readonly Candidate[]): Promise<void> {
  const version = { major: 1, minor: kubelet.minor, patch: 0 }
  const loaded = await askAll(kubelet, people, 'load')
  const loads = people.filter(({ name }) => loaded.get(name) === ACCEPTED)
  const taken: Candidate[] = []
  for (const candidate of loads) if ((await refusalOf(candidate.text, version, true)) === undefined) taken.push(candidate)
  const verdicts = await askAll(kubelet, taken, 'start')
  const isExpected = (name: string, verdict: string) => verdict === ACCEPTED || verdict.includes(JUDGED_BY_NODE.get(name) ?? ACCEPTED)
  assert.deepEqual(
    [...verdicts].filter(([name, verdict]) => !isExpected(name, verdict)),
    [],
  )
  console.log(`    of ${people.length} it loads ${loads.length}, of which the rules accept ${taken.length}`)
}

interface Late extends Candidate {
  /** Part of the message. */
  readonly words: string
}

function listLate(minor: number, stage: 'atStart' | 'atServing'): Late[] {
  return listCandidates().flatMap((candidate) => {
    const known = readDisagreements().get(candidate.name)
    const words = known !== undefined && isKnown(known, minor, thisMachine()) ? known[stage] : undefined
    return words === undefined ? [] : [{ ...candidate, words }]
  })
}

async function endAll(kubelet: AskedKubelet, late: readonly Late[], stage: Stage): Promise<void> {
  const verdicts = await askAll(kubelet, late, stage)
  const others = late.filter(({ name, words }) => verdicts.get(name)?.includes(words) !== true)
  assert.deepEqual(
    others.map(({ name }) => ({ name, is: verdicts.get(name) })),
    [],
  )
}

function addGateScenario(binary: string | undefined, minor: number): void {
  scenario(
    `preflight corpus: feature gates of kubelet 1.${minor}`,
    async (step) => {
      const kubelet = asked(binary, minor)
      const candidates = listGateCandidates(minor)
      await step(`of ${candidates.length} gates it takes those, and in those states, that the table has`, async () => {
        await agree(candidates, await askAll(kubelet, candidates, 'load'), new Map(), minor)
      })
      await step('its help names no gate that the table lacks, and none in another state', async () => {
        const { stdout } = await run(kubelet.binary, ['--help'])
        const gates = [...stdout.matchAll(/^\s+(\w+)=true\|false \((\w+) - default=(\w+)\)/gm)]
        const theirs = gates.map(([, name = '', stage = '', on]) => ({ name, stage: stage.toLowerCase(), on: on === 'true' }))
        assert(theirs.length > 50, `the help names ${theirs.length} gates`)
        const others = theirs.filter(({ name, stage, on }) => {
          const ours = stateOf(name, minor)
          return !GROUPS.includes(name) && (ours?.stage !== stage || ours.on !== on)
        })
        assert.deepEqual(others, [])
      })
      await step('its help names no flag that the table says it lacks', async () => {
        const { stdout } = await run(kubelet.binary, ['--help'])
        const flags = [...stdout.matchAll(/^ +(?:-\w, )?--([\w-]+)/gm)].map(([, name = '']) => name)
        assert(flags.length > 100, `the help names ${flags.length} flags`)
        assert.deepEqual(
          flags.filter((name) => !isFlagOf(name, minor)),
          [],
        )
      })
    },
    { timeoutMs: LIMIT_MS },
  )
}

async function agree(
  candidates: readonly Candidate[],
  verdicts: ReadonlyMap<string, string>,
  disagreements: ReadonlyMap<string, Disagreement>,
  minor: number,
): Promise<void> {
  const version = { major: 1, minor, patch: 0 }
  const { accepted, refused, listed, surprises } = await compare(candidates, verdicts, disagreements, version, thisMachine())
  console.log(`    both accept ${accepted} and refuse ${refused}; ${listed} known differences`)
  assert.deepEqual(surprises, [])
}

/** The cgroups that kubelet sees: it looks at the file system of /sys/fs/cgroup. */
function thisMachine(): Machine {
  return { cgroup: existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1 }
}

function asked(binary: string | undefined, minor: number): AskedKubelet {
  assert(binary !== undefined, `there is no kubelet: put one of version 1.${minor} into KUBEBUILDER_ASSETS, or unset it`)
  return { binary, minor }
}

export function addCorpusScenarios({ kubelet: binary }: Pick<Binaries, 'kubelet'>): void {
  const candidates = listCandidates()
  const ask = (some: readonly Candidate[], stage: 'load' | 'start') => askAll(asked(binary, OLD_MINOR), some, stage)

  scenario(
    'preflight corpus: loading',
    async (step) => {
      const recorded = readVerdicts(OLD_MINOR)
      await step(`${candidates.length} candidates have the verdicts on record`, async () => {
        const verdicts = await ask(candidates, 'load')
        const changed = candidates.filter(({ name }) => (verdicts.get(name) === ACCEPTED) !== (recorded.get(name) === ACCEPTED))
        assert.deepEqual(
          changed.map(({ name }) => ({ name: name.slice(0, 200), is: verdicts.get(name), was: recorded.get(name) })),
          [],
        )
      })
    },
    { timeoutMs: LIMIT_MS },
  )

  addStartScenario(binary, OLD_MINOR)
  addGateScenario(binary, OLD_MINOR)
}
