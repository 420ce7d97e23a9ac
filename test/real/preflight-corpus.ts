/** The corpus of preflight against a real kubelet 1.20.2: what is on record is what it says. */
import { strict as assert } from 'node:assert'
import { listCandidates } from '../preflight/corpus/candidates.ts'
import { readDisagreements, readVerdicts } from '../preflight/corpus/recorded.ts'
import { ACCEPTED, askAll } from './kubelet-verdict.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { scenario } from './lab/runner.ts'

/** Each takes five seconds and more of starting. */
const LIMIT_MS = 600_000

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
