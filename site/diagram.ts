// SPDX-License-Identifier: Apache-2.0
/**
 * A Mermaid diagram of a page: where its two pictures lie between the steps of the build, and how
 * they stand in the page. Pure.
 */
import { createHash } from 'node:crypto'

export const THEMES = ['light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** How far a narrow page shrinks a diagram: its words stay legible, and the rest is scrolled to. */
const LEAST = 0.7

/** Of a code block in the Markdown. */
export function isDiagram(info: string): boolean {
  return info.trim() === 'mermaid'
}

/** A name for the file, and the id by which the picture's own styles find it. */
export function diagramName(source: string, theme: Theme): string {
  return `diagram-${createHash('sha256').update(source.trim()).digest('hex').slice(0, 12)}-${theme}`
}

/**
 * HTML for a page that Vue compiles. Vue would drop the `<style>` of a picture that stands in the
 * page itself: v-html has it as a text.
 */
export function diagramHtml(label: string, pictures: Readonly<Record<Theme, string>>): string {
  const figures = THEMES.map((theme) => {
    const picture = pictures[theme]
      .replace('<svg ', `<svg aria-label="${escapeHtml(label)}" `)
      .replace(/max-width: ([\d.]+)px;/, (all, width) => `${all} min-width: ${Math.round(Number(width) * LEAST)}px;`)
    return `<div class="diagram only-${theme}" tabindex="0" v-html="${escapeHtml(JSON.stringify(picture))}"></div>`
  })
  return `${figures.join('\n')}\n`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
