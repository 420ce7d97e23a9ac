// SPDX-License-Identifier: Apache-2.0
/**
 * The navigation of the site, from the pages that there are. A page that no group names is in the
 * last group: a new page needs no row here. Pure.
 */
import { type Shown, type Sources, siteFile } from './sources.ts'

export interface Group {
  readonly text: string
  readonly items: readonly Item[]
}

interface Item {
  readonly text: string
  /** From the root of the site. */
  readonly link: string
}

/**
 * In this order. A name stands for the page and for all pages in the folder of that name; one
 * without a page is left out.
 */
const GROUPS: readonly { readonly text: string; readonly names: readonly string[] }[] = [
  { text: 'Introduction', names: ['README', 'docs/concepts', 'docs/compare', 'docs/why-annotations', 'docs/support'] },
  {
    text: 'Install',
    names: ['docs/install', 'docs/helm', 'docs/image', 'docs/distributions', 'docs/eks', 'docs/rights', 'docs/plugin', 'docs/release'],
  },
  {
    text: 'Configure',
    names: [
      'docs/assign',
      'docs/parts',
      'docs/computed',
      'docs/overlay',
      'docs/drop-ins',
      'docs/preflight',
      'docs/preflight-rules',
      'docs/rollout',
      'docs/recipes',
      'docs/settings',
    ],
  },
  { text: 'Operate', names: ['docs/runbook', 'docs/operations', 'docs/upgrade', 'docs/status', 'docs/monitoring'] },
  { text: 'How it works', names: ['docs/health', 'docs/evidence', 'docs/design', 'docs/reliability', 'docs/cost', 'docs/rollout-figures'] },
  { text: 'Project', names: ['CHANGELOG', 'SECURITY', 'CONTRIBUTING', 'CODE_OF_CONDUCT'] },
]
const OTHERS = 'More'
/** The name of the site is no name for its first page. */
const TITLES: ReadonlyMap<string, string> = new Map([['README.md', 'Overview']])

export function navigationOf(sources: Sources): readonly Group[] {
  const left = new Set([...sources.values()].filter((shown) => shown.kind === 'page'))
  const groups = GROUPS.map(({ text, names }) => {
    const items = names.flatMap((name) => [...left].filter(({ path }) => path === `${name}.md` || path.startsWith(`${name}/`)))
    for (const item of items) left.delete(item)
    return { text, items: items.map(itemOf) }
  })
  return [...groups, { text: OTHERS, items: [...left].map(itemOf) }].filter(({ items }) => items.length > 0)
}

/** Headings may have code in them. */
function itemOf(shown: Shown & { readonly kind: 'page' }): Item {
  return {
    text: TITLES.get(shown.path) ?? shown.title.replaceAll('`', ''),
    link: `/${siteFile(shown).replace(/(index)?\.md$/, (_, index) => (index === undefined ? '.html' : ''))}`,
  }
}
