// SPDX-License-Identifier: Apache-2.0
/**
 * The code of upstream that our rules name in their comments: names in backquotes before the path
 * of a file or folder, as in `Set` and `SetFromMap`, k8s.io/component-base/featuregate. It has to
 * be in the newest release. What only old releases have is named after its path. Pure.
 */

interface Citation {
  readonly file: string
  readonly name: string
  /** From the top of its module: `k8s.io/kubernetes/pkg/kubelet/cm`. */
  readonly path: string
}

const NAME = '`[A-Za-z_][\\w.]*`'
const NAMES = new RegExp(`((?:${NAME}(?:,? and |, | or )?)+)(?:,? of |,? in |, | \\()((?:pkg|cmd|k8s\\.io)/[\\w./-]*[\\w-])`, 'g')
const COMMENT = /\/\*\*[\s\S]*?\*\/|(?:^ *\/\/.*\n?)+/gm

export function listCitations(file: string, text: string): Citation[] {
  return [...text.matchAll(COMMENT)].flatMap(([comment]) => {
    const flat = comment.replaceAll(/\n\s*(?:\*|\/\/)/g, ' ').replaceAll(/\s+/g, ' ')
    return [...flat.matchAll(NAMES)].flatMap(([, names = '', path = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({
        file,
        name,
        path: path.startsWith('k8s.io/') ? path : `k8s.io/kubernetes/${path}`,
      })),
    )
  })
}

/** `k8s.io/utils` has releases of its own. */
export function isReleased({ path }: Citation): boolean {
  return !path.startsWith('k8s.io/utils/')
}

/** @param declared the names that each path declares in the newest release */
export function listGone(citations: readonly Citation[], declared: Readonly<Record<string, readonly string[]>>): string[] {
  return citations
    .filter(({ path, name }) => !(declared[path] ?? []).some((known) => known === name || known.endsWith(`.${name}`)))
    .map(({ file, name, path }) => `${file} names ${name} of ${path}, which is gone`)
}
