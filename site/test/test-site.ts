// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run site:test`: builds the site at the root of a server and below a path, and looks at both
 * in Chromium. Prints a line for each check, what is wrong, and `N passed, N failed` at last.
 */
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'puppeteer-core'
import { CommandError, run } from '../../test/real/lab/processes.ts'
import { buildSite, measure, stagePages } from '../build.ts'
import { launchChromium } from '../chromium.ts'
import { isDiagram } from '../diagram.ts'
import { HERE, readSources } from '../places.ts'
import { serveFolder } from '../serve.ts'
import { siteFile } from '../sources.ts'
import { checkAccess, checkDiagrams, checkKeyboard, checkNarrow, checkPages, checkSearch, type Site } from './checks.ts'

const BELOW = '/kubelet-cfg-agent/'
/** A setting, a state, a heading, and a word of a file that is no page. */
const WORDS = ['--trial-duration', 'last-known-good', 'The kubectl plugin', 'hostNetwork']
const MOST_PROBLEMS = 40

const results: boolean[] = []

/** Sets the exit status. */
export async function testSite(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'site-'))
  const browser = await launchChromium()
  try {
    await stagePages()
    await check('the types of its programs', checkTypes)
    for (const base of ['/', BELOW]) await testAt(base, join(scratch, base), browser)
  } finally {
    await browser.close()
    rmSync(scratch, { recursive: true, force: true })
  }
  const passed = results.filter(Boolean).length
  console.log(`${passed} passed, ${results.length - passed} failed`)
  if (passed < results.length) process.exitCode = 1
}

async function testAt(base: string, output: string, browser: Browser): Promise<void> {
  await buildSite(base, output)
  const pages = readdirSync(output, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html') && name !== '404.html')
  const { origin, server } = await serveFolder(output, base)
  const site: Site = { browser, origin, base, pages: pages.sort() }
  console.log(`# at ${base}: ${pages.length} pages, ${measure(output)}`)
  await check(`at ${base}, all pages, links and anchors`, () => checkPages(site))
  await check(`at ${base}, the search`, () => checkSearch(site, WORDS))
  await check(`at ${base}, the diagrams`, () => checkDiagrams(site, diagramsOnPages()))
  // The rest does not depend on the address.
  if (base === '/') {
    await check('the pages on a phone', () => checkNarrow(site))
    await check('the keyboard', () => checkKeyboard(site))
    await Promise.all((['light', 'dark'] as const).map((theme) => check(`axe-core in ${theme}`, () => checkAccess(site, theme))))
  }
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

function diagramsOnPages(): ReadonlyMap<string, number> {
  const counts = [...readSources().values()].map((shown) => {
    const blocks = shown.kind === 'page' ? shown.page.blocks : []
    return [siteFile(shown).replace(/\.md$/, '.html'), blocks.filter(({ info }) => isDiagram(info)).length] as const
  })
  return new Map(counts.filter(([, count]) => count > 0))
}

/** Apart from those of the rest, since these need the packages of the site. */
async function checkTypes(): Promise<readonly string[]> {
  const compiler = join(HERE, '../node_modules/typescript-7/bin/tsc')
  try {
    await run(process.execPath, [compiler, '-p', HERE])
    return []
  } catch (error) {
    if (error instanceof CommandError) return [error.message, ...error.stdout.split('\n')]
    throw error
  }
}

async function check(name: string, problemsOf: () => Promise<readonly string[]>): Promise<void> {
  const begun = performance.now()
  const problems = await problemsOf().catch((error: unknown) => [error instanceof Error ? (error.stack ?? error.message) : String(error)])
  results.push(problems.length === 0)
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  console.log(`${problems.length === 0 ? 'ok' : 'not ok'} ${results.length} - ${name} (${seconds} s)`)
  for (const problem of problems.slice(0, MOST_PROBLEMS)) console.log(`  ${problem}`)
  if (problems.length > MOST_PROBLEMS) console.log(`  and ${problems.length - MOST_PROBLEMS} more`)
}
