// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { createAuthority } from '../../demo/api-server/x509.ts'
import { hashCertificates, rememberHashes } from '../../src/kube/access.ts'

const pem = (base64: string) => `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`

/** Of one key, from `openssl req -x509`. */
const AUTHORITY = pem(
  'MIIBfjCCASWgAwIBAgIUECDHN6hU4bvzaQWOCA0Pt/HCnnwwCgYIKoZIzj0EAwIwFTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjExMjYxNz' +
    'MyMjJaFw0zNjExMjMxNzMyMjJaMBUxEzARBgNVBAMMCmt1YmVybmV0ZXMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASERLewflSIV46JWx/g' +
    'TYKRRKJ3I7Vjn0MBd4vBxEOxU060uxQ16HF1pp9+bisrYRFmIS5agzcs8rkmH3lrl5Rbo1MwUTAdBgNVHQ4EFgQUYn7Egd8M47t0l0Cu93KNnN' +
    '8bh+8wHwYDVR0jBBgwFoAUYn7Egd8M47t0l0Cu93KNnN8bh+8wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiAZVX0Ba/AbJP+M' +
    'siqh6G8M2fopaL+5tgdChfX6i3h8TgIgSdw56rFvmUvp/isjaPxfqgNR7AZW2/Zr1OFh6KYhRos=',
)
const RENEWED = pem(
  'MIIBfzCCASWgAwIBAgIUPm8Y6gbCW3WYA/kdiRvUUSnNgyowCgYIKoZIzj0EAwIwFTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjExMjYxNz' +
    'MyMjJaFw00NjExMjExNzMyMjJaMBUxEzARBgNVBAMMCmt1YmVybmV0ZXMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASERLewflSIV46JWx/g' +
    'TYKRRKJ3I7Vjn0MBd4vBxEOxU060uxQ16HF1pp9+bisrYRFmIS5agzcs8rkmH3lrl5Rbo1MwUTAdBgNVHQ4EFgQUYn7Egd8M47t0l0Cu93KNnN' +
    '8bh+8wHwYDVR0jBBgwFoAUYn7Egd8M47t0l0Cu93KNnN8bh+8wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAuUP8z/saikp4' +
    'U0oPP8Fy8OAFoRuZtvmz2eSLQok/US8CIHsCmKDqDOJRoja4OC10nNohRNNJKhTVskehSa1apPiz',
)

t.test('the hashes of certificates do not depend on how the PEM is written', (t) => {
  const hashes = hashCertificates(pem('AAAA') + pem('BBBB'))
  t.equal(hashes.length, 2)
  t.same(hashCertificates(`# comment\r\n${pem('BB\r\nBB')}${pem('AAAA')}${pem('AAAA')}`), hashes)
  t.same(hashCertificates(''), [])
  t.end()
})

t.test('an authority that is renewed with its key has one hash in common with the old one', (t) => {
  const [before, after] = [hashCertificates(AUTHORITY), hashCertificates(RENEWED)]
  t.equal(before.length, 2, 'of the certificate and of its key')
  t.equal(before.filter((hash) => after.includes(hash)).length, 1)
  const others = hashCertificates(createAuthority('kubernetes').certificate)
  t.notOk(others.some((hash) => before.includes(hash)))
  t.end()
})

t.test('the hash of the certificate itself stays what it was in older records', (t) => {
  const { fingerprint256 } = new X509Certificate(AUTHORITY)
  t.ok(hashCertificates(AUTHORITY).includes(fingerprint256.replaceAll(':', '').toLowerCase()))
  t.end()
})

t.test('a text that is not the last one is hashed', async (t) => {
  const hash = rememberHashes()
  for (const text of [pem('AAAA'), pem('AAAA'), pem('BBBB'), '', pem('AAAA')]) t.same(hash(text), hashCertificates(text))
})
