// SPDX-License-Identifier: Apache-2.0
/** The command line of `npm run release`. Pure. */
import { parseArgs } from 'node:util'

export interface Options {
  /** A directory, made anew. */
  readonly output: string
  /** undefined: unsigned on request. */
  readonly signWith: string | undefined
  /** Of a commit without a tag. */
  readonly trial: boolean
  /** A directory of packages that are there already, for a trial; undefined: they are built. */
  readonly packages: string | undefined
  /** Findings of `npm audit` do not stop the release. */
  readonly despiteAudit: boolean
  readonly url: string | undefined
  readonly source: string | undefined
  readonly builder: string
}

export const USAGE = `npm run release -- (--sign-with KEY | --unsigned) [options]

  --sign-with KEY   fingerprint or email address of a key in GNUPGHOME
  --unsigned        no signatures: apt and dnf refuse such a repository
  --output DIR      made anew (default: dist/release)
  --url URL         where the plugin's archives will be, for krew's manifest
  --source URL      address of the repository, for the provenance
  --builder URI     who builds, for the provenance (default: urn:kubelet-cfg-agent:builder:local)
  --trial           takes a commit without a tag; not for publication
  --despite-audit   goes on if npm audit finds something
  --packages DIR    with --trial: takes the packages from DIR instead of building them
`

/** Throws with the usage. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      output: { type: 'string', default: 'dist/release' },
      'sign-with': { type: 'string' },
      unsigned: { type: 'boolean', default: false },
      trial: { type: 'boolean', default: false },
      packages: { type: 'string' },
      'despite-audit': { type: 'boolean', default: false },
      url: { type: 'string' },
      source: { type: 'string' },
      builder: { type: 'string', default: 'urn:kubelet-cfg-agent:builder:local' },
    },
  })
  const { 'sign-with': signWith, unsigned, trial, packages, 'despite-audit': despiteAudit, url, source } = values
  const refuse = (why: string): never => {
    throw new Error(`${why}\n\n${USAGE}`)
  }
  if (signWith === undefined && !unsigned) refuse('say --sign-with KEY, or --unsigned for repositories without signatures')
  if (signWith !== undefined && unsigned) refuse('--sign-with and --unsigned contradict each other')
  if (packages !== undefined && !trial) refuse('--packages needs --trial: the provenance of a release is about files that it has built')
  for (const [name, value] of Object.entries({ url, source })) {
    if (value !== undefined && !isPublicAddress(value)) refuse(`--${name} ${value}: is not an https address without user and password`)
  }
  return { output: values.output, signWith, trial, packages, despiteAudit, url, source, builder: values.builder }
}

function isPublicAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return url.protocol === 'https:' && url.username === '' && url.password === ''
}
