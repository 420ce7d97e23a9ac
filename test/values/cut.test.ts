// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { onOneLine } from '../../src/values/cut.ts'
import { quote } from '../../src/values/kubernetes-names.ts'

t.test('one line shows nothing that hides or turns text, and is well-formed', async (t) => {
  t.equal(onOneLine(' a\n\tb\u001b[31m\u009bc '), 'a b?[31m?c')
  t.equal(onOneLine('x\u202eyz\u2066\u200f'), 'x?yz??', 'the direction of the text')
  t.equal(onOneLine('a\u200bb\u2060c\u{e0041}d\u3164e\ufe0f'), 'a?b?c?d?e?', 'what nobody sees')
  t.equal(onOneLine('knoten-ä 節點 😀'), 'knoten-ä 節點 😀')
  // Of half a character, an API server makes U+FFFD.
  t.equal(onOneLine('half \ud83d, whole \ud83d\ude00'), 'half ?, whole \ud83d\ude00')
})

t.test('a quoted value is never cut within a character', async (t) => {
  t.equal(quote(`${'a'.repeat(78)}\u{1f600}`), `"${'a'.repeat(78)}`)
  t.equal(quote('a'.repeat(100)), `"${'a'.repeat(79)}`)
  t.equal(quote('short'), '"short"')
})
