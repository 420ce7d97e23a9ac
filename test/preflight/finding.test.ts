// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { Finding, PartResult, Report } from '../../src/preflight/finding.ts'
import { assembleReport } from '../../src/preflight/finding.ts'

const part = (name: string, outcome: PartResult['outcome']): PartResult => ({ part: name, outcome, detail: '' })

function finding(fields: Partial<Finding> = {}): Finding {
  return {
    rule: 'fields/x',
    severity: 'warn',
    reason: 'load',
    path: ['x'],
    position: undefined,
    problem: 'p',
    advice: undefined,
    ...fields,
  }
}

t.test('the outcome of a report', async (t) => {
  const cases: readonly (readonly [string, PartResult[], Finding[], Report['outcome']])[] = [
    ['no results', [], [], 'unjudged'],
    ['the field rules accept', [part('fields', 'accepted')], [], 'accepted'],
    ['a warning does not refuse', [part('fields', 'accepted')], [finding()], 'accepted'],
    ['a finding refuses', [part('fields', 'accepted')], [finding({ severity: 'refuse' })], 'refused'],
    ['a part refuses, without a finding', [part('fields', 'accepted'), part('kubelet', 'refused')], [], 'refused'],
    ['kubelet could not run', [part('fields', 'accepted'), part('kubelet', 'unjudged')], [], 'accepted'],
    ['kubelet cannot start at all', [part('fields', 'accepted'), part('kubelet', 'cannot-start')], [], 'unjudged'],
    ['kubelet cannot start, and another part refuses', [part('fields', 'refused'), part('kubelet', 'cannot-start')], [], 'refused'],
    [
      'kubelet cannot start, and a rule about the node refuses',
      [part('node', 'cannot-start')],
      [finding({ severity: 'refuse' })],
      'refused',
    ],
    ['only kubelet accepts', [part('fields', 'unjudged'), part('kubelet', 'accepted')], [], 'accepted'],
    ['only parts that do not read the whole config accept', [part('node', 'accepted'), part('change', 'accepted')], [], 'unjudged'],
  ]
  for (const [name, parts, findings, outcome] of cases) t.equal(assembleReport(parts, findings).outcome, outcome, name)
})

t.test('a requested part must accept', async (t) => {
  const outcome = (kubelet: PartResult['outcome']) =>
    assembleReport([part('fields', 'accepted'), part('kubelet', kubelet)], [], ['kubelet']).outcome
  t.equal(outcome('accepted'), 'accepted')
  t.equal(outcome('unjudged'), 'unjudged')
  t.equal(outcome('refused'), 'refused')
  t.equal(assembleReport([part('fields', 'accepted')], [], ['kubelet']).outcome, 'unjudged')
})

t.test('order: severity, whole document, position, fields that are not set', async (t) => {
  const at = (line: number, column: number) => ({ line, column })
  const findings = [
    finding({ problem: 'missing', path: ['b'] }),
    finding({ problem: 'second', position: at(2, 1) }),
    finding({ problem: 'whole', path: [] }),
    finding({ problem: 'first', position: at(1, 9) }),
    finding({ problem: 'note', severity: 'info', position: at(1, 1) }),
    finding({ problem: 'refused', severity: 'refuse', position: at(9, 9) }),
    finding({ problem: 'before', position: at(1, 2) }),
  ]
  const order = assembleReport([], findings).findings.map(({ problem }) => problem)
  t.same(order, ['refused', 'whole', 'before', 'first', 'second', 'missing', 'note'])
})

t.test('the order does not depend on that of the input, and there are no duplicates', async (t) => {
  const anyFinding = fc.record({
    rule: fc.constantFrom('fields/a', 'node/b'),
    severity: fc.constantFrom('refuse', 'warn', 'info'),
    reason: fc.constant('load' as const),
    path: fc.array(fc.oneof(fc.constantFrom('a', 'b'), fc.nat(2)), { maxLength: 2 }),
    position: fc.option(fc.record({ line: fc.integer({ min: 1, max: 3 }), column: fc.integer({ min: 1, max: 3 }) }), { nil: undefined }),
    problem: fc.constantFrom('p', 'q'),
    advice: fc.constant(undefined),
  }) satisfies fc.Arbitrary<Finding>
  const shuffled = fc
    .array(anyFinding)
    .chain((findings) => fc.tuple(fc.constant(findings), fc.shuffledSubarray(findings, { minLength: findings.length })))
  fc.assert(
    fc.property(shuffled, ([findings, others]) => {
      const sorted = assembleReport([], findings).findings
      t.same(assembleReport([], others).findings, sorted)
      t.equal(new Set(sorted.map((finding) => JSON.stringify(withoutSeverity(finding)))).size, sorted.length)
    }),
    { numRuns: 60 },
  )
})

function withoutSeverity({ severity: _, ...rest }: Finding) {
  return rest
}
