// SPDX-License-Identifier: Apache-2.0
/** The checks of a built site. Each returns its problems, one a line. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'puppeteer-core'
import { type Look, openPage, type Visited, visit } from './visit.ts'

export interface Site {
  readonly browser: Browser
  readonly origin: string
  readonly base: string
  /** From the base, as in `docs/status.html`. */
  readonly pages: readonly string[]
}

const WIDE: Look = { theme: 'light', width: 1280 }
/** Points of CSS that a phone has. */
const NARROW = 380

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe-core finds and calls at least serious. */
interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Each page loads, names its language, has one title, and its links and anchors lead somewhere. */
export async function checkPages({ browser, origin, base, pages }: Site): Promise<readonly string[]> {
  const problems: string[] = []
  const page = await openPage(browser, origin, WIDE, problems)
  const visited = new Map<string, Visited>()
  for (const name of pages) {
    const found = await visit(page, origin + base + name)
    visited.set(found.url, found)
    if (found.lang !== 'en') problems.push(`${name}: its language is ${found.lang || 'not named'}`)
    if (found.headings !== 1) problems.push(`${name}: ${found.headings} headings of the first level`)
  }
  await page.close()
  const answers = new Map<string, number>()
  for (const { url, links } of visited.values()) {
    for (const link of new Set(links)) {
      const [address = '', anchor = ''] = link.split('#')
      if (!address.startsWith(`${origin}/`)) continue
      const target = visited.get(address.endsWith('/') ? `${address}index.html` : address)
      if (target === undefined && !answers.has(address)) answers.set(address, (await fetch(address)).status)
      const shown = `${url.slice(origin.length)}: ${link.slice(origin.length)}`
      if (target === undefined && answers.get(address) !== 200) problems.push(`${shown}: there is no such page`)
      if (target !== undefined && anchor !== '' && !target.ids.has(decodeURIComponent(anchor))) problems.push(`${shown}: no such heading`)
    }
  }
  return problems
}

/** Each of these words is found, and Enter leads to a page that has it. */
export async function checkSearch(site: Site, words: readonly string[]): Promise<readonly string[]> {
  const { browser, origin, base } = site
  const problems: string[] = []
  const page = await openPage(browser, origin, WIDE, problems)
  for (const word of words) {
    await visit(page, `${origin}${base}index.html`)
    await openSearch(page)
    await page.type('.VPLocalSearchBox input', word)
    await page.waitForSelector('.VPLocalSearchBox .result.selected')
    const href = await page.$eval('.VPLocalSearchBox .result.selected', (result) =>
      result instanceof HTMLAnchorElement ? result.href : '',
    )
    await page.keyboard.press('Enter')
    const isThere = await page
      .waitForFunction(
        (wanted, text) => location.href === wanted && document.querySelector('main')?.textContent.toLowerCase().includes(text),
        {},
        href,
        word.toLowerCase(),
      )
      .then(() => true)
      .catch(() => false)
    if (!isThere) problems.push(`${word}: the first result, ${href.slice(origin.length)}, does not have it`)
  }
  await page.close()
  return problems
}

/** A diagram in each place where the Markdown has one, drawn in the colours of the theme. */
export async function checkDiagrams(site: Site, wanted: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const { browser, origin, base } = site
  const problems: string[] = []
  for (const theme of ['light', 'dark'] as const) {
    const page = await openPage(browser, origin, { ...WIDE, theme }, problems)
    for (const [name, count] of wanted) {
      const { diagrams } = await visit(page, origin + base + name)
      if (diagrams !== count) problems.push(`${name} in ${theme}: ${diagrams} diagrams instead of ${count}`)
    }
    await page.close()
  }
  return problems
}

/** No page is wider than a phone: what is wide scrolls by itself. */
export async function checkNarrow({ browser, origin, base, pages }: Site): Promise<readonly string[]> {
  const problems: string[] = []
  const page = await openPage(browser, origin, { theme: 'light', width: NARROW }, problems)
  for (const name of pages) {
    await visit(page, origin + base + name)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > NARROW) problems.push(`${name}: is ${width} wide`)
  }
  await page.close()
  return problems
}

/** Who moves by keyboard sees where: each of the first places that Tab leads to has an outline. */
export async function checkKeyboard({ browser, origin, base }: Site): Promise<readonly string[]> {
  const problems: string[] = []
  const page = await openPage(browser, origin, WIDE, problems)
  await visit(page, `${origin}${base}index.html`)
  const places = new Set<string>()
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press('Tab')
    const [place, isSeen] = await page.evaluate(() => {
      const focused = document.activeElement
      if (focused === null) return ['', false] as const
      const { outlineStyle, outlineWidth } = getComputedStyle(focused)
      return [focused.outerHTML.slice(0, 120), outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1] as const
    })
    places.add(place)
    if (!isSeen) problems.push(`after ${step + 1} times Tab, nothing shows where: ${place}`)
  }
  if (places.size < 30) problems.push(`Tab leads to ${places.size} places only`)
  await page.close()
  return problems
}

/** What axe-core finds on every page, in a theme. */
export async function checkAccess(site: Site, theme: Look['theme']): Promise<readonly string[]> {
  const { browser, origin, base, pages } = site
  const problems: string[] = []
  const page = await openPage(browser, origin, { ...WIDE, theme }, problems)
  for (const name of pages) {
    await visit(page, origin + base + name)
    problems.push(...(await runAxe(page, `${name} in ${theme}`)))
  }
  await visit(page, `${origin}${base}index.html`)
  await openSearch(page)
  await page.type('.VPLocalSearchBox input', 'rollout')
  await page.waitForSelector('.VPLocalSearchBox .result')
  problems.push(...(await runAxe(page, `the search in ${theme}`)))
  await page.close()
  const narrow = await openPage(browser, origin, { theme, width: NARROW }, problems)
  await visit(narrow, `${origin}${base}index.html`)
  problems.push(...(await runAxe(narrow, `index.html, narrow, in ${theme}`)))
  for (const [button, menu] of [
    ['.VPNavBarHamburger', '.VPNavScreen'],
    ['.VPLocalNav .menu', '.VPSidebar.open'],
  ] as const) {
    await visit(narrow, `${origin}${base}index.html`)
    await narrow.click(button)
    await narrow.waitForSelector(menu)
    problems.push(...(await runAxe(narrow, `${menu}, narrow, in ${theme}`)))
  }
  await narrow.close()
  return problems
}

async function openSearch(page: Page): Promise<void> {
  await page.keyboard.down('Control')
  await page.keyboard.press('k')
  await page.keyboard.up('Control')
  await page.waitForSelector('.VPLocalSearchBox input')
}

async function runAxe(page: Page, where: string): Promise<readonly string[]> {
  await page.evaluate(axeSource)
  // Its rules for names of buttons count as experiments, and are off unless they are asked for.
  const found = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: true } } }).then(({ violations }) => violations)',
  )) as readonly Violation[]
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary }) => `${where}: ${id}: ${html.slice(0, 160)} ${failureSummary.replaceAll(/\s+/g, ' ').slice(0, 240)}`,
      ),
    )
}
