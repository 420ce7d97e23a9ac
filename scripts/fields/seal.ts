// SPDX-License-Identifier: Apache-2.0
/**
 * The header of a generated file, with the hash of the whole file: a change by hand can be told
 * from a new generation without the network. Pure.
 */
import { createHash } from 'node:crypto'

const WIDTH = 97
/** Stands for the hash while the text is hashed. */
const BLANK = '0'.repeat(64)

/** `lines` say what is in the file; each becomes a paragraph. */
export function seal(lines: readonly string[], body: string): string {
  const paragraphs = [...lines, `Written by \`npm run fields\`: do not edit. SHA-256 of this text with zeros here: ${BLANK}`]
  const text = `// SPDX-License-Identifier: Apache-2.0\n/**\n${paragraphs.map(wrap).join('\n *\n')}\n */\n${body}`
  return text.replace(BLANK, hashOf(text))
}

/** Whether a generated file is as it was written. */
export function isSealed(text: string): boolean {
  const [, hash] = /with zeros here:\s(?: \* )?([0-9a-f]{64})\n/.exec(text) ?? []
  return hash !== undefined && hash === hashOf(text.replace(hash, BLANK))
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function wrap(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((each) => ` * ${each}`).join('\n')
}
