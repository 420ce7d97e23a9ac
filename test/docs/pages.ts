// SPDX-License-Identifier: Apache-2.0
/**
 * The documents as they are in the work tree: the README and its neighbours, everything in docs/,
 * and what whoever opens an issue or a pull request reads.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Page, parsePage } from './markdown.ts'

export const ROOT = resolve(import.meta.dirname, '../..')
const CHART = 'charts/kubelet-cfg-agent/README.md'
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
  const neighbours = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md', 'bench/README.md', CHART]
  const paths = [...neighbours, ...docs.map((name) => `docs/${name}`), '.github/PULL_REQUEST_TEMPLATE.md', ...listForms()]
  // GitHub shows a form below /issues/, from where a file of the repository is ../blob/HEAD/.
  return paths.map((path) => parsePage(path, readFileSync(join(ROOT, path), 'utf8').replaceAll('../blob/HEAD/', '../../')))
}

/** The forms of issues. */
export function listForms(): readonly string[] {
  const folder = '.github/ISSUE_TEMPLATE'
  return readdirSync(join(ROOT, folder)).flatMap((name) => (name === 'config.yml' ? [] : [`${folder}/${name}`]))
}
