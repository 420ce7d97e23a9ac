// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { renderSarif } from '../../../../src/command/agent/commands/validate.ts'
import type { Finding, Report } from '../../../../src/preflight/finding.ts'

const FINDING: Finding = {
  rule: 'fields/unknown-key',
  severity: 'warn',
  reason: 'load',
  path: ['evictionHard', 'memory.available'],
  position: { line: 3, column: 5 },
  problem: 'no kubelet knows this',
  advice: 'remove it',
}
const report = (fields: Partial<Report> = {}): Report => ({
  outcome: 'accepted',
  findings: [FINDING],
  parts: [{ part: 'fields', outcome: 'accepted', detail: 'read' }],
  ...fields,
})
const runOf = (name: string, of: Report) => JSON.parse(renderSarif(name, of, '1.2.3')).runs[0]

t.test('a result', async (t) => {
  t.strictSame(runOf('kubelet.yaml', report()).results, [
    {
      ruleId: 'fields/unknown-key',
      ruleIndex: 0,
      level: 'warning',
      message: { text: 'evictionHard["memory.available"]: no kubelet knows this. Remove it.' },
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: 'kubelet.yaml' }, region: { startLine: 3, startColumn: 5 } },
          logicalLocations: [{ fullyQualifiedName: 'evictionHard["memory.available"]', kind: 'member' }],
        },
      ],
    },
  ])
})

t.test('the layer that a field comes from, of a config that this node merges', async (t) => {
  const [merged] = runOf('configmap/kube-system/gpu:kubelet', report({ findings: [{ ...FINDING, layer: 'overlay 10-size.yaml' }] })).results
  t.strictSame(merged.properties, { layer: 'overlay 10-size.yaml' })
})

t.test('names parts that did not check the config; a report that is not checked is a failed run', async (t) => {
  const unjudged = { part: 'kubelet', outcome: 'unjudged', detail: 'no kubelet here' } as const
  for (const part of [unjudged, { ...unjudged, outcome: 'cannot-start' } as const]) {
    const { invocations } = runOf('x', report({ outcome: 'unjudged', parts: [part] }))
    t.match(invocations, [
      {
        executionSuccessful: false,
        toolExecutionNotifications: [{ level: 'note', message: { text: /kubelet did not check the config: no kubelet here/ } }],
      },
    ])
  }
  t.match(runOf('x', report()).invocations, [{ executionSuccessful: true, toolExecutionNotifications: [] }])
})

t.test('names as URIs', async (t) => {
  const uriOf = (name: string) => runOf(name, report()).results[0].locations[0].physicalLocation.artifactLocation.uri
  t.equal(uriOf('./configs/a b#1.yaml'), 'configs/a%20b%231.yaml')
  t.equal(uriOf('/etc/kubelet.yaml'), 'file:///etc/kubelet.yaml')
  t.equal(uriOf('a:b.yaml'), 'a%3Ab.yaml', 'not a scheme')
  t.equal(uriOf('<stdin>'), '%3Cstdin%3E')
})

const anyFinding = fc.record({
  rule: fc.constantFrom('fields/range', 'node/port', 'policy/deny[2]', 'odd'),
  severity: fc.constantFrom('refuse', 'warn', 'info'),
  reason: fc.constantFrom('load', 'validate'),
  path: fc.array(fc.oneof(fc.string(), fc.nat(9)), { maxLength: 3 }),
  position: fc.option(fc.record({ line: fc.integer({ min: 1, max: 1e6 }), column: fc.integer({ min: 1, max: 1e6 }) }), { nil: undefined }),
  problem: fc.string({ minLength: 1 }),
  advice: fc.option(fc.string(), { nil: undefined }),
}) satisfies fc.Arbitrary<Finding>

/**
 * The schema of SARIF 2.1.0 requires these fields of the objects that are used, and code-scanning
 * systems require some more.
 */
t.test('every report has all required fields', async (t) => {
  const anyReport = fc.record({
    outcome: fc.constantFrom('accepted', 'refused', 'unjudged'),
    findings: fc.array(anyFinding, { maxLength: 5 }),
    parts: fc.array(fc.record({ part: fc.string(), outcome: fc.constantFrom('accepted', 'unjudged'), detail: fc.string() }), {
      maxLength: 2,
    }),
  }) satisfies fc.Arbitrary<Report>
  const anyName = fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1, maxLength: 3 }).map((steps) => steps.join('/'))
  fc.assert(
    fc.property(anyName, anyReport, (name, of) => {
      const log = JSON.parse(renderSarif(name, of, '1.2.3'))
      t.strictSame(Object.keys(log), ['$schema', 'version', 'runs'])
      t.equal(log.version, '2.1.0')
      t.match(log.$schema, /\/sarif-schema-2\.1\.0\.json$/)
      const [run] = log.runs
      t.strictSame(Object.keys(run).sort(), ['columnKind', 'invocations', 'properties', 'results', 'tool'])
      t.equal(run.columnKind, 'utf16CodeUnits')
      const { driver } = run.tool
      t.strictSame(Object.keys(driver).sort(), ['name', 'rules', 'semanticVersion'])
      const ids = driver.rules.map(({ id }: { id: string }) => id)
      t.equal(new Set(ids).size, ids.length, 'rules are unique')
      for (const rule of driver.rules) {
        t.match(rule, {
          id: String,
          name: /^[A-Z][A-Za-z0-9]*$/,
          shortDescription: { text: /./ },
          defaultConfiguration: { level: /^(error|warning|note)$/ },
        })
      }
      t.equal(run.results.length, of.findings.length)
      for (const result of run.results) {
        t.equal(driver.rules[result.ruleIndex].id, result.ruleId)
        t.match(result.level, /^(error|warning|note)$/)
        t.ok(result.message.text.length > 0)
        t.equal(result.locations.length, 1)
        const { artifactLocation, region } = result.locations[0].physicalLocation
        t.match(artifactLocation.uri, /^[A-Za-z0-9%._~!*'()/:-]+$/)
        t.doesNotThrow(() => new URL(artifactLocation.uri, 'file:///repository/'))
        t.ok(region.startLine >= 1 && region.startColumn >= 1)
      }
    }),
    { numRuns: 100 },
  )
})
