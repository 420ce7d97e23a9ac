// SPDX-License-Identifier: Apache-2.0
/**
 * The agent judges the same values that kubelet decodes: on random texts, against upstream's
 * decoders. With the rules of the common part of YAML off, the same texts show what these rules
 * keep away.
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
/** The scenario runs behind other lanes. */
const LIMIT_MS = 3_600_000

/** Go reads such keys in a random order: one pair may agree by chance. */
const KEYS_OF_TWO_KINDS = Array.from({ length: 16 }, (_, key) => `${key}: a\n!!str ${key}: b\n`).join('')

/** A class of texts that kubelet reads otherwise: one of them, and the rule that refuses it. */
const CLASSES: readonly (readonly [name: string, text: string, rule: RegExp])[] = [
  ['a question mark in braces', 'x: {?k: v}\n', /text without quotes/],
  ['a question mark in brackets', 'x: [?b]\n', /text without quotes/],
  ['a key behind a question mark', 'x: 1\n? [a]\n: b\n', /question mark before a key/],
  ['two byte order marks', '\ufeff\ufeffa: 1\n', /U\+FEFF/],
  ['a byte order mark inside', '# c\n\ufeffa: 1\n', /U\+FEFF/],
  ['a key in braces without a value', 'x: {c:}\n', /key in braces/],
  ['a key in braces that is too long', `x: {${'k'.repeat(1000)}${' '.repeat(25)}: 1}\n`, /a key that is neither/],
  ['an anchor with a colon', 'x: &a:x 1\ny: *a:x\n', /name of this anchor/],
  ['a document that is a block of text', '>\n>', /document that is only a block of text/],
  ['a block of text with its indentation', 'x: |2-\n      a\n   \n \n', /block of text that begins like this/],
  ['a block of text without a line feed at its end', 'x: |\n  a', /no line feed at its end/],
  ['U+2028', 'x: a\u2028b\n', /U\+2028/],
  ['U+2029', "x: 'a\u2029 b'\n", /U\+2029/],
  ['U+0085', "x: 'a\u0085b'\n", /U\+0085/],
  ['a carriage return', 'x: "a\rb"\n', /U\+000D/],
  ['a number with underscores', 'x: .1_000\n', /text without quotes/],
  ['keys of two kinds', KEYS_OF_TWO_KINDS, /a tag|a key must be text/],
  ['a key that is no text', '[a]: 1\n', /a key that is neither/],
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
        const shown = CLASSES.map(([, text]) => text)
        const { differences } = await findDifferences(decoders, [...shown, ...texts], parseUncommon)
        const found = [...new Set(differences.map(({ text }) => text))]
        const missing = CLASSES.filter(([, text, rule]) => !found.includes(text) || !rule.test(ruleOf(text)))
        assert.deepEqual(
          missing.map(([name]) => name),
          [],
        )
        assert.deepEqual(found.filter((text) => ruleOf(text) === NO_RULE).slice(0, SHOWN), [])
      })
    },
    { timeoutMs: LIMIT_MS },
  )
}
