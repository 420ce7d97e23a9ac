// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { sha256Of } from '../../scripts/package/digest.ts'
import { imageBill } from '../../scripts/package/image-bill.ts'
import { type ImageInput, ociLayout } from '../../scripts/package/oci.ts'
import { sbom } from '../../scripts/package/sbom.ts'

const layer = (text: string) => ({ bytes: Buffer.from(text), diffSha256: sha256Of(`tar of ${text}`), comment: text })
const INPUT: ImageInput = {
  annotations: { 'org.opencontainers.image.created': '2026-11-21T17:20:00.000Z', 'org.opencontainers.image.version': '1.2.3' },
  tag: '1.2.3',
  process: { User: '65534:65534', Entrypoint: ['/start'], Env: ['PATH=/bin'] },
  images: ['amd64', 'arm64'].map((architecture) => ({
    architecture,
    layers: [layer('both'), layer(architecture)],
    bill: `bill of ${architecture}`,
  })),
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

interface Manifest {
  readonly mediaType: string
  readonly artifactType?: string
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
  readonly subject?: Descriptor
  readonly annotations: object
}

type Entry = Descriptor & { readonly platform: { readonly architecture: string; readonly os: string } }

t.test('an image of two architectures, with the bill of each', async (t) => {
  const files = ociLayout(INPUT)
  const read = (descriptor: Descriptor | undefined) => files.get(`blobs/${descriptor?.digest.replace(':', '/')}`) ?? Buffer.from('null')
  const parse = <T>(descriptor: Descriptor | undefined) => JSON.parse(String(read(descriptor))) as T
  const { manifests } = JSON.parse(String(files.get('index.json'))) as { manifests: Descriptor[] }
  t.equal(String(files.get('oci-layout')), '{"imageLayoutVersion":"1.0.0"}')

  await t.test('a person who names no tag gets it, and with the tag too', async (t) => {
    t.match(manifests, [{ annotations: { 'org.opencontainers.image.ref.name': '1.2.3' } }])
    t.equal(manifests.length, 1)
  })
  const index = parse<{ manifests: Entry[]; annotations: object }>(manifests[0])
  t.same(index.annotations, INPUT.annotations)
  const platforms = index.manifests.map(({ platform }) => `${platform.os}/${platform.architecture}`)
  t.same(platforms, ['linux/amd64', 'unknown/unknown', 'linux/arm64', 'unknown/unknown'], 'nobody takes a bill for an image')

  for (const [which, { architecture, layers, bill }] of INPUT.images.entries()) {
    const [image, artifact] = index.manifests.slice(2 * which)
    const manifest = parse<Manifest>(image)
    t.same(manifest.layers.map(read).map(String), ['both', architecture])
    t.match(parse(manifest.config), {
      architecture,
      os: 'linux',
      created: '2026-11-21T17:20:00.000Z',
      config: INPUT.process,
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffSha256 }) => `sha256:${diffSha256}`) },
    })
    const referrer = parse<Manifest>(artifact)
    t.equal(referrer.artifactType, 'application/vnd.cyclonedx+json')
    const { platform: _platform, ...subject } = image ?? {}
    t.same(referrer.subject, subject, 'it refers to the image of its architecture')
    t.same(referrer.layers.map(read).map(String), [bill])
  }

  const blobs = [...files].filter(([path]) => path.startsWith('blobs/'))
  for (const [path, bytes] of blobs) t.equal(path, `blobs/sha256/${sha256Of(bytes)}`)
  const manifestsOfAll = index.manifests.map((each) => parse<Manifest>(each))
  const named = [...manifests, ...index.manifests, ...manifestsOfAll.flatMap(({ config, layers }) => [config, ...layers])]
  for (const { digest, size } of named) t.equal(read({ digest, size, mediaType: '' }).length, size, digest)
  t.equal(new Set(named.map(({ digest }) => digest)).size, blobs.length, 'there is no other file')
})

t.test('the bill of an image', async (t) => {
  const integrity = `sha512-${Buffer.alloc(64, 7).toString('base64')}`
  const runtime = {
    name: 'Node.js',
    npmName: 'node',
    isStripped: true,
    version: '24.0.0',
    licence: 'MIT',
    licenceText: '',
    homepage: undefined,
  }
  const packageBill = sbom({
    ...{ name: 'agent', version: '0.1.0', licence: 'Apache-2.0', description: 'x', architecture: 'arm64', epoch: 1_795_000_000 },
    ...{ components: [], runtime: { ...runtime, integrity, parts: { v8: '13.6' } } },
  })
  const busybox = { root: '/', version: '1:1.35.0-4+b1', sha256: 'b'.repeat(64), builtUsing: 'glibc (= 2.36-9+deb12u14)' }
  const files = [{ name: 'agent_arm64.deb', sha256: 'd'.repeat(64) }]
  const bill = JSON.parse(imageBill({ name: 'image', description: 'y', architecture: 'arm64', packageBill, files, busybox }))
  t.match(bill.metadata, { timestamp: '2026-11-18T11:06:40.000Z', component: { type: 'container', name: 'image', version: '0.1.0' } })
  const purls = ['pkg:deb/debian/busybox-static@1%3A1.35.0-4%2Bb1?arch=arm64&distro=bookworm', 'pkg:npm/node@24.0.0']
  t.match(bill.components, [
    { name: 'agent', version: '0.1.0' },
    { name: 'Node.js', purl: purls[1] },
    { name: 'agent_arm64.deb', hashes: [{ alg: 'SHA-256', content: 'd'.repeat(64) }] },
    { purl: purls[0], components: [{ purl: 'pkg:deb/debian/glibc@2.36-9%2Bdeb12u14?arch=source&distro=bookworm' }] },
  ])
  const refs = JSON.stringify([bill.metadata, bill.components]).match(/"bom-ref":"[^"]*"/g) ?? []
  t.equal(new Set(refs).size, refs.length, 'each part has a name of its own')
  const known = new Set(refs.map((ref) => JSON.parse(`{${ref}}`)['bom-ref']))
  for (const { ref, dependsOn } of bill.dependencies) for (const each of [ref, ...dependsOn]) t.ok(known.has(each), each)
})
