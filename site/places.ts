// SPDX-License-Identifier: Apache-2.0
/** Where the build of the site reads and writes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles, ROOT } from '../test/docs/pages.ts'
import { collectSources, type Sources } from './sources.ts'

export const HERE = import.meta.dirname
/** What VitePress reads: pages, pictures and diagrams. Made anew by each build. */
export const STAGED = join(ROOT, 'dist/site-pages')
export const OUTPUT = join(ROOT, 'dist/site')

export const FILES = listFiles()

export function readSource(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

export function readSources(): Sources {
  return collectSources(FILES, readSource)
}
