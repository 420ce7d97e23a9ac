// SPDX-License-Identifier: Apache-2.0
/** The file SHA256SUMS, as sha256sum(1) writes and checks it. Pure. */

/** A file of a release: its path below the release's directory, with slashes, and its bytes. */
export interface Digested {
  readonly path: string
  /** 64 lower-case hexadecimal digits. */
  readonly sha256: string
  readonly size: number
}

/** Sorted by path: the same files give the same bytes. Throws on a path that breaks a line. */
export function formatSums(files: readonly Digested[]): string {
  return [...files]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, sha256 }) => {
      if (!PATH.test(path)) throw new Error(`${JSON.stringify(path)} is not a path that SHA256SUMS can name`)
      return `${sha256}  ${path}\n`
    })
    .join('')
}

/** By path. Throws on a line that has another form. */
export function parseSums(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(
    lines.map((line) => {
      const [, sha256, path] = LINE.exec(line) ?? []
      if (sha256 === undefined || path === undefined || !PATH.test(path))
        throw new Error(`not a line of SHA256SUMS: ${JSON.stringify(line)}`)
      return [path, sha256] as const
    }),
  )
}

const LINE = /^([0-9a-f]{64}) [ *](.+)$/
/** Relative, without a part that begins with a dot. */
const PATH = /^[\w+~-][\w.+~-]*(\/[\w+~-][\w.+~-]*)*$/
