// SPDX-License-Identifier: Apache-2.0
/**
 * The bill of materials, CycloneDX 1.5 in JSON: the agent, the libraries in its bundle, Node.js and
 * its libraries. The same input gives the same bytes: the serial number is derived from the
 * content. Pure.
 *
 * Format: https://cyclonedx.org/docs/1.5/json/; package URLs:
 * https://github.com/package-url/purl-spec.
 */
import { createHash } from 'node:crypto'
import type { Component, Runtime } from './components.ts'

interface SbomInput {
  readonly name: string
  readonly version: string
  readonly licence: string
  readonly description: string
  /** As the package manager names it; for the plugin with the system, as in `linux/amd64`. */
  readonly architecture: string
  /** Seconds since 1970, of the commit. */
  readonly epoch: number
  readonly components: readonly Component[]
  readonly runtime: Runtime
}

export function sbom({ name, version, licence, description, architecture, epoch, components, runtime }: SbomInput): string {
  const root = `${name}@${version}`
  const libraries = components.map((component) => ({
    type: 'library',
    'bom-ref': purlOf(component.name, component.version),
    name: component.name,
    version: component.version,
    hashes: hashesOf(component.integrity),
    licenses: licencesOf(component.licence),
    purl: purlOf(component.name, component.version),
    ...(component.homepage === undefined ? {} : { externalReferences: [{ type: 'website', url: component.homepage }] }),
  }))
  const node = {
    type: 'application',
    'bom-ref': purlOf(runtime.npmName, runtime.version),
    name: runtime.name,
    version: runtime.version,
    description: runtime.isStripped ? 'JavaScript runtime, stripped of its symbols' : 'JavaScript runtime, as published',
    // Of the npm package that contains the binary.
    hashes: hashesOf(runtime.integrity),
    licenses: licencesOf(runtime.licence),
    cpe: `cpe:2.3:a:nodejs:node.js:${runtime.version}:*:*:*:*:*:*:*`,
    purl: purlOf(runtime.npmName, runtime.version),
    ...(runtime.homepage === undefined ? {} : { externalReferences: [{ type: 'website', url: runtime.homepage }] }),
    components: Object.entries(runtime.parts)
      .filter(([part, partVersion]) => part !== 'node' && partVersion !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([part, partVersion]) => ({ type: 'library', 'bom-ref': `node:${part}@${partVersion}`, name: part, version: partVersion })),
  }
  const content = {
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': root,
        name,
        version,
        description,
        licenses: licencesOf(licence),
        properties: [{ name: `${name}:architecture`, value: architecture }],
      },
    },
    components: [...libraries, node],
    dependencies: [
      { ref: root, dependsOn: [...libraries, node].map((each) => each['bom-ref']) },
      ...libraries.map((each) => ({ ref: each['bom-ref'], dependsOn: [] })),
      { ref: node['bom-ref'], dependsOn: node.components.map((each) => each['bom-ref']) },
    ],
  }
  return sealBill(content)
}

/** @param content everything but the head, from which its serial number follows */
export function sealBill(content: object): string {
  const document = { bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber: serialOf(JSON.stringify(content)), version: 1, ...content }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** A version 8 UUID (RFC 9562), whose bits may be chosen freely: here they come from a hash. */
function serialOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

/** One or more of `sha512-BASE64`, separated by spaces. */
function hashesOf(integrity: string): { alg: string; content: string }[] {
  return integrity.split(/\s+/).map((each) => {
    const [algorithm = '', digest = ''] = each.split(/-(.*)/s)
    return { alg: algorithm.toUpperCase().replace(/^SHA/, 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }
  })
}

function licencesOf(licence: string): ({ license: { id: string } } | { expression: string })[] {
  return [/[ ()]/.test(licence) ? { expression: licence } : { license: { id: licence } }]
}
