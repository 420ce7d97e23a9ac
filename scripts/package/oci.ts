// SPDX-License-Identifier: Apache-2.0
/**
 * The documents of a container image for several architectures, as an OCI layout has them, with a
 * bill of materials for each. The bill is an artifact whose `subject` is the image of its
 * architecture: a registry lists it as a referrer. It is in the image's index too, with the
 * platform `unknown`, so that whoever copies the whole index copies the bills. Pure.
 *
 * Formats, version 1.1: https://github.com/opencontainers/image-spec.
 */
import { sha256Of } from './digest.ts'

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'
const CONFIG = 'application/vnd.oci.image.config.v1+json'
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip'
const EMPTY = 'application/vnd.oci.empty.v1+json'
const BILL = 'application/vnd.cyclonedx+json'
/** Takes the place of the platform of what is not to be run. */
const NO_PLATFORM = { architecture: 'unknown', os: 'unknown' }

export interface Layer {
  /** Compressed. */
  readonly bytes: Buffer
  /** Of the tar in it. */
  readonly diffSha256: string
  readonly comment: string
}

export interface ArchitectureImage {
  /** As OCI and Debian name it. */
  readonly architecture: string
  readonly layers: readonly Layer[]
  readonly bill: string
}

export interface ImageInput {
  /** `org.opencontainers.image.created` of it is the only time in the image. */
  readonly annotations: Readonly<Record<'org.opencontainers.image.created' | `org.opencontainers.image.${string}`, string>>
  /** Of the image in the layout. */
  readonly tag: string
  /** What a container of it does, and as whom. */
  readonly process: { readonly User: string; readonly Entrypoint: readonly string[]; readonly Env: readonly string[] }
  readonly images: readonly ArchitectureImage[]
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/** Each file of the layout by its path. */
export function ociLayout({ annotations, tag, process, images }: ImageInput): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>()
  const put = (mediaType: string, content: Buffer | string): Descriptor => {
    const bytes = Buffer.from(content)
    const sha256 = sha256Of(bytes)
    files.set(`blobs/sha256/${sha256}`, bytes)
    return { mediaType, digest: `sha256:${sha256}`, size: bytes.length }
  }
  const created = annotations['org.opencontainers.image.created']
  const manifests = images.flatMap(({ architecture, layers, bill }) => {
    const platform = { architecture, os: 'linux' }
    const config = {
      created,
      ...platform,
      config: process,
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffSha256 }) => `sha256:${diffSha256}`) },
      history: layers.map(({ comment }) => ({ created, comment })),
    }
    const image = put(
      MANIFEST,
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: put(CONFIG, JSON.stringify(config)),
        layers: layers.map(({ bytes }) => put(LAYER, bytes)),
        annotations,
      }),
    )
    const artifact = put(
      MANIFEST,
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        artifactType: BILL,
        config: put(EMPTY, '{}'),
        layers: [{ ...put(BILL, bill), annotations: { 'org.opencontainers.image.title': 'sbom.cdx.json' } }],
        subject: image,
        annotations: { 'org.opencontainers.image.created': created },
      }),
    )
    // An `artifactType` here too would be dropped by earlier skopeos, which then change the digest.
    return [
      { ...image, platform },
      { ...artifact, platform: NO_PLATFORM },
    ]
  })
  const index = put(INDEX, JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests, annotations }))
  const entry = { ...index, annotations: { 'org.opencontainers.image.ref.name': tag } }
  files.set('index.json', Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [entry] })))
  files.set('oci-layout', Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' })))
  return files
}
