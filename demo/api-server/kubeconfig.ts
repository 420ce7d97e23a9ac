// SPDX-License-Identifier: Apache-2.0
/** Kubeconfig files like those of kubeadm: with embedded certificates and one context. Pure. */
import type { KeyPair } from './x509.ts'

export function kubeconfigText(url: string, caPem: string, { certificate, key }: KeyPair): string {
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
  return kubeconfigWith(url, caPem, [`client-certificate-data: ${base64(certificate)}`, `client-key-data: ${base64(key)}`])
}

/** @param user the lines of the user's section */
export function kubeconfigWith(url: string, caPem: string, user: readonly string[]): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster:
    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}
    server: ${url}
contexts:
- name: default
  context:
    cluster: kubernetes
    user: default
current-context: default
users:
- name: default
  user:
${user.map((line) => `    ${line}\n`).join('')}`
}
