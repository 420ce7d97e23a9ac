// SPDX-License-Identifier: Apache-2.0
/**
 * Compares preflight's results on the corpus with those recorded from a real kubelet 1.20.2 and
 * from the newest one. Known differences are on record with their reasons, and a record without a
 * difference is an error. `test/real/` checks that kubelet still gives these results, and compares
 * with the kubelets between them.
 */
import t from 'tap'
import { NEWEST_MINOR } from '../../src/kubelet/fields.ts'
import { readDocument } from '../../src/preflight/document.ts'
import { checkNode, findNeeds } from '../../src/preflight/node/check-node.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { listCandidates } from './corpus/candidates.ts'
import { compare, refusalOf } from './corpus/compare.ts'
import { RECORDED_MINORS, readDisagreements, readVerdicts } from './corpus/recorded.ts'
import { MACHINE, optionsOf } from './node/node-options.ts'

const version = { major: 1, minor: 20, patch: 2 }
const candidates = listCandidates()
const disagreements = readDisagreements()

t.test('corpus and recorded verdicts belong together', async (t) => {
  t.ok(candidates.length >= 1000, `${candidates.length} candidates`)
  for (const minor of RECORDED_MINORS) {
    t.strictSame(
      [...readVerdicts(minor).keys()].sort(),
      candidates.map(({ name }) => name).sort(),
      `every candidate has a verdict of 1.${minor}, and every verdict a candidate`,
    )
  }
  t.equal(RECORDED_MINORS.at(-1), NEWEST_MINOR)
  const names = new Set(candidates.map(({ name }) => name))
  for (const name of disagreements.keys()) t.ok(names.has(name), name)
})

t.test('kubelet and preflight agree, except for known differences', async (t) => {
  for (const minor of RECORDED_MINORS) {
    const { surprises } = await compare(candidates, readVerdicts(minor), disagreements, { ...version, minor }, { cgroup: 1 })
    t.strictSame(surprises, [], `1.${minor}`)
  }
})

t.test('preflight refuses configs that fail only while kubelet starts', async (t) => {
  const late = candidates.filter(({ name }) => (disagreements.get(name)?.atStart ?? disagreements.get(name)?.atServing) !== undefined)
  t.ok(late.length > 10)
  for (const { name, text } of late) {
    const { from: minor = version.minor } = disagreements.get(name) ?? {}
    t.type(await refusalOf(text, { major: 1, minor, patch: 0 }), 'string', name)
  }
})

t.test('the rules of the node refuse what the list leaves to them', async (t) => {
  const left = candidates.filter(({ name }) => disagreements.get(name)?.judgedBy === 'node')
  t.ok(left.length > 0)
  for (const { name, text } of left) {
    const { from = 20, cgroup = 2 } = disagreements.get(name) ?? {}
    const read = await readDocument(text, IN_PLACE)
    if (!read.ok) throw new Error(read.detail)
    const options = optionsOf(from)
    const paths = new Map(findNeeds(read.document.config, options).paths.map((path) => [path, 'missing'] as const))
    const findings = checkNode(read.document.config, read.document, { ...MACHINE, paths, cgroupVersion: cgroup }, options)
    t.ok(
      findings.some(({ severity }) => severity === 'refuse'),
      name,
    )
  }
})
