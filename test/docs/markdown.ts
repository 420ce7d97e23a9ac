// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the documents of this repository as far as the tests need: headings with their anchors,
 * links, code blocks, inline code. It knows the Markdown that the documents use (fenced blocks, ATX
 * headings, links, whose targets may stand at the end of the page), not all of CommonMark. Pure.
 */

export interface Page {
  /** From the root of the repository, as in `docs/design.md`. */
  readonly path: string
  readonly lines: number
  readonly anchors: ReadonlySet<string>
  readonly links: readonly Link[]
  readonly blocks: readonly Block[]
  readonly inlineCode: readonly Inline[]
}

export interface Link {
  readonly target: string
  readonly line: number
}

/** A fenced code block. `info`: the text after the fence, as in `sh run`. */
export interface Block {
  readonly info: string
  readonly text: string
  readonly line: number
}

interface Inline {
  readonly text: string
  readonly line: number
}

const FENCE = /^ {0,3}```(.*)$/
const HEADING = /^#{1,6} +(.*?) *#*$/
/** Where no heading is, as at a row of a table. */
const ANCHOR = /<a id="([\w-]+)"><\/a>/g
const CODE = /`([^`]+)`/g
/** The text of a link may continue on the next line. */
const LINK = /\[(?:[^[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)/g
/** A link by name, as in `[text][name]`, and the line `[name]: target`. */
const NAMED_LINK = /\]\[([a-z0-9-]+)\]/g
const NAMED_TARGET = /^\[([a-z0-9-]+)\]: (\S+)$/g

export function parsePage(path: string, text: string): Page {
  const lines = text.replace(/\n$/, '').split('\n')
  const { blocks, prose } = splitBlocks(path, lines)
  const anchors = new Set<string>()
  for (const line of prose) {
    const heading = HEADING.exec(line)?.[1]
    if (heading !== undefined) addAnchor(anchors, heading)
    for (const [, id = ''] of line.matchAll(ANCHOR)) anchors.add(id)
  }
  const paragraphs = listParagraphs(prose)
  const targets = new Map(prose.flatMap((line) => [...line.matchAll(NAMED_TARGET)].map(([, name, target]) => [name, target])))
  const find = (pattern: RegExp) => paragraphs.flatMap((one) => findAll({ ...one, text: one.text.replace(CODE, blank) }, pattern))
  return {
    path,
    lines: lines.length,
    anchors,
    blocks,
    links: [
      ...find(LINK).map(({ text, line }) => ({ target: text, line })),
      // A name without a target is shown as it is, and no file is called so.
      ...find(NAMED_LINK).map(({ text, line }) => ({ target: targets.get(text) ?? `[${text}]`, line })),
    ],
    inlineCode: paragraphs.flatMap((one) => findAll(one, CODE)).map(({ text, line }) => ({ text: text.replaceAll('\n', ' '), line })),
  }
}

/** `prose`: the lines as they are, and an empty one for each line of a block. */
function splitBlocks(path: string, lines: readonly string[]): { blocks: readonly Block[]; prose: readonly string[] } {
  const blocks: Block[] = []
  let open: { readonly info: string; readonly line: number; readonly text: string[] } | undefined
  const prose = lines.map((content, index) => {
    const fence = FENCE.exec(content)
    if (open === undefined) {
      if (fence === null) return content
      open = { info: (fence[1] ?? '').trim(), line: index + 1, text: [] }
      return ''
    }
    if (fence === null) open.text.push(content)
    else {
      blocks.push({ info: open.info, line: open.line, text: open.text.join('\n') })
      open = undefined
    }
    return ''
  })
  if (open !== undefined) throw new Error(`${path}:${open.line}: this code block is not closed`)
  return { blocks, prose }
}

/** Lines without an empty one between them; `line` is the first. */
function listParagraphs(lines: readonly string[]): readonly Inline[] {
  const paragraphs: { text: string; readonly line: number }[] = []
  for (const [index, text] of lines.entries()) {
    const last = paragraphs.at(-1)
    if (text === '') continue
    if (last !== undefined && index > 0 && lines[index - 1] !== '') last.text += `\n${text}`
    else paragraphs.push({ text, line: index + 1 })
  }
  return paragraphs
}

/** The first group of each match, with its line. */
function findAll({ text, line }: Inline, pattern: RegExp): readonly Inline[] {
  return [...text.matchAll(pattern)].map((match) => ({
    text: match[1] ?? '',
    line: line + text.slice(0, match.index).split('\n').length - 1,
  }))
}

/** Keeps places and line ends. */
function blank(code: string): string {
  return code.replace(/[^\n]/g, ' ')
}

/** A number follows where there are several. */
function addAnchor(anchors: Set<string>, heading: string): void {
  const slug = slugOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/`/g, ''))
  let anchor = slug
  for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`
  anchors.add(anchor)
}

/** As GitHub makes the anchor of a heading: lower case, spaces to dashes, no punctuation. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}
