/**
 * The documents as they are in the work tree: the README and its neighbours, and everything in
 * docs/.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Page, parsePage } from './markdown.ts'

export const ROOT = resolve(import.meta.dirname, '../..')

export function readPages(): readonly Page[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
  const paths = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...docs.map((name) => `docs/${name}`)]
  return paths.map((path) => parsePage(path, readFileSync(join(ROOT, path), 'utf8')))
}
