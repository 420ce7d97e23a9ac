/**
 * Identifies a cluster by the SHA-256 of each certificate authority that its kubeconfig trusts.
 * During a rotation, a kubeconfig holds the old and the new authority, so two sets that share a
 * hash mean the same cluster. Pure.
 */
import { createHash } from 'node:crypto'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g

/**
 * Hex, sorted, without duplicates. Hashes the DER form, so line breaks and comments in the PEM file
 * do not matter.
 */
export function hashCertificates(pem: string): string[] {
  const hashes = [...pem.matchAll(CERTIFICATE)].map(([, base64 = '']) =>
    createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex'),
  )
  return [...new Set(hashes)].sort()
}
