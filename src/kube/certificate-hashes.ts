/**
 * What tells one cluster from another: SHA-256 of each certificate authority that a kubeconfig trusts. During a rotation of the authority
 * a kubeconfig holds the old and the new one, so two sets that share a hash are the same cluster. Pure.
 */
import { createHash } from 'node:crypto'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g

/** Hex, sorted, without duplicates, of the DER form: line breaks and comments in a PEM file do not matter. */
export function hashCertificates(pem: string): string[] {
  const hashes = [...pem.matchAll(CERTIFICATE)].map(([, base64 = '']) =>
    createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex'),
  )
  return [...new Set(hashes)].sort()
}
