// SPDX-License-Identifier: Apache-2.0
/**
 * One request of the table, by whom, and which policy of deploy/admission refuses it. None is
 * carried out: all are dry runs.
 */
import type { Asked, Who } from '../ask.ts'

export const [CHANNELS, CONFIGS, ACCOUNT] = ['kubelet-cfg-agent-channels', 'kubelet-cfg-agent-configs', 'kubelet-cfg-agent-serviceaccount']

export interface Case {
  readonly what: string
  readonly who: Who
  readonly asks: Asked
  /** undefined: nobody does. */
  readonly refusedBy: string | undefined
}

/**
 * Readable and writable by whoever has the rights of an operator, and those of an editor besides.
 */
export const carrier: Who = { kind: 'user', name: 'carrier', groups: ['carriers', 'system:authenticated'] }
export const editor: Who = { kind: 'user', name: 'editor', groups: ['carriers', 'editors', 'system:authenticated'] }
export const janitor: Who = {
  kind: 'user',
  name: 'system:serviceaccount:kube-system:namespace-controller',
  groups: ['system:authenticated'],
}
export const nodeItself = (name: string): Who => ({
  kind: 'user',
  name: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
})

export const refused = (refusedBy: string | undefined, what: string, who: Who, asks: Asked): Case => ({ what, who, asks, refusedBy })
export const fine = (what: string, who: Who, asks: Asked): Case => ({ what, who, asks, refusedBy: undefined })

export const patchNode = (
  name: string,
  body: object,
  options: Pick<Asked, 'patch'> & { readonly subresource?: '/status' } = {},
): Asked => ({
  method: 'PATCH',
  path: `/api/v1/nodes/${name}${options.subresource ?? ''}`,
  body,
  ...(options.patch && { patch: options.patch }),
})
export const applyNode = (name: string, { metadata, spec }: { readonly metadata?: object; readonly spec?: object }): Asked =>
  patchNode(name, { apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, spec }, { patch: 'apply' })
export const annotate = (name: string, annotations: object, subresource?: '/status'): Asked =>
  patchNode(name, { metadata: { annotations } }, subresource && { subresource })
export const label = (name: string, labels: object, subresource?: '/status'): Asked =>
  patchNode(name, { metadata: { labels } }, subresource && { subresource })
export const owner = { apiVersion: 'v1', kind: 'Node', name: 'gone', uid: '00000000-0000-4000-8000-000000000000' }

export const configMapPath = (namespace: string, name = ''): string => `/api/v1/namespaces/${namespace}/configmaps${name && `/${name}`}`
export const edit = (namespace: string, name: string): Asked => ({
  method: 'PATCH',
  path: configMapPath(namespace, name),
  body: { data: { a: 'c' } },
})
