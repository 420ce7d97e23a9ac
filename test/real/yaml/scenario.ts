/**
 * What the agent judges is what kubelet decodes: on random texts, against upstream's decoders. With
 * the rules of the common part of YAML off, the same texts show what these rules keep away.
 */
import { strict as assert } from 'node:assert'
import { parseUncommon } from '../../../src/kubelet/yaml.ts'
import { seededRandom } from '../../sim/random.ts'
import { ensureDecoders } from '../lab/build-decoder.ts'
import { scenario } from '../lab/runner.ts'
import { findDifferences, NO_RULE, ruleOf } from './agreement.ts'
import { makeText } from './texts.ts'

const TEXTS = 20_000
const SEED = 1
const SHOWN = 5
/** It runs behind other lanes. */
const LIMIT_MS = 3_600_000

/** What was found to differ once: a text that shows it, and the rule that refuses it now. */
const CLASSES: readonly (readonly [name: string, text: RegExp, rule: RegExp])[] = [
  ['a question mark in braces', /\{\?/, /text without quotes/],
  ['a question mark in brackets', /\[\?/, /text without quotes/],
  ['a key behind a question mark', /^\s*\? /m, /question mark before a key/],
  ['two byte order marks', /^\ufeff\ufeff/, /U\+FEFF/],
  ['a byte order mark inside', /.\ufeff/s, /U\+FEFF/],
  ['a key in braces without a value', /\{c:\}/, /key in braces/],
  ['a key in braces that is too long', /\{k{1000} +:/, /a key that is neither/],
  ['an anchor with a colon', /&a:x/, /name of this anchor/],
  ['a document that is a block of text', /^(?:--- )?[|>]/, /document that is only a block of text/],
  ['a block of text with its indentation', /[|>][-+]?[12]/, /block of text that begins like this/],
  ['a block of text without a line feed at its end', /[|>][\s\S]*[^\n]$/, /no line feed at its end/],
  ['U+2028', /\u2028/, /U\+2028/],
  ['U+2029', /\u2029/, /U\+2029/],
  ['U+0085', /\u0085/, /U\+0085/],
  ['a carriage return', /\r(?!\n)/, /U\+000D/],
  ['a number with underscores', /\.1_000/, /text without quotes/],
  ['keys of two kinds', /!!str 1: b/, /a tag|a key must be text/],
  ['a key that is no text', /^\s*\[a\]/m, /a key that is neither/],
]

export function addYamlScenario(): void {
  scenario(
    'preflight corpus: YAML',
    async (step) => {
      const decoders = await ensureDecoders()
      const random = seededRandom(SEED)
      const texts = Array.from({ length: TEXTS }, () => makeText(random))
      await step(`kubelet decodes what the agent reads from ${TEXTS} texts`, async () => {
        const { read, refusedAlone, differences } = await findDifferences(decoders, texts)
        console.log(`    the agent reads ${read}, and refuses ${refusedAlone} that a kubelet decodes`)
        assert.deepEqual(differences.slice(0, SHOWN), [])
      })
      await step('without its rules they differ in each way that was ever found', async () => {
        const { differences } = await findDifferences(decoders, texts, parseUncommon)
        const found = [...new Set(differences.map(({ text }) => text))].map((text) => ({ text, rule: ruleOf(text) }))
        const missing = CLASSES.filter(([, text, rule]) => !found.some((each) => text.test(each.text) && rule.test(each.rule)))
        assert.deepEqual(
          missing.map(([name]) => name),
          [],
        )
        assert.deepEqual(found.filter(({ rule }) => rule === NO_RULE).slice(0, SHOWN), [])
      })
    },
    { timeoutMs: LIMIT_MS },
  )
}
