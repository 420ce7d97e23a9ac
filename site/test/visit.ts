// SPDX-License-Identifier: Apache-2.0
/**
 * A page of the built site as Chromium shows it: what is on it, what its links lead to, and all
 * that went wrong while it loaded.
 */
import type { Browser, Page } from 'puppeteer-core'

export interface Visited {
  readonly url: string
  readonly lang: string
  readonly headings: number
  /** Absolute, with their anchors. */
  readonly links: readonly string[]
  readonly ids: ReadonlySet<string>
  readonly diagrams: number
}

export interface Look {
  readonly theme: 'light' | 'dark'
  readonly width: number
}

/** Only ends a hang: no slow machine reaches it. */
const PATIENCE_MS = 120_000

/** A page that collects its faults in `problems`. */
export async function openPage(browser: Browser, origin: string, { theme, width }: Look, problems: string[]): Promise<Page> {
  const page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  await page.setViewport({ width, height: 900 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
  const where = () => page.url().slice(origin.length)
  page.on('pageerror', (error) => problems.push(`${where()}: ${String(error)}`))
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) problems.push(`${where()}: the console says: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) problems.push(`${where()}: asks another host: ${url}`)
  })
  page.on('requestfailed', (request) => problems.push(`${where()}: ${request.url()} failed: ${request.failure()?.errorText}`))
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${where()}: ${response.url()} is answered with ${response.status()}`)
  })
  return page
}

export async function visit(page: Page, url: string): Promise<Visited> {
  await page.goto(url, { waitUntil: 'load' })
  // Vue has taken over the page.
  await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}))
  const found = await page.evaluate(() => ({
    lang: document.documentElement.lang,
    headings: document.querySelectorAll('h1').length,
    links: [...document.querySelectorAll('a[href]')].flatMap((link) => (link instanceof HTMLAnchorElement ? [link.href] : [])),
    ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    diagrams: [...document.querySelectorAll('.diagram svg')].filter((picture) => picture.getBoundingClientRect().width > 100).length,
  }))
  return { url, ...found, ids: new Set(found.ids) }
}
