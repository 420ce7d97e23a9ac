// SPDX-License-Identifier: Apache-2.0
/**
 * SVG as text: elements, and a document that follows the colour scheme of who looks at it. It has
 * its own background, so it is readable on any page. Pure.
 */

type Attributes = Readonly<Record<string, string | number>>

interface Document {
  readonly width: number
  readonly height: number
  readonly title: string
  /** For who does not see it. */
  readonly description: string
  readonly looks: readonly Look[]
  /** More rules of CSS. */
  readonly style?: string
  readonly body: readonly string[]
}

/** What an element with a class looks like in the two colour schemes. */
export interface Look {
  readonly selector: string
  readonly property: 'fill' | 'stroke'
  readonly light: string
  readonly dark: string
}

const SANS = 'system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif'
/** The usual share of the size of a font that a character takes, on the generous side. */
const CHARACTER = 0.56

const COMMON: readonly Look[] = [
  { selector: '.page', property: 'fill', light: '#ffffff', dark: '#0d1117' },
  { selector: '.card', property: 'fill', light: '#f6f8fa', dark: '#161b22' },
  { selector: '.card', property: 'stroke', light: '#d0d7de', dark: '#30363d' },
  { selector: 'text', property: 'fill', light: '#1f2328', dark: '#e6edf3' },
  { selector: '.muted', property: 'fill', light: '#57606a', dark: '#9da7b3' },
  { selector: '.grid', property: 'stroke', light: '#d8dee4', dark: '#30363d' },
  { selector: '.mark', property: 'stroke', light: '#57606a', dark: '#9da7b3' },
]

export function drawDocument({ width, height, title, description, looks, style = '', body }: Document): string {
  const all = [...COMMON, ...looks]
  const rules = (scheme: 'light' | 'dark') => all.map((look) => `${look.selector}{${look.property}:${look[scheme]}}`).join('')
  const css = `text{font:12px ${SANS}}${rules('light')}@media (prefers-color-scheme:dark){${rules('dark')}}${style}`
  const size = { viewBox: `0 0 ${round(width)} ${round(height)}`, width: round(width), height: round(height) }
  return `${element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', ...size, role: 'img', 'aria-labelledby': 'title description' },
    element('title', { id: 'title' }, escapeText(title)),
    element('desc', { id: 'description' }, escapeText(description)),
    element('style', {}, escapeText(css)),
    rect(0, 0, width, height, { class: 'page' }),
    ...body,
  )}\n`
}

export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const list = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escapeText(String(typeof value === 'number' ? round(value) : value))}"`,
  )
  if (children.length === 0) return `<${name}${list.join('')}/>`
  const isText = name === 'text' || name === 'tspan' || children.length === 1
  return `<${name}${list.join('')}>${isText ? children.join('') : `\n${children.join('\n')}\n`}</${name}>`
}

export function rect(x: number, y: number, width: number, height: number, attributes: Attributes = {}): string {
  return element('rect', { x, y, width, height, ...attributes })
}

export function line(from: readonly [number, number], to: readonly [number, number], attributes: Attributes): string {
  return element('path', { d: `M${round(from[0])} ${round(from[1])}L${round(to[0])} ${round(to[1])}`, ...attributes })
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, escapeText(content))
}

export function escapeText(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

export function round(value: number): number {
  return Math.round(value * 10) / 10
}

export function widthOf(content: string, size = 12): number {
  return content.length * size * CHARACTER
}

/** Lines of words that are no wider. */
export function wrapWords(content: string, width: number, size = 12): readonly string[] {
  const lines: string[] = []
  for (const word of content.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && widthOf(longer, size) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** The end is left out where it has no room. */
export function cutText(content: string, width: number, size = 12): string {
  const most = Math.floor(width / (size * CHARACTER))
  return content.length <= most ? content : `${content.slice(0, Math.max(0, most - 1))}…`
}
