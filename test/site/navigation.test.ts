// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { navigationOf } from '../../site/navigation.ts'
import { collectSources } from '../../site/sources.ts'
import { listFiles, ROOT } from '../docs/pages.ts'

/** A page for each title. */
function navigate(titles: Readonly<Record<string, string>>) {
  return navigationOf(collectSources(new Set(Object.keys(titles)), (path) => `# ${titles[path]}\n`))
}

t.test('a page has the group that names it or its folder, in the order there, and a new one is in the last', async (t) => {
  t.strictSame(
    navigate({
      'docs/nobody-knows.md': 'A new page',
      'docs/recipes/flux.md': 'With `flux`',
      'docs/recipes.md': 'Recipes',
      'docs/assign.md': 'Assign a config',
      'README.md': 'The agent',
    }),
    [
      { text: 'Introduction', items: [{ text: 'Overview', link: '/' }] },
      {
        text: 'Configure',
        items: [
          { text: 'Assign a config', link: '/docs/assign.html' },
          { text: 'Recipes', link: '/docs/recipes.html' },
          { text: 'With flux', link: '/docs/recipes/flux.html' },
        ],
      },
      { text: 'More', items: [{ text: 'A new page', link: '/docs/nobody-knows.html' }] },
    ],
  )
})

t.test('each page of the repository is in the navigation once', async (t) => {
  const sources = collectSources(listFiles(), (path) => readFileSync(join(ROOT, path), 'utf8'))
  const links = navigationOf(sources).flatMap(({ items }) => items.map(({ link }) => link))
  t.equal(new Set(links).size, links.length)
  t.equal(links.length, [...sources.values()].filter(({ kind }) => kind === 'page').length)
  t.notOk(links.includes('/docs/.html'))
})
