// SPDX-License-Identifier: Apache-2.0
/**
 * Command lines as the documents have them, taken apart: enough of a shell to find the commands of
 * a line and their words. Pure.
 */
import type { Page } from './markdown.ts'

export interface CommandLine {
  /** As in `docs/cost.md:12`. */
  readonly where: string
  /** The program first. */
  readonly words: readonly string[]
  /** From running text, which may leave out arguments. */
  readonly isInline: boolean
}

/** Words that end a command within a line. */
const SEPARATORS: readonly string[] = ['|', '||', '&&', ';', '>', '>>', '<', '<<']

/** The commands in code blocks for the shell, after the prompt of a session, and in inline code. */
export function listCommandLines(page: Page): readonly CommandLine[] {
  const typed = page.blocks.flatMap(({ info, text, line }) => {
    const [language] = info.split(' ')
    const lines = joinLines(text, line + 1)
    if (language === 'sh') return lines
    if (language !== 'console') return []
    return lines.filter((one) => /^[$#] /.test(one.text)).map((one) => ({ ...one, text: one.text.slice(2) }))
  })
  const listed = (line: number, text: string, isInline: boolean) =>
    splitCommands(text).map((words): CommandLine => ({ where: `${page.path}:${line}`, words, isInline }))
  return [
    ...typed.flatMap(({ text, line }) => listed(line, text, false)),
    ...page.inlineCode.flatMap(({ text, line }) => listed(line, text, true)),
  ]
}

/** A backslash at the end of a line continues it. */
function joinLines(text: string, first: number): readonly { readonly text: string; readonly line: number }[] {
  const joined: { text: string; line: number }[] = []
  let isContinued = false
  for (const [index, line] of text.split('\n').entries()) {
    const last = joined.at(-1)
    const own = line.replace(/\\$/, '')
    if (isContinued && last !== undefined) last.text += own
    else joined.push({ text: own, line: first + index })
    isContinued = line.endsWith('\\')
  }
  return joined
}

/** The commands of a line with their words. Quotes are taken off; nothing is expanded. */
export function splitCommands(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]]
  for (const word of splitWords(text)) {
    if (!word.isQuoted && word.text.startsWith('#')) break
    if (!word.isQuoted && SEPARATORS.includes(word.text)) commands.push([])
    else commands.at(-1)?.push(word.text)
  }
  return commands.filter((words) => words.length > 0)
}

function splitWords(text: string): readonly { readonly text: string; readonly isQuoted: boolean }[] {
  const words: { text: string; isQuoted: boolean }[] = []
  for (const [found] of text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    const isQuoted = /^['"]/.test(found)
    const plain = found.replace(
      /'([^']*)'|"([^"]*)"/g,
      (_, single: string | undefined, double: string | undefined) => single ?? double ?? '',
    )
    const ended = !isQuoted && plain.endsWith(';') && plain.length > 1
    words.push({ text: ended ? plain.slice(0, -1) : plain, isQuoted })
    if (ended) words.push({ text: ';', isQuoted: false })
  }
  return words
}
