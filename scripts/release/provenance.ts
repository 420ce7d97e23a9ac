// SPDX-License-Identifier: Apache-2.0
/**
 * Where the files of a release come from: an in-toto statement with a predicate of SLSA provenance
 * v1. It holds no time of day, so the same commit on the same machine gives the same bytes. Pure.
 *
 * Formats: https://in-toto.io/Statement/v1, https://slsa.dev/spec/v1.0/provenance.
 */
import type { Digested } from './checksums.ts'

export interface ProvenanceInput {
  readonly files: readonly Digested[]
  readonly version: string
  /** undefined: a trial, of a commit without a tag. */
  readonly tag: string | undefined
  /** The commit's full hash. */
  readonly commit: string
  /** Seconds since 1970, of the commit. */
  readonly epoch: number
  /** Address of the repository, if it was given. */
  readonly source: string | undefined
  /** Where the plugin's archives will be. */
  readonly url: string | undefined
  /** Who built it, as a URI. */
  readonly builder: string
  /** Versions of the programs that decide the bytes. */
  readonly tools: Readonly<Record<string, string>>
  /** Other files that went in: those of the commit that pin dependencies. */
  readonly pins: readonly Digested[]
}

/** Says how `externalParameters` are to be read: docs/release.md. */
export const BUILD_TYPE = 'urn:kubelet-cfg-agent:release:v1'

export function provenance(input: ProvenanceInput): string {
  const { files, version, tag, commit, epoch, source, url, builder, tools, pins } = input
  const ref = tag === undefined ? '' : `@refs/tags/${tag}`
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files].sort(byPath).map(({ path, sha256 }) => ({ name: path, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: {
          version,
          ...(tag === undefined ? { trial: true } : { tag }),
          ...(url === undefined ? {} : { url }),
        },
        internalParameters: { SOURCE_DATE_EPOCH: epoch },
        resolvedDependencies: [
          { name: 'source', ...(source === undefined ? {} : { uri: `git+${source}${ref}` }), digest: { gitCommit: commit } },
          ...[...pins].sort(byPath).map(({ path, sha256 }) => ({ name: path, digest: { sha256 } })),
        ],
      },
      runDetails: { builder: { id: builder, version: tools } },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

function byPath(a: Digested, b: Digested): number {
  return a.path < b.path ? -1 : 1
}
