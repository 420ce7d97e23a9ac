// SPDX-License-Identifier: Apache-2.0
/** The shapes of objects, and the resources that the test API server has. Pure. */

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp: string
  readonly [field: string]: unknown
}

export interface Resource {
  /** Empty for the core group. */
  readonly group: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly shortNames: readonly string[]
  readonly namespaced: boolean
  readonly hasStatus: boolean
}

export const RESOURCES: readonly Resource[] = [
  { group: '', plural: 'nodes', singular: 'node', kind: 'Node', shortNames: ['no'], namespaced: false, hasStatus: true },
  { group: '', plural: 'configmaps', singular: 'configmap', kind: 'ConfigMap', shortNames: ['cm'], namespaced: true, hasStatus: false },
  { group: '', plural: 'events', singular: 'event', kind: 'Event', shortNames: ['ev'], namespaced: true, hasStatus: false },
  {
    group: 'coordination.k8s.io',
    plural: 'leases',
    singular: 'lease',
    kind: 'Lease',
    shortNames: [],
    namespaced: true,
    hasStatus: false,
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'roles',
    singular: 'role',
    kind: 'Role',
    shortNames: [],
    namespaced: true,
    hasStatus: false,
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'rolebindings',
    singular: 'rolebinding',
    kind: 'RoleBinding',
    shortNames: [],
    namespaced: true,
    hasStatus: false,
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'validatingadmissionpolicies',
    singular: 'validatingadmissionpolicy',
    kind: 'ValidatingAdmissionPolicy',
    shortNames: [],
    namespaced: false,
    hasStatus: false,
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'validatingadmissionpolicybindings',
    singular: 'validatingadmissionpolicybinding',
    kind: 'ValidatingAdmissionPolicyBinding',
    shortNames: [],
    namespaced: false,
    hasStatus: false,
  },
]

export function findResource(plural: string): Resource | undefined {
  return RESOURCES.find((resource) => resource.plural === plural)
}

export function apiVersionOf({ group }: Resource): string {
  return group === '' ? 'v1' : `${group}/v1`
}

/** An error of the API server: `metav1.Status`. */
export class ApiError extends Error {
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

export function statusObject(status: number, reason: string, message: string): Record<string, unknown> {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code: status }
}

export type Json = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function section(object: Json, field: string): Json {
  const value = object[field]
  return isJsonObject(value) ? value : {}
}
