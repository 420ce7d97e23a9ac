// SPDX-License-Identifier: Apache-2.0
/** VitePress' configuration: what it reads, how Markdown becomes HTML, and what its theme shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type MarkdownOptions } from 'vitepress'
import { slugOf } from '../../test/docs/markdown.ts'
import { accessible } from '../accessible.ts'
import { diagramHtml, diagramName, isDiagram, type Theme } from '../diagram.ts'
import { ICON } from '../icon.ts'
import { navigationOf } from '../navigation.ts'
import { readSource, readSources, STAGED } from '../places.ts'
import { type Shown, siteFile, siteLink } from '../sources.ts'

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0]

const { version, description } = JSON.parse(readSource('package.json')) as { version: string; description: string }
const sources = readSources()
const bySiteFile = new Map([...sources.values()].map((shown) => [siteFile(shown), shown]))
const groups = navigationOf(sources)

/** The repository's file from which this page is made. */
function shownBy({ relativePath }: { readonly relativePath?: string }): Shown {
  const shown = bySiteFile.get(relativePath ?? '')
  if (shown === undefined) throw new Error(`no file of the repository is shown as ${relativePath}`)
  return shown
}

function readDiagram(source: string, theme: Theme): string {
  return readFileSync(join(STAGED, 'diagrams', `${diagramName(source, theme)}.svg`), 'utf8')
}

function useRepository(markdown: MarkdownIt): void {
  const { rules } = markdown.renderer
  const { link_open: openLink, fence, text } = rules
  if (openLink === undefined || fence === undefined || text === undefined) throw new Error('a rule is missing')
  rules.link_open = (tokens, index, options, env, self) => {
    const href = tokens[index]?.attrGet('href')
    if (href) tokens[index]?.attrSet('href', siteLink(shownBy(env), href, sources))
    return openLink(tokens, index, options, env, self)
  }
  rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token === undefined || !isDiagram(token.info)) return fence(tokens, index, options, env, self)
    const heading = tokens.slice(0, index).findLastIndex(({ type }) => type === 'heading_open')
    const pictures = { light: readDiagram(token.content, 'light'), dark: readDiagram(token.content, 'dark') }
    return diagramHtml(`Diagram: ${tokens[heading + 1]?.content ?? shownBy(env).path}`, pictures)
  }
  // Two braces begin an expression of Vue, and there are none in our pages.
  rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;')
}

// biome-ignore lint/style/noDefaultExport: VitePress asks for one
export default defineConfig({
  title: 'kubelet-cfg-agent',
  description,
  lang: 'en',
  srcDir: STAGED,
  cacheDir: join(STAGED, '../site-cache'),
  cleanUrls: false,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }],
    ['meta', { name: 'theme-color', content: '#2f5fa8' }],
  ],
  markdown: {
    anchor: { slugify: slugOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: useRepository,
  },
  // Pictures lie as in the repository. Vite would look for the packages of relative paths in HTML.
  vue: { template: { transformAssetUrls: { tags: {}, includeAbsolute: false } } },
  vite: { plugins: [accessible()], build: { chunkSizeWarningLimit: 4096 }, logLevel: 'warn' },
  themeConfig: {
    logo: '/icon.svg',
    nav: groups.slice(0, 4).flatMap(({ text, items: [first] }) => (first === undefined ? [] : [{ text, link: first.link }])),
    sidebar: groups.map(({ text, items }) => ({ text, items: [...items] })),
    outline: [2, 3],
    search: { provider: 'local' },
    footer: { message: `Version ${version}. Licence: Apache-2.0.` },
  },
})
