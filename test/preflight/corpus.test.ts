/**
 * Compares preflight's results on the corpus with those recorded from a real kubelet 1.20.2. Known
 * differences are on record with their reasons, and a record without a difference is an error.
 * `test/real/` checks that kubelet still gives these results.
 */
import t from 'tap'
import { checkFields } from '../../src/preflight/check-fields.ts'
import { readDocument } from '../../src/preflight/read-document.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { listCandidates } from './corpus/candidates.ts'
import { readDisagreements, readVerdicts } from './corpus/recorded.ts'

const version = { major: 1, minor: 20, patch: 2 }
const candidates = listCandidates()
const verdicts = readVerdicts()
const disagreements = readDisagreements()

/** undefined: accepted. */
async function refuse(text: string): Promise<string | undefined> {
  const read = await readDocument(text, IN_PLACE)
  if (!read.ok) return read.detail
  const refusals = checkFields(read.document, { version, unknownKeys: 'warn' }).filter(({ severity }) => severity === 'refuse')
  return refusals.length === 0 ? undefined : refusals.map(({ problem }) => problem).join('; ')
}

t.test('corpus and recorded verdicts belong together', async (t) => {
  t.ok(candidates.length >= 300, `${candidates.length} candidates`)
  t.strictSame(
    [...verdicts.keys()].sort(),
    candidates.map(({ name }) => name).sort(),
    'every candidate has a verdict, and every verdict a candidate',
  )
  const names = new Set(candidates.map(({ name }) => name))
  for (const name of disagreements.keys()) t.ok(names.has(name), name)
})

t.test('kubelet and preflight agree, except for known differences', async (t) => {
  const surprises: string[] = []
  for (const { name, text } of candidates) {
    const theirs = verdicts.get(name) ?? ''
    const ours = await refuse(text)
    const agree = (theirs === 'accepted') === (ours === undefined)
    if (agree === disagreements.has(name))
      surprises.push(`${JSON.stringify(name).slice(0, 200)}: kubelet ${theirs}; preflight ${ours ?? 'accepted'}`)
  }
  t.strictSame(surprises, [])
})

t.test('preflight refuses configs that fail only while kubelet starts', async (t) => {
  const late = candidates.filter(({ name }) => disagreements.get(name)?.atStart !== undefined)
  t.ok(late.length > 10)
  for (const { name, text } of late) t.type(await refuse(text), 'string', name)
})
