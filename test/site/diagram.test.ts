// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { diagramHtml, diagramName, isDiagram } from '../../site/diagram.ts'

t.test('a diagram is a block of Mermaid, and its pictures are named by what it says and by their theme', async (t) => {
  t.same(['mermaid', 'mermaid ', 'sh run', 'text'].map(isDiagram), [true, true, false, false])
  t.match(diagramName('a --> b', 'light'), /^diagram-[0-9a-f]{12}-light$/)
  t.equal(diagramName('a --> b\n', 'dark'), diagramName('a --> b', 'dark'), 'an end of line says nothing')
  t.not(diagramName('a --> b', 'dark'), diagramName('a --> c', 'dark'))
})

t.test('a picture stands in the page as a text for Vue, with a name and a least width', async (t) => {
  const html = diagramHtml('A "b" & c', { light: '<svg style="max-width: 100.5px;"><style>a</style></svg>', dark: '<svg id="x"></svg>' })
  const [light, dark] = html
    .trimEnd()
    .split('\n')
    .map((line) => ({ line, text: JSON.parse(readHtml(/v-html="([^"]*)"/.exec(line)?.[1] ?? '')) }))
  t.match(light?.line, /^<div class="diagram only-light" tabindex="0" /)
  t.equal(light?.text, '<svg aria-label="A &quot;b&quot; &amp; c" style="max-width: 100.5px; min-width: 70px;"><style>a</style></svg>')
  t.match(dark?.line, 'only-dark')
  t.equal(dark?.text, '<svg aria-label="A &quot;b&quot; &amp; c" id="x"></svg>')
})

function readHtml(html: string): string {
  return html.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
