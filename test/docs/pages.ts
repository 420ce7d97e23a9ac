/**
 * The documents as they are in the work tree: the README and its neighbours, and everything in
 * docs/.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Page, parsePage } from './markdown.ts'

export const ROOT = resolve(import.meta.dirname, '../..')
/** Directories that are built or installed, and hold no source. */
const NOT_OURS = ['node_modules', 'dist', '.git', '.tap']

/** All files of the repository, from its root. */
export function listFiles(folder = ''): ReadonlySet<string> {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true }).filter(({ name }) => !NOT_OURS.includes(name))
  return new Set(
    entries.flatMap((entry) => {
      const path = `${folder}${entry.name}`
      return entry.isDirectory() ? [...listFiles(`${path}/`)] : [path]
    }),
  )
}

export function readPages(): readonly Page[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
  const paths = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...docs.map((name) => `docs/${name}`)]
  return paths.map((path) => parsePage(path, readFileSync(join(ROOT, path), 'utf8')))
}
