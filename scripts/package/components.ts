// SPDX-License-Identifier: Apache-2.0
/**
 * The third-party components of the packages: Node.js, and the npm packages of which esbuild put at
 * least a byte into the bundle. Pure: the caller reads the files.
 */

/** The part of esbuild's metafile that is used. */
export interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>>
}

export interface Component {
  readonly name: string
  readonly version: string
  /** SPDX identifier or expression. */
  readonly licence: string
  readonly licenceText: string
  /** A page for people. */
  readonly homepage: string | undefined
  /** Subresource integrity, from the lockfile. */
  readonly integrity: string
}

export interface Runtime extends Component {
  /** The npm package that holds the binary. */
  readonly npmName: string
  /** Without its symbols, so its bytes are not those of the npm package. */
  readonly isStripped: boolean
  /** Versions of the libraries in Node.js, by name, as Node.js reports them. */
  readonly parts: Readonly<Record<string, string>>
}

/**
 * Sorted directories of packages, as in `node_modules/@scope/name`, of which at least a byte is in
 * the bundle.
 */
export function bundledPackages({ outputs }: Metafile): string[] {
  const found = new Set<string>()
  for (const { inputs } of Object.values(outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
      const directory = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0]
      if (bytesInOutput > 0 && directory !== undefined) found.add(directory)
    }
  }
  return [...found].sort()
}

interface PackageFiles {
  /** The package.json. */
  readonly manifest: Readonly<Record<string, unknown>>
  readonly licenceText: string | undefined
  readonly integrity: string | undefined
}

/** Throws if a package has no licence, no licence text or no integrity: it must not be shipped. */
export function readComponent(directory: string, { manifest, licenceText, integrity }: PackageFiles): Component {
  const { name, version, license, homepage, repository } = manifest
  if (typeof name !== 'string' || typeof version !== 'string') throw new Error(`${directory}: package.json has no name or no version`)
  if (typeof license !== 'string') throw new Error(`${name}: package.json names no licence; find out under which licence it may be shipped`)
  if (licenceText === undefined) throw new Error(`${name}: has no licence file; the package must include its text`)
  if (integrity === undefined) throw new Error(`${name}: the lockfile has no integrity for ${directory}`)
  const licence = license.replace(/^\((.*)\)$/, '$1')
  return { name, version, licence, licenceText, homepage: webAddress(homepage) ?? webAddress(repositoryOf(repository)), integrity }
}

function repositoryOf(repository: unknown): unknown {
  return typeof repository === 'object' && repository !== null && 'url' in repository ? repository.url : repository
}

/** npm allows short forms and git addresses; this returns one that a browser opens. */
function webAddress(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const path = /^(?:git\+ssh:\/\/git@|git@|git\+https:\/\/|https?:\/\/|github:)?(?:github\.com[/:])?([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(
    text,
  )?.[1]
  if (path !== undefined && !/^https?:\/\/(?!github\.com)/.test(text)) return `https://github.com/${path}`
  return /^https?:\/\/\S+$/.test(text) ? text : undefined
}
