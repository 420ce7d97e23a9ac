// SPDX-License-Identifier: Apache-2.0
/**
 * Who talks to the lab's API server, as kubeconfig files. The administrator is in `system:masters`.
 * A node has what kubeadm and kubelet give it: a kubeconfig that names
 * `pki/kubelet-client-current.pem` twice, for certificate and key, which is a link to the newest of
 * the dated files beside it and is moved when the certificate is rotated (kubelet's
 * `certificate.FileStore`).
 */
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Authority, issueCertificate } from './certificates.ts'

export interface Cluster {
  readonly directory: string
  readonly server: string
  readonly authority: Authority
}

export async function writeAdminKubeconfig(cluster: Cluster): Promise<string> {
  const request = { subject: '/O=system:masters/CN=kubernetes-admin', usage: 'clientAuth' } as const
  const { certificateFile, keyFile } = await issueCertificate(cluster.authority, join(cluster.directory, 'admin'), request)
  return writeKubeconfig(cluster, join(cluster.directory, 'admin.conf'), 'kubernetes-admin', certificateFile, keyFile)
}

export interface NodeIdentity {
  readonly kubeconfig: string
  /** Gives the node a new certificate, under the same path; `validMs` ends its life early. */
  rotate(options?: { readonly validMs?: number }): Promise<void>
}

export async function writeNodeIdentity(cluster: Cluster, name: string): Promise<NodeIdentity> {
  const pki = join(cluster.directory, 'nodes', name, 'pki')
  const current = join(pki, 'kubelet-client-current.pem')
  let count = 0
  const rotate: NodeIdentity['rotate'] = async (options = {}) => {
    count += 1
    const request = { ...options, subject: `/O=system:nodes/CN=system:node:${name}`, usage: 'clientAuth' } as const
    const { pem } = await issueCertificate(cluster.authority, join(pki, `issue-${count}`), request)
    const dated = join(pki, `kubelet-client-${count}.pem`)
    await writeFile(dated, pem, { mode: 0o600 })
    await symlink(basename(dated), `${current}.new`)
    await rename(`${current}.new`, current)
  }
  await mkdir(pki, { recursive: true })
  await rotate()
  const path = join(cluster.directory, 'nodes', name, 'kubelet.conf')
  return { kubeconfig: await writeKubeconfig(cluster, path, `system:node:${name}`, current, current), rotate }
}

async function writeKubeconfig(cluster: Cluster, path: string, user: string, certificateFile: string, keyFile: string): Promise<string> {
  const authority = await readFile(cluster.authority.certificateFile)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server: cluster.server, 'certificate-authority-data': authority.toString('base64') } }],
    users: [{ name: user, user: { 'client-certificate': certificateFile, 'client-key': keyFile } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user } }],
    'current-context': 'lab',
  }
  await writeFile(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
  return path
}
