// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run site`: the documentation as a site of static files, in dist/site. `--base /path/` is for
 * a server that has it below a path; `--serve` shows it at an address of this machine. With
 * `--test`, `npm run site:test`.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: '/' },
    serve: { type: 'boolean', default: false },
    test: { type: 'boolean', default: false },
  },
})

try {
  await main(values)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

/** What needs the packages of the site is imported only where they are there. */
async function main({ base, serve, test }: typeof values): Promise<void> {
  if (!existsSync(join(import.meta.dirname, 'node_modules/vitepress')))
    throw new Error('the site has packages of its own: npm ci --prefix site')
  if (!/^\/([\w.-]+\/)*$/.test(base)) throw new Error(`--base ${base}: begin and end it with /, as in /docs/`)
  if (test) {
    const { testSite } = await import('./test/test-site.ts')
    await testSite()
    return
  }
  const { buildSite, measure, stagePages } = await import('./build.ts')
  const { OUTPUT } = await import('./places.ts')
  const begun = performance.now()
  const pages = await stagePages()
  await buildSite(base, OUTPUT)
  console.log(`dist/site: ${pages} pages, ${measure(OUTPUT)}, in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  if (!serve) return
  const { serveFolder } = await import('./serve.ts')
  const { origin } = await serveFolder(OUTPUT, base)
  console.log(`${origin}${base} until Ctrl-C`)
}
