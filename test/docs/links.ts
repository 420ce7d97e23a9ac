// SPDX-License-Identifier: Apache-2.0
/**
 * Faults of the links, anchors and paths in a set of pages. Pure: what exists in the repository is
 * passed in. Each problem is one line.
 */
import { posix } from 'node:path'
import type { Link, Page } from './markdown.ts'

/** Files of the repository, from its root. Directories follow from them. */
export type RepositoryFiles = ReadonlySet<string>

/** Links that leave the repository are not followed. */
export const OUTSIDE = /^[a-z][a-z0-9+.-]*:/i

export function findBrokenLinks(pages: readonly Page[], files: RepositoryFiles): readonly string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  return pages.flatMap((page) => page.links.flatMap((link) => describeLink(page, link, byPath, files)))
}

function describeLink(page: Page, { target, line }: Link, byPath: ReadonlyMap<string, Page>, files: RepositoryFiles): readonly string[] {
  if (OUTSIDE.test(target)) return []
  const { path, anchor } = resolveTarget(page.path, target)
  const where = `${page.path}:${line}: ${target}`
  const linked = byPath.get(path)
  if (linked === undefined && !exists(path, files)) return [`${where}: there is no ${path}`]
  if (anchor === undefined) return []
  if (linked === undefined) return [`${where}: ${path} is not a page with headings`]
  return linked.anchors.has(anchor) ? [] : [`${where}: ${path} has no heading #${anchor}`]
}

/** Pages in docs/ that no path of links from `start` reaches. */
export function findUnreachable(pages: readonly Page[], start: string): readonly string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const reached = new Set<string>()
  const visit = (path: string): void => {
    const page = byPath.get(path)
    if (page === undefined || reached.has(path)) return
    reached.add(path)
    for (const { target } of page.links) if (!OUTSIDE.test(target)) visit(resolveTarget(page.path, target).path)
  }
  visit(start)
  return pages.filter(({ path }) => path.startsWith('docs/') && !reached.has(path)).map(({ path }) => path)
}

/** What a link on the page `from` leads to. */
export function resolveTarget(from: string, target: string): { path: string; anchor: string | undefined } {
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? from : posix.join(posix.dirname(from), file)
  return { path: path.replace(/\/$/, ''), anchor }
}

/**
 * Paths in inline code and in code blocks for the shell that look like files of this repository:
 * those below one of its directories, or a file that lies at its root. `*` stands for any name.
 */
export function findMissingPaths(pages: readonly Page[], files: RepositoryFiles): readonly string[] {
  const roots = new Set([...files].filter((path) => path.includes('/')).map((path) => path.slice(0, path.indexOf('/'))))
  const looksOurs = (word: string) => {
    const [first = '', ...rest] = word.split('/')
    return rest.length > 0 && roots.has(first) && /^[\w./*-]+$/.test(word)
  }
  return pages.flatMap((page) => {
    const shell = page.blocks.filter(({ info }) => info.split(' ')[0] === 'sh').map(({ text, line }) => ({ text, line }))
    return [...page.inlineCode, ...shell].flatMap(({ text, line }) =>
      text
        .split(/[\s'"=,:()]+/)
        .filter(looksOurs)
        .filter((word) => !exists(word.replace(/\/$/, ''), files))
        .map((word) => `${page.path}:${line}: there is no ${word}`),
    )
  })
}

function exists(path: string, files: RepositoryFiles): boolean {
  if (path === '' || path === '.') return true
  if (!path.includes('*')) return files.has(path) || [...files].some((file) => file.startsWith(`${path}/`))
  const pattern = new RegExp(`^${path.replace(/[.+]/g, '\\$&').replace(/\*/g, '[^/]*')}(/|$)`)
  return [...files].some((file) => pattern.test(file))
}
