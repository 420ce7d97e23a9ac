/**
 * The corpus of preflight against a real kubelet: what is on record is what 1.20.2 says, and what
 * the rules of preflight accept for a later kubelet, that one loads.
 */
import { strict as assert } from 'node:assert'
import { checkFields } from '../../src/preflight/check-fields.ts'
import { readDocument } from '../../src/preflight/read-document.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { listCandidates } from '../preflight/corpus/candidates.ts'
import { readDisagreements, readVerdicts } from '../preflight/corpus/recorded.ts'
import { ACCEPTED, askAll } from './kubelet-verdict.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { scenario } from './lab/runner.ts'

/** Each takes five seconds and more of starting. */
const LIMIT_MS = 600_000

/** On another kubelet than that of the records. */
export function addLaterCorpusScenarios({ binaries: { kubelet } }: ControlPlane, minor: number): void {
  scenario(
    `preflight corpus: loading by kubelet 1.${minor}`,
    async (step) => {
      assert(kubelet !== undefined, 'there is no kubelet')
      const candidates = listCandidates().filter(({ name }) => !readDisagreements().has(name))
      await step(`of ${candidates.length} candidates it loads what the rules accept`, async () => {
        const verdicts = await askAll(kubelet, candidates, 'load')
        const refused: string[] = []
        for (const { name, text } of candidates) {
          const [theirs, ours] = [verdicts.get(name) ?? '', await refusalOf(text, minor)]
          if (ours !== undefined && theirs === ACCEPTED)
            console.log(`    only the rules refuse ${name.slice(0, 120)}: ${ours.slice(0, 200)}`)
          if (ours === undefined && theirs !== ACCEPTED) refused.push(`${name.slice(0, 200)}: ${theirs}`)
        }
        assert.deepEqual(refused, [])
      })
    },
    { timeoutMs: LIMIT_MS },
  )
}

/** By the rules of fields; undefined: they accept it. */
async function refusalOf(text: string, minor: number): Promise<string | undefined> {
  const read = await readDocument(text, IN_PLACE)
  if (!read.ok) return read.detail
  const findings = checkFields(read.document, { version: { major: 1, minor, patch: 0 }, unknownKeys: 'warn' })
  return findings.find(({ severity }) => severity === 'refuse')?.problem
}

export function addCorpusScenarios({ binaries: { kubelet } }: ControlPlane): void {
  const candidates = listCandidates()
  const ask = (some: typeof candidates, stage: 'load' | 'start') => {
    if (kubelet === undefined) throw new Error('KUBEBUILDER_ASSETS has no kubelet: put one of version 1.20 there, or unset it')
    return askAll(kubelet, some, stage)
  }

  scenario(
    'preflight corpus: loading',
    async (step) => {
      const recorded = readVerdicts()
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

  scenario(
    'preflight corpus: starting',
    async (step) => {
      const late = [...readDisagreements()].flatMap(([name, { atStart }]) => (atStart === undefined ? [] : [{ name, atStart }]))
      await step(`${late.length} candidates that load are refused at the start, in the words on record`, async () => {
        const chosen = candidates.filter(({ name }) => late.some((one) => one.name === name))
        const verdicts = await ask(chosen, 'start')
        for (const { name, atStart } of late) assert.ok(verdicts.get(name)?.includes(atStart), `${name}: ${verdicts.get(name)}`)
      })
    },
    { timeoutMs: LIMIT_MS },
  )
}
