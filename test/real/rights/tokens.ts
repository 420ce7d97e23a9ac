// SPDX-License-Identifier: Apache-2.0
/**
 * ServiceAccounts whose agents have a token in a file: the kubeconfig of deploy/serviceaccount, and
 * tokens by TokenRequest, which `kubectl create token` sends.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { ControlPlane } from '../lab/control-plane.ts'
import { DEPLOY, type Subject } from './manifests.ts'

export const NAMESPACE = 'kube-system'

export interface TokenBinding {
  readonly kind: 'Secret' | 'Node' | 'Pod'
  readonly name: string
  readonly uid: string
}

interface Account {
  readonly subject: Subject
  readonly kubeconfig: string
  readonly tokenFile: string
  /** Puts a token where the kubeconfig names one, by a rename. */
  renew(boundTo?: TokenBinding): Promise<void>
}

/**
 * The account's kubeconfig, with a first token.
 * @param holder whose file it is: several nodes have one account
 */
export async function useAccount(plane: ControlPlane, name: string, holder = name, boundTo?: TokenBinding): Promise<Account> {
  const directory = join(plane.directory, 'accounts', holder)
  await mkdir(directory, { recursive: true })
  const [kubeconfig, tokenFile] = [join(directory, 'kubeconfig'), join(directory, 'token')]
  const config = parse(await readFile(join(DEPLOY, 'serviceaccount/kubeconfig.yaml'), 'utf8'))
  Object.assign(config.clusters[0].cluster, { server: plane.server, 'certificate-authority': plane.caFile })
  config.users[0].user.tokenFile = tokenFile
  await writeFile(kubeconfig, JSON.stringify(config))
  const renew: Account['renew'] = async (boundObjectRef) => {
    const token = await requestToken(plane, name, boundObjectRef)
    await writeFile(`${tokenFile}.new`, `${token}\n`, { mode: 0o600 })
    await rename(`${tokenFile}.new`, tokenFile)
  }
  await renew(boundTo)
  return { subject: { kind: 'ServiceAccount', name, namespace: NAMESPACE }, kubeconfig, tokenFile, renew }
}

export async function createAccount(plane: ControlPlane, name: string): Promise<void> {
  await plane.kubectl(['-n', NAMESPACE, 'create', 'serviceaccount', name])
}

/** @param kubeconfig who asks for it. Default: the administrator */
export async function requestToken(plane: ControlPlane, name: string, boundTo?: TokenBinding, kubeconfig?: string): Promise<string> {
  const boundObjectRef = boundTo && { apiVersion: 'v1', ...boundTo }
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600, boundObjectRef } }
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${name}/token`
  const answer = await plane.kubectl(['create', '--raw', path, '-f', '-'], {
    input: JSON.stringify(request),
    ...(kubeconfig && { kubeconfig }),
  })
  const { status } = JSON.parse(answer)
  return status.token
}
