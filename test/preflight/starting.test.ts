// SPDX-License-Identifier: Apache-2.0
/**
 * The table of all that ends kubelet while it starts, and of all that it goes on without, against
 * the rules: each example gets its finding, in the versions that the row says and in no others, and
 * each field has a row or a reason to have none.
 */
import t from 'tap'
import { LAST_IN_TABLES, listLeaves, OLDEST_MINOR } from '../../src/kubelet/fields.ts'
import { checkFields } from '../../src/preflight/check-fields.ts'
import { readDocument } from '../../src/preflight/document.ts'
import type { Finding, Severity } from '../../src/preflight/finding.ts'
import { checkNode, guardClient } from '../../src/preflight/node/check-node.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { v } from './change/configs.ts'
import { withFields } from './corpus/candidate.ts'
import { MACHINE, optionsOf } from './node/node-options.ts'
import { EARLY_EXITS } from './starting/early-exits.ts'
import { GOES_ON, QUIET } from './starting/goes-on.ts'
import { LATE_EXITS } from './starting/late-exits.ts'
import type { FoundByRule, StartRow } from './starting/row.ts'

const ROWS = [...EARLY_EXITS, ...LATE_EXITS, ...GOES_ON]

/** By the rules of fields, of which the flags are known, and of the node. */
async function judge({ example, node, running, flags = [] }: FoundByRule, minor: number, flagsKnown: boolean): Promise<Finding[]> {
  const read = await readDocument(withFields(example).text, IN_PLACE)
  if (!read.ok) throw new Error(read.detail)
  const { document } = read
  const options = optionsOf(minor, flags, { flagsKnown, ...(running && { running: { ...running } }) })
  return [
    ...checkFields(document, { version: v(minor), unknownKeys: 'warn', unseen: flagsKnown ? undefined : 'flags' }),
    ...guardClient(document, options),
    ...checkNode(document.config, document, { ...MACHINE, ...node }, options),
  ]
}

function severityOf({ does, found }: StartRow): Severity {
  return 'rule' in found && found.severity !== undefined ? found.severity : does === 'exits' ? 'refuse' : 'warn'
}

t.test('each row is found by its rule, where kubelet does it', async (t) => {
  for (const row of ROWS) {
    const { found, fields, when, from = OLDEST_MINOR, to = LAST_IN_TABLES.minor - 1 } = row
    if (!('rule' in found)) continue
    const name = `${fields.join(', ')}: ${when}`
    const weigh = async (minor: number, flagsKnown = true) =>
      (await judge(found, minor, flagsKnown)).filter(({ rule }) => rule === found.rule).map(({ severity }) => severity)
    for (const minor of new Set([from, to])) t.ok((await weigh(minor)).includes(severityOf(row)), `1.${minor}: ${name}`)
    if (found.unlessFlag === true) {
      const [severity] = await weigh(to, false)
      t.equal(severity, 'warn', `without the flags: ${name}`)
    }
    if (row.from !== undefined) t.notOk((await weigh(from - 1)).includes(severityOf(row)), `not before 1.${from}: ${name}`)
    if (row.to !== undefined) t.notOk((await weigh(to + 1)).includes(severityOf(row)), `not after 1.${to}: ${name}`)
  }
})

t.test('what kubelet goes on without is told as that', async (t) => {
  for (const { found, from = OLDEST_MINOR, when } of GOES_ON) {
    if (!('rule' in found) || found.severity !== undefined || ['node/missing-file', 'node/shutdown'].includes(found.rule)) continue
    const told = (await judge(found, from, true)).filter(({ rule }) => rule === found.rule).map(({ problem }) => problem)
    t.ok(
      told.some((problem) => problem.startsWith('kubelet starts, and ')),
      `${when}: ${told}`,
    )
  }
})

t.test('each field has a row, or is known to decide nothing', async (t) => {
  const told = new Set<string>(ROWS.flatMap(({ fields }) => fields))
  t.strictSame(
    listLeaves().flatMap(([name]) => (told.has(name) ? [] : [name])),
    listLeaves().flatMap(([name]) => (QUIET.some((quiet) => quiet === name) ? [name] : [])),
  )
  t.strictSame(
    QUIET.filter((name) => told.has(name)),
    [],
    'no field is in both',
  )
})
