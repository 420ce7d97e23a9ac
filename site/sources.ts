// SPDX-License-Identifier: Apache-2.0
/**
 * Which files of the repository the site shows, and under which names. Pages are the Markdown files
 * of docs/, those at the root, and those that they link to. Any other file or folder that a page
 * links to gets a page that shows it, so that no link leaves the site. Pure: what exists and what
 * it says is passed in.
 */
import { posix } from 'node:path'
import { OUTSIDE, type RepositoryFiles, resolveTarget } from '../test/docs/links.ts'
import { type Page, parsePage } from '../test/docs/markdown.ts'

/** `text`: a file that is no page, and is shown as it is. `folder`: a list of what is in it. */
export type Shown =
  | { readonly kind: 'page'; readonly path: string; readonly title: string; readonly page: Page }
  | { readonly kind: 'text' | 'folder'; readonly path: string }

/** By its path from the root of the repository. */
export type Sources = ReadonlyMap<string, Shown>

const TITLE = /^# +(.*?) *#*$/m
const PICTURE = /\.(png|svg|jpe?g|gif|webp)$/
/** Pages that stand for a whole: those of docs/, and those at the root. */
const OWN = /^(docs\/.*|[^/]+)\.md$/

export function collectSources(files: RepositoryFiles, read: (path: string) => string): Sources {
  const found = new Map<string, Shown>()
  const waiting = [...files].filter((path) => OWN.test(path)).sort()
  for (const path of waiting) {
    if (found.has(path) || PICTURE.test(path)) continue
    if (!files.has(path)) {
      found.set(path, { kind: 'folder', path })
      waiting.push(...listFolder(path, files))
    } else if (!path.endsWith('.md')) found.set(path, { kind: 'text', path })
    else {
      const text = read(path)
      const page = parsePage(path, text)
      found.set(path, { kind: 'page', path, title: TITLE.exec(text)?.[1] ?? path, page })
      waiting.push(...page.links.filter(({ target }) => !OUTSIDE.test(target)).map(({ target }) => resolveTarget(path, target).path))
    }
  }
  return found
}

/** All files below a folder. */
function listFolder(folder: string, files: RepositoryFiles): readonly string[] {
  return [...files].filter((path) => path.startsWith(`${folder}/`)).sort()
}

/** The Markdown file of the site that shows this one. */
export function siteFile({ kind, path }: Pick<Shown, 'kind' | 'path'>): string {
  if (path === 'README.md') return 'index.md'
  return { page: path, text: `${path}.md`, folder: `${path}/index.md` }[kind]
}

/** A link of a page, as the site's Markdown has it. */
export function siteLink(from: Shown, target: string, sources: Sources): string {
  if (OUTSIDE.test(target)) return target
  const { path, anchor } = resolveTarget(from.kind === 'folder' ? `${from.path}/.` : from.path, target)
  const linked = sources.get(path)
  if (linked === undefined || linked === from) return target
  const way = posix.relative(posix.dirname(siteFile(from)), siteFile(linked))
  return anchor === undefined ? way : `${way}#${anchor}`
}

/** Markdown that shows a file or a folder; `text`: what is in the file. */
export function markdownOf({ kind, path }: Shown, text: string, files: RepositoryFiles): string {
  // Room for long lines instead of a list of headings.
  const heading = `---\naside: false\n---\n# ${path}\n\n`
  const name = posix.basename(path)
  if (kind === 'folder') {
    const lines = listFolder(path, files).map((file) => `- [${posix.relative(path, file)}](${posix.relative(path, file)})\n`)
    return `${heading}What this folder of the repository holds:\n\n${lines.join('')}`
  }
  const language = posix.extname(name).slice(1) || 'text'
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)))
  return `${heading}This file of the repository, as it is: <a href="${name}" download>download</a>\n\n${fence}${language}\n${text.trimEnd()}\n${fence}\n`
}
