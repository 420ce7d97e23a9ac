// SPDX-License-Identifier: Apache-2.0
/**
 * The macros of man(7) that the pages use, with text escaped, so no text can become a request.
 * Pure.
 */

export interface PageHead {
  readonly name: string
  readonly section: number
  /** The day, as in 2026-11-21. */
  readonly date: string
  /** In the footer of the page. */
  readonly source: string
  readonly manual: string
}

export function page(head: PageHead, ...parts: readonly string[]): string {
  const title = [head.name.toUpperCase(), String(head.section), head.date, head.source, head.manual].map((text) => `"${escapeText(text)}"`)
  return `.TH ${title.join(' ')}\n.nh\n.ad l\n${parts.join('')}`
}

export function section(title: string, ...parts: readonly string[]): string {
  return `.SH ${quoted(title.toUpperCase())}\n${parts.join('')}`
}

export function subsection(title: string, ...parts: readonly string[]): string {
  return `.SS ${quoted(title)}\n${parts.join('')}`
}

export function paragraph(text: string): string {
  return `.PP\n${line(inline(text))}\n`
}

/** A term and its description. The term is not escaped: pass it through `bold` or `italic`. */
export function term(head: string, ...paragraphs: readonly string[]): string {
  const [first = '', ...others] = paragraphs
  const more = others.map((text) => `.IP\n${line(inline(text))}\n`).join('')
  return `.TP\n${line(head)}\n${line(inline(first))}\n${more}`
}

export function example(lines: readonly string[]): string {
  return `.PP\n.RS 4\n.nf\n${lines.map((each) => line(escapeText(each))).join('\n')}\n.fi\n.RE\n`
}

export function bold(text: string): string {
  return `\\fB${escapeText(text)}\\fP`
}

export function italic(text: string): string {
  return `\\fI${escapeText(text)}\\fP`
}

/** Escaped text, with `code` in backquotes in bold. */
function inline(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? bold(part) : escapeText(part)))
    .join('')
}

function escapeText(text: string): string {
  return text
    .replaceAll('\\', '\\(rs')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('"', '\\(dq')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
}

/**
 * A line that begins with a dot would be a request. (Quotes, the other mark of a request, are
 * escaped.)
 */
function line(text: string): string {
  return text.startsWith('.') ? `\\&${text}` : text
}

function quoted(text: string): string {
  return `"${escapeText(text)}"`
}
