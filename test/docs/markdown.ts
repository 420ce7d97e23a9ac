/**
 * The documents of this repository, taken apart as far as the tests need: headings with their anchors, links, code blocks, inline code. It knows the Markdown that
 * the documents use (fenced blocks, ATX headings, inline links), and not all of CommonMark. Pure.
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

/** A fenced code block. `info`: what follows the fence, as in `sh run`. */
export interface Block {
  readonly info: string
  readonly text: string
  readonly line: number
}

export interface Inline {
  readonly text: string
  readonly line: number
}

const FENCE = /^ {0,3}```(.*)$/
const HEADING = /^#{1,6} +(.*?) *#*$/
const CODE = /`([^`]+)`/g
const LINK = /\[(?:[^[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)/g

export function parsePage(path: string, text: string): Page {
  const lines = text.replace(/\n$/, '').split('\n')
  const anchors = new Set<string>()
  const links: Link[] = []
  const blocks: Block[] = []
  const inlineCode: Inline[] = []
  let open: { readonly info: string; readonly line: number; readonly text: string[] } | undefined
  for (const [index, content] of lines.entries()) {
    const line = index + 1
    const fence = FENCE.exec(content)
    if (open !== undefined) {
      if (fence === null) open.text.push(content)
      else {
        blocks.push({ info: open.info, line: open.line, text: open.text.join('\n') })
        open = undefined
      }
      continue
    }
    if (fence !== null) {
      open = { info: (fence[1] ?? '').trim(), line, text: [] }
      continue
    }
    const heading = HEADING.exec(content)?.[1]
    if (heading !== undefined) addAnchor(anchors, heading)
    for (const [, code = ''] of content.matchAll(CODE)) inlineCode.push({ text: code, line })
    for (const [, target = ''] of content.replace(CODE, 'code').matchAll(LINK)) links.push({ target, line })
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: this code block is not closed`)
  return { path, lines: lines.length, anchors, links, blocks, inlineCode }
}

/** As GitHub makes them: lower case, spaces to dashes, no punctuation, and a number where there are several. */
function addAnchor(anchors: Set<string>, heading: string): void {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/`/g, '')
  const slug = plain
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
  let anchor = slug
  for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`
  anchors.add(anchor)
}
