// SPDX-License-Identifier: Apache-2.0
/**
 * An identity that is no node's: a user whom RBAC lets follow Nodes and write their status and
 * events, and nothing else until it is granted. What the Node authorizer would open by itself with
 * an assignment stays closed to it.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueCertificate } from './lab/certificates.ts'
import type { ControlPlane } from './lab/control-plane.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

/** Returns the path of its kubeconfig. */
export async function createPlainUser(plane: ControlPlane, user: string): Promise<string> {
  await grant(plane, user, { kind: 'ClusterRole', name: `${user}-follows-nodes` }, [
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create'] },
  ])
  const authority = { certificateFile: plane.caFile, keyFile: join(plane.directory, 'ca.key') }
  const leaf = await issueCertificate(authority, join(plane.directory, 'users', user), { subject: `/CN=${user}`, usage: 'clientAuth' })
  const config = JSON.parse(await readFile(plane.adminKubeconfig, 'utf8'))
  config.users[0].user = { 'client-certificate': leaf.certificateFile, 'client-key': leaf.keyFile }
  const path = join(plane.directory, 'users', `${user}.conf`)
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

/** `verbs` on one ConfigMap of kube-system. */
export async function grantConfigMap(plane: ControlPlane, user: string, name: string, verbs: readonly string[]): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs }]
  await grant(plane, user, { kind: 'Role', name: `${user}-reads-${name}`, namespace: 'kube-system' }, rules)
}

async function grant(
  plane: ControlPlane,
  user: string,
  { kind, ...metadata }: { readonly kind: 'ClusterRole' | 'Role'; readonly name: string; readonly namespace?: string },
  rules: readonly object[],
): Promise<void> {
  const subjects = [{ apiGroup, kind: 'User', name: user }]
  const role = { apiVersion, kind, metadata, rules }
  const binding = { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { apiGroup, kind, name: metadata.name }, subjects }
  for (const object of [role, binding]) await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(object) })
}
