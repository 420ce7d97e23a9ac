// SPDX-License-Identifier: Apache-2.0
/**
 * The bill of materials of the image for one architecture: what that of the packages lists, the
 * packages themselves, and busybox with what Debian linked into it. Pure.
 *
 * Package URLs of Debian: https://github.com/package-url/purl-spec, type `deb`.
 */
import type { Busybox } from './busybox.ts'
import { sealBill } from './sbom.ts'

interface Bill {
  readonly metadata: { readonly timestamp: string; readonly component: Part & { readonly licenses: unknown; readonly properties: unknown } }
  readonly components: readonly Part[]
  readonly dependencies: readonly object[]
}

interface Part {
  readonly 'bom-ref': string
  readonly version: string
}

interface ImageBillInput {
  readonly name: string
  readonly description: string
  readonly architecture: string
  /** CycloneDX, of the packages that are in the image. */
  readonly packageBill: string
  readonly files: readonly { readonly name: string; readonly sha256: string }[]
  readonly busybox: Busybox
}

export function imageBill({ name, description, architecture, packageBill, files, busybox }: ImageBillInput): string {
  const bill = JSON.parse(packageBill) as Bill
  const { timestamp, component: agent } = bill.metadata
  const ref = `${name}@${agent.version}`
  const packages = files.map((file) => ({ type: 'file', 'bom-ref': file.name, name: file.name, hashes: hashOf(file.sha256) }))
  const box = {
    ...debianPart('busybox-static', busybox.version, architecture, 'GPL-2.0-only'),
    hashes: hashOf(busybox.sha256),
    components: [...busybox.builtUsing.matchAll(/(\S+) \(= ([^)]+)\)/g)].map(([, part = '', version = '']) =>
      debianPart(part, version, 'source', 'LGPL-2.1-or-later'),
    ),
  }
  return sealBill({
    metadata: {
      timestamp,
      component: { type: 'container', 'bom-ref': ref, name, version: agent.version, description, properties: agent.properties },
    },
    components: [agent, ...bill.components, ...packages, box],
    dependencies: [
      { ref, dependsOn: [...packages, box].map((each) => each['bom-ref']) },
      ...packages.map((each) => ({ ref: each['bom-ref'], dependsOn: [agent['bom-ref']] })),
      ...bill.dependencies,
      { ref: box['bom-ref'], dependsOn: box.components.map((each) => each['bom-ref']) },
    ],
  })
}

/** @param architecture `source`: a package's source, as `Built-Using` names it */
function debianPart(name: string, version: string, architecture: string, licence: string) {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=bookworm`
  return { type: 'application', 'bom-ref': purl, name, version, licenses: [{ license: { id: licence } }], purl }
}

function hashOf(sha256: string): object[] {
  return [{ alg: 'SHA-256', content: sha256 }]
}
