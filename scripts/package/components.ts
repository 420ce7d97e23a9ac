/**
 * What the packages are made of besides our own code: the npm packages that esbuild really put into the bundle, by its own account, and
 * Node.js. A dependency of which nothing was taken is none of these. Pure: whoever calls reads the files.
 */

/** Of esbuild's metafile, the part that matters. */
export interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>>
}

export interface Component {
  readonly name: string
  readonly version: string
  /** SPDX identifier or expression. */
  readonly licence: string
  readonly licenceText: string
  /** Where it comes from, for people. */
  readonly homepage: string | undefined
  /** Subresource integrity, as the lockfile has it. */
  readonly integrity: string
}

export interface Runtime extends Component {
  /** The npm package that holds the binary. */
  readonly npmName: string
  /** What Node says is inside itself, by name. */
  readonly parts: Readonly<Record<string, string>>
}

/** Directories of packages, as in `node_modules/@scope/name`, that gave at least a byte. Sorted. */
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

export interface PackageFiles {
  /** Its package.json. */
  readonly manifest: Readonly<Record<string, unknown>>
  readonly licenceText: string | undefined
  readonly integrity: string | undefined
}

/** Refuses what cannot be accounted for: shipping it would be the mistake. */
export function readComponent(directory: string, { manifest, licenceText, integrity }: PackageFiles): Component {
  const { name, version, license, homepage, repository } = manifest
  if (typeof name !== 'string' || typeof version !== 'string') throw new Error(`${directory}: package.json has no name or no version`)
  if (typeof license !== 'string') throw new Error(`${name}: package.json names no licence; find out under which it may be shipped`)
  if (licenceText === undefined) throw new Error(`${name}: has no licence file; its text has to be shipped with it`)
  if (integrity === undefined) throw new Error(`${name}: the lockfile has no integrity for ${directory}`)
  return { name, version, licence: license, licenceText, homepage: webAddress(homepage) ?? webAddress(repositoryOf(repository)), integrity }
}

function repositoryOf(repository: unknown): unknown {
  return typeof repository === 'object' && repository !== null && 'url' in repository ? repository.url : repository
}

/** npm allows short forms and those of git; people want what a browser opens. */
function webAddress(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const path = /^(?:git\+ssh:\/\/git@|git@|git\+https:\/\/|https?:\/\/|github:)?(?:github\.com[/:])?([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(
    text,
  )?.[1]
  if (path !== undefined && !/^https?:\/\/(?!github\.com)/.test(text)) return `https://github.com/${path}`
  return /^https?:\/\/\S+$/.test(text) ? text : undefined
}
