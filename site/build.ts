// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the site: lays the pages out for VitePress, has their diagrams drawn, and runs VitePress.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../test/docs/pages.ts'
import { run } from '../test/real/lab/processes.ts'
import { isDiagram } from './diagram.ts'
import { drawDiagrams } from './draw.ts'
import { ICON } from './icon.ts'
import { FILES, HERE, readSource, readSources, STAGED } from './places.ts'
import { markdownOf, siteFile } from './sources.ts'

/** Returns how many pages there are. */
export async function stagePages(): Promise<number> {
  const sources = [...readSources().values()]
  rmSync(STAGED, { recursive: true, force: true })
  mkdirSync(STAGED, { recursive: true })
  // A page becomes a module of Vue, which it looks for beside itself.
  symlinkSync(join(HERE, 'node_modules'), join(STAGED, 'node_modules'))
  for (const shown of sources) {
    const text = shown.kind === 'folder' ? '' : readSource(shown.path)
    write(siteFile(shown), shown.kind === 'page' ? text : markdownOf(shown, text, FILES))
    if (shown.kind === 'text') write(`public/${shown.path}`, text)
  }
  cpSync(join(ROOT, 'docs/images'), join(STAGED, 'public/docs/images'), { recursive: true })
  write('public/icon.svg', ICON)
  const diagrams = sources.flatMap((shown) => (shown.kind === 'page' ? shown.page.blocks.filter(({ info }) => isDiagram(info)) : []))
  for (const [name, picture] of await drawDiagrams(diagrams.map(({ text }) => text))) write(`diagrams/${name}.svg`, picture)
  return sources.length
}

/**
 * In a process of its own, which keeps nothing of the build before. VitePress looks for Vue in the
 * directory that it runs in.
 */
export async function buildSite(base: string, output: string): Promise<void> {
  const vitepress = join(HERE, 'node_modules/vitepress/bin/vitepress.js')
  await run(process.execPath, [vitepress, 'build', '.', '--base', base, '--outDir', output], { cwd: HERE })
}

/** The size of all files in a folder. */
export function measure(folder: string): string {
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)))
  const bytes = sizes.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function write(name: string, text: string): void {
  const path = join(STAGED, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
