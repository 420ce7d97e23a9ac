// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run yaml:differ -- --texts 1000000 --seed 7`: holds what the agent reads from random texts
 * against upstream's decoders, and prints the differences. With `--any` the rules of the common
 * part of YAML do not count, and the differences are counted by the rule that keeps each away.
 */
import { parseArgs } from 'node:util'
import { parseLocated, parseUncommon } from '../../../src/kubelet/yaml.ts'
import { seededRandom } from '../../sim/random.ts'
import { ensureDecoders } from '../lab/build-decoder.ts'
import { type Agreement, countRules, findDifferences } from './agreement.ts'
import { makeText } from './texts.ts'

const MOST_SHOWN = 20
const PART = 20_000

const { values } = parseArgs({
  options: {
    texts: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    any: { type: 'boolean', default: false },
  },
})
const [wanted, seed] = [Number(values.texts), Number(values.seed)]
const decoders = await ensureDecoders()
const total: Agreement = { texts: 0, read: 0, refusedAlone: 0, differences: [] }
const random = seededRandom(seed)
while (total.texts < wanted) {
  const texts = Array.from({ length: Math.min(PART, wanted - total.texts) }, () => makeText(random))
  const { differences, ...counts } = await findDifferences(decoders, texts, values.any ? parseUncommon : parseLocated)
  total.texts += counts.texts
  total.read += counts.read
  total.refusedAlone += counts.refusedAlone
  total.differences.push(...differences)
  console.log(
    `${total.texts} texts, ${total.read} read, ${total.refusedAlone} refused by the agent alone, ${total.differences.length} differences`,
  )
}
if (values.any) for (const [rule, count] of countRules(total.differences)) console.log(`${count}: ${rule}`)
else
  for (const { minor, text, what } of total.differences.slice(0, MOST_SHOWN)) console.log(`1.${minor} ${JSON.stringify(text)}\n  ${what}`)
process.exitCode = total.differences.length > 0 === values.any ? 0 : 1
