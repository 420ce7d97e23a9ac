/**
 * Identifies a cluster by the certificate authorities that its kubeconfig trusts: the SHA-256 of
 * each certificate and of its public key (SPKI, RFC 5280). During a rotation, a kubeconfig holds
 * the old and the new authority, and an authority that is renewed keeps its key, so two sets that
 * share a hash mean the same cluster. Pure.
 */
import { createHash, X509Certificate } from 'node:crypto'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g

/**
 * Hex, sorted, without duplicates. Hashes the DER form, so line breaks and comments in the PEM file
 * do not matter.
 */
export function hashCertificates(pem: string): string[] {
  const hashes = [...pem.matchAll(CERTIFICATE)].flatMap(([, base64 = '']) => {
    const certificate = Buffer.from(base64, 'base64')
    const key = readPublicKey(certificate)
    return [certificate, ...(key === undefined ? [] : [key])].map((der) => createHash('sha256').update(der).digest('hex'))
  })
  return [...new Set(hashes)].sort()
}

/** The same, but a text like the last one is not hashed again: that takes 1 ms. */
export function rememberHashes(): (pem: string) => readonly string[] {
  let last: { readonly pem: string; readonly hashes: readonly string[] } | undefined
  return (pem) => {
    if (last?.pem !== pem) last = { pem, hashes: hashCertificates(pem) }
    return last.hashes
  }
}

/** undefined: OpenSSL does not know the certificate or its kind of key. */
function readPublicKey(certificate: Uint8Array): Buffer | undefined {
  try {
    return new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' })
  } catch {
    return undefined
  }
}
