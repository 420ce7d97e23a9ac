// SPDX-License-Identifier: Apache-2.0
/**
 * Creates certificates for a test server in memory: a certificate authority, a server certificate,
 * client certificates. Implements only the necessary parts of DER (X.690) and RFC 5280. Never for
 * production: keys are not protected, and nothing can be revoked.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

export interface Authority extends KeyPair {
  readonly name: Subject
  readonly signingKey: KeyObject
}

interface Subject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

type Purpose = { readonly kind: 'server'; readonly hosts: readonly string[] } | { readonly kind: 'client' }

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

export function createAuthority(commonName: string): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = { commonName, organizations: [] }
  const extensions = [
    extension(OID.basicConstraints, true, sequence(tlv(0x01, Buffer.from([0xff])))),
    extension(OID.keyUsage, true, bits(0b0000_0110)),
    extension(OID.subjectKeyIdentifier, false, tlv(0x04, keyIdentifier(publicKey))),
  ]
  const certificate = signCertificate({ issuer: name, subject: name, publicKey, extensions }, privateKey)
  return { name, signingKey: privateKey, certificate, key: exportKey(privateKey) }
}

export function issueCertificate(authority: Authority, subject: Subject, purpose: Purpose): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const usage = purpose.kind === 'server' ? OID.serverAuth : OID.clientAuth
  const extensions = [
    extension(OID.keyUsage, true, bits(0b1000_0000)),
    extension(OID.extendedKeyUsage, false, sequence(objectIdentifier(usage))),
    extension(OID.authorityKeyIdentifier, false, sequence(tlv(0x80, keyIdentifier(authority.signingKey)))),
    ...(purpose.kind === 'server' ? [extension(OID.subjectAltName, false, sequence(...purpose.hosts.map(alternativeName)))] : []),
  ]
  const certificate = signCertificate({ issuer: authority.name, subject, publicKey, extensions }, authority.signingKey)
  return { certificate, key: exportKey(privateKey) }
}

interface ToBeSigned {
  readonly issuer: Subject
  readonly subject: Subject
  readonly publicKey: KeyObject
  readonly extensions: readonly Buffer[]
}

function signCertificate(content: ToBeSigned, key: KeyObject): string {
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256))
  const toBeSigned = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, positive(randomBytes(16))),
    algorithm,
    distinguishedName(content.issuer),
    sequence(tlv(0x17, Buffer.from('200101000000Z')), tlv(0x17, Buffer.from('491231235959Z'))),
    distinguishedName(content.subject),
    content.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...content.extensions)),
  )
  const signature = sign('sha256', toBeSigned, key)
  const der = sequence(toBeSigned, algorithm, tlv(0x03, Buffer.from([0]), signature))
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function keyIdentifier(key: KeyObject): Buffer {
  const jwk = key.export({ format: 'jwk' })
  return createHash('sha1').update(`${jwk.x}.${jwk.y}`).digest()
}

function distinguishedName({ commonName, organizations }: Subject): Buffer {
  const attribute = (oid: string, text: string): Buffer => tlv(0x31, sequence(objectIdentifier(oid), tlv(0x0c, Buffer.from(text))))
  return sequence(...organizations.map((group) => attribute(OID.organization, group)), attribute(OID.commonName, commonName))
}

function alternativeName(host: string): Buffer {
  switch (isIP(host)) {
    case 4:
      return tlv(0x87, Buffer.from(host.split('.').map(Number)))
    case 6:
      if (host === '::1') return tlv(0x87, Buffer.from([...Array<number>(15).fill(0), 1]))
      throw new RangeError(`no encoding for the address ${host}: only ::1 is supported`)
    default:
      return tlv(0x82, Buffer.from(host))
  }
}

function extension(oid: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectIdentifier(oid), ...(critical ? [tlv(0x01, Buffer.from([0xff]))] : []), tlv(0x04, value))
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, ...parts)
}

function bits(octet: number): Buffer {
  const unused = Math.clz32(octet & -octet) === 32 ? 0 : 31 - Math.clz32(octet & -octet)
  return tlv(0x03, Buffer.from([unused, octet]))
}

function positive(bytes: Buffer): Buffer {
  const [first = 0, ...rest] = bytes
  return Buffer.from([(first & 0x7f) | 0x40, ...rest])
}

function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const octets = rest.flatMap((part) => {
    const septets = [part & 0x7f]
    for (let left = part >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80)
    return septets
  })
  return tlv(0x06, Buffer.from([first * 40 + second, ...octets]))
}

/** Tag, length, value: all of DER. */
function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  if (value.length < 0x80) return Buffer.concat([Buffer.from([tag, value.length]), value])
  const length = value.length < 0x100 ? [0x81, value.length] : [0x82, value.length >> 8, value.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), value])
}
