// SPDX-License-Identifier: Apache-2.0
/**
 * The lab's certificate authority, by openssl(1): a CA, server certificates for loopback, and
 * client certificates whose subject is the Kubernetes identity (CN the user, O the groups).
 * `openssl ca` signs, since it alone can end a certificate's life to the second.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './processes.ts'

export interface Authority {
  readonly certificateFile: string
  readonly keyFile: string
}

interface Leaf {
  readonly certificateFile: string
  readonly keyFile: string
  /** Certificate and key in one PEM, as kubelet keeps its own. */
  readonly pem: string
}

interface LeafRequest {
  /** openssl's notation: `/O=system:nodes/CN=system:node:a`. */
  readonly subject: string
  readonly usage: 'clientAuth' | 'serverAuth'
  readonly validMs?: number
}

const dayMs = 24 * 60 * 60 * 1000

/** Creates a CA in `directory`. */
export async function createAuthority(directory: string): Promise<Authority> {
  await mkdir(directory, { recursive: true })
  const authority = { certificateFile: join(directory, 'ca.crt'), keyFile: join(directory, 'ca.key') }
  const destination = ['-keyout', authority.keyFile, '-out', authority.certificateFile]
  await openssl(['req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=lab-ca', ...destination])
  return authority
}

/** Issues a certificate into `directory`, which is made for it. */
export async function issueCertificate(authority: Authority, directory: string, request: LeafRequest): Promise<Leaf> {
  await mkdir(directory, { recursive: true })
  const file = (name: string): string => join(directory, name)
  const leaf = { certificateFile: file('tls.crt'), keyFile: file('tls.key') }
  await writeFile(file('index.txt'), '')
  await writeFile(file('openssl.cnf'), signingConfig(directory, request.usage))
  await openssl(['req', ...newKey, '-subj', request.subject, '-keyout', leaf.keyFile, '-out', file('tls.csr')])
  const now = Date.now()
  const validity = ['-startdate', asn1Time(now - 60_000), '-enddate', asn1Time(now + (request.validMs ?? dayMs))]
  const signer = ['-cert', authority.certificateFile, '-keyfile', authority.keyFile]
  const files = ['-in', file('tls.csr'), '-out', leaf.certificateFile]
  await openssl(['ca', '-batch', '-notext', '-config', file('openssl.cnf'), ...signer, ...validity, ...files])
  const [certificate, key] = await Promise.all([readFile(leaf.certificateFile, 'utf8'), readFile(leaf.keyFile, 'utf8')])
  return { ...leaf, pem: certificate + key }
}

/** A key pair that signs service account tokens. */
export async function createSigningKey(file: string): Promise<void> {
  await openssl(['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file])
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const

async function openssl(args: readonly string[]): Promise<void> {
  await run('openssl', args)
}

/** YYMMDDHHMMSSZ */
function asn1Time(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`
}

function signingConfig(directory: string, usage: LeafRequest['usage']): string {
  return `
[ca]
default_ca = lab
[lab]
database = ${join(directory, 'index.txt')}
new_certs_dir = ${directory}
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = leaf
[any]
organizationName = optional
commonName = supplied
[leaf]
basicConstraints = CA:FALSE
extendedKeyUsage = ${usage}
${usage === 'serverAuth' ? 'subjectAltName = IP:127.0.0.1,DNS:localhost' : ''}
`
}
