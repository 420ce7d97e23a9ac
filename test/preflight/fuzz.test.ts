// SPDX-License-Identifier: Apache-2.0
/** No text makes parsing and checking throw, hang, or produce too much output. */
import fc from 'fast-check'
import t from 'tap'
import { FIELDS, NEWEST_MINOR } from '../../src/kubelet/fields.ts'
import { checkFields } from '../../src/preflight/check-fields.ts'
import { readDocument } from '../../src/preflight/document.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { HEAD, JSON_HEAD } from './corpus/candidate.ts'
import { listCandidates } from './corpus/candidates.ts'

const MOST_FINDINGS = 600
const LONGEST_TEXT = 3000

async function check(text: string): Promise<void> {
  const read = await readDocument(text, IN_PLACE)
  if (!read.ok) {
    if (read.detail.length > LONGEST_TEXT) throw new Error('the text is too long')
    return
  }
  for (const version of [undefined, { major: 1, minor: 20, patch: 2 }, { major: 1, minor: NEWEST_MINOR, patch: 0 }]) {
    const findings = checkFields(read.document, { version, unknownKeys: 'warn' })
    if (findings.length > MOST_FINDINGS) throw new Error('too many findings')
    for (const { problem, advice = '' } of findings)
      if (problem.length + advice.length > LONGEST_TEXT) throw new Error('the text is too long')
  }
}

const hostile = fc.string({
  unit: fc.constantFrom(...'{}[]:-,&*!|>\'"%@`# \n\t\r\ufeff\u2028a0?<~.=', '<<: ', '*a', '&a ', '!!', '---\n', 'port: '),
  maxLength: 60,
})

t.test('any text', async () => {
  await fc.assert(fc.asyncProperty(fc.oneof(hostile, fc.string({ unit: 'binary' })), check), { numRuns: 150 })
  await fc.assert(
    fc.asyncProperty(hostile, (text) => check(`${HEAD}${text}`)),
    { numRuns: 150 },
  )
  await fc.assert(
    fc.asyncProperty(hostile, (text) => check(`{${JSON_HEAD},${text}}`)),
    { numRuns: 150 },
  )
})

t.test('any JSON in any field', async () => {
  const fields = fc.dictionary(
    fc.constantFrom(...Object.keys(FIELDS), '__proto__', 'constructor', 'toString'),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 8 },
  )
  await fc.assert(
    fc.asyncProperty(fields, (some) =>
      check(`{${JSON_HEAD}${JSON.stringify(some).replace(/^\{(.*)\}$/s, (_, inner) => (inner === '' ? '}' : `,${inner}}`))}`),
    ),
    {
      numRuns: 150,
    },
  )
})

t.test('damaged candidates of the corpus', async () => {
  const texts = listCandidates()
    .map(({ text }) => text)
    .filter((text) => text.length < 1_000)
  const cut = fc.record({ text: fc.constantFrom(...texts), from: fc.nat(200), length: fc.nat(8), instead: hostile })
  await fc.assert(
    fc.asyncProperty(cut, ({ text, from, length, instead }) =>
      check(`${text.slice(0, from)}${instead.slice(0, 4)}${text.slice(from + length)}`),
    ),
    { numRuns: 200 },
  )
})

t.test('texts that are designed to be expensive', async (t) => {
  const started = process.cpuUsage()
  const many = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, index) => line(index)).join('')
  for (const text of [
    `${HEAD}${many(3_000, (index) => `key${index}: ${index}\n`)}`,
    `${HEAD}featureGates:\n${many(5_000, (index) => `  Gate${index}: true\n`)}`,
    `${HEAD}evictionHard:\n${many(5_000, (index) => `  signal${index}: 5%\n`)}`,
    `${HEAD}tlsCipherSuites:\n${many(5_000, (index) => `- SUITE_${index}\n`)}`,
    `${HEAD}enforceNodeAllocatable:\n${many(5_000, (index) => `- one${index}\n`)}`,
    `${HEAD}registerWithTaints:\n${many(3_000, () => '- {key: a b}\n')}`,
    `${HEAD}reservedSystemCPUs: ${'0-999999999,'.repeat(20_000)}0\n`,
    `${HEAD}syncFrequency: ${'1h'.repeat(200_000)}\n`,
    `${HEAD}systemReserved: {cpu: ${'1'.repeat(300_000)}}\n`,
    `{${JSON_HEAD},"x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
    `{${JSON_HEAD}${many(40_000, (index) => `,"key${index % 100}":1.0`)}}`,
  ]) {
    await check(text)
  }
  const { user } = process.cpuUsage(started)
  t.ok(user < 30_000_000, `${user / 1000} ms`)
})
