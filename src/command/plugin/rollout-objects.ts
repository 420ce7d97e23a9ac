// SPDX-License-Identifier: Apache-2.0
/**
 * The objects that a rollout needs beside the config, as `deploy/rbac/rollout.yaml` and
 * `deploy/admission/rollout.yaml` have them, with the names of one config. Pure.
 */
import { parseRecord, type RolloutRecord } from '../../rollout/record.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { ROLLOUT_POLICY } from './generated/rollout-policy.ts'
import { KEY } from './merged-text.ts'

interface RolloutNames {
  readonly namespace: string
  readonly config: string
  readonly record: string
  readonly agents: 'nodes' | 'serviceaccount'
}

export interface RolloutObject {
  /** The collection that it is created in. */
  readonly path: string
  readonly resource: string
  /** undefined: it has none. */
  readonly namespace: string | undefined
  readonly body: JsonObject & { readonly kind: string; readonly metadata: { readonly name: string; readonly namespace?: string } }
}

const RBAC = 'rbac.authorization.k8s.io'
const ADMISSION = '/apis/admissionregistration.k8s.io/v1'

/** In the order in which they are to be created: the config is there already. */
export function listRolloutObjects({ namespace, config, record, agents }: RolloutNames): readonly RolloutObject[] {
  const role = `kubelet-cfg-agent:rollout:${config}`
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [record], verbs: ['get', 'watch', 'patch'] }]
  const subject =
    agents === 'nodes'
      ? { apiGroup: RBAC, kind: 'Group', name: 'system:nodes' }
      : { kind: 'ServiceAccount', name: 'kubelet-cfg-agent', namespace: 'kube-system' }
  const inNamespace = (group: string, resource: string) => ({ path: `${group}/namespaces/${namespace}/${resource}`, resource, namespace })
  const inCluster = (resource: string) => ({ path: `${ADMISSION}/${resource}`, resource, namespace: undefined })
  const metadata = { name: role, namespace }
  return [
    { ...inNamespace('/api/v1', 'configmaps'), body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: record, namespace } } },
    { ...inNamespace(`/apis/${RBAC}/v1`, 'roles'), body: { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules } },
    {
      ...inNamespace(`/apis/${RBAC}/v1`, 'rolebindings'),
      body: {
        apiVersion: `${RBAC}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: RBAC, kind: 'Role', name: role },
        subjects: [subject],
      },
    },
    { ...inCluster('validatingadmissionpolicies'), body: policy() },
    { ...inCluster('validatingadmissionpolicybindings'), body: bindingOf(namespace, config, record) },
  ]
}

function policy(): RolloutObject['body'] {
  const { apiVersion, kind, metadata, spec } = JSON.parse(ROLLOUT_POLICY)
  return { apiVersion, kind, metadata, spec }
}

function bindingOf(namespace: string, config: string, record: string): RolloutObject['body'] {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: `kubelet-cfg-agent-rollout-${placeOf(namespace, config)}` },
    spec: {
      policyName: 'kubelet-cfg-agent-rollout',
      validationActions: ['Deny'],
      paramRef: { name: config, namespace, parameterNotFoundAction: 'Deny' },
      matchResources: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        resourceRules: [{ ...rule, resourceNames: [record] }],
      },
    },
  }
}

/**
 * The name of a namespace has no dot, so the first dot ends it. A config of kube-system goes
 * without its namespace where its own name has no dot either.
 */
function placeOf(namespace: string, config: string): string {
  return namespace === 'kube-system' && !config.includes('.') ? config : `${namespace}.${config}`
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Role: ['rules'],
  RoleBinding: ['roleRef', 'subjects'],
  ValidatingAdmissionPolicy: ['spec'],
  ValidatingAdmissionPolicyBinding: ['spec'],
}
const LONGEST_VALUE = 200

/**
 * @param newcomer the UID of the config that does not name the record yet. undefined: it does
 * @returns what differs, each as a sentence without its subject; empty: it serves as it is
 */
export function findDifferences(wanted: RolloutObject['body'], found: unknown, newcomer: string | undefined): readonly string[] {
  if (!isObject(found)) return ['it is not an object']
  if (wanted.kind === 'ConfigMap') return findRecordProblems(found, newcomer)
  return (FIELDS[wanted.kind] ?? []).flatMap((field) => compare(field, wanted[field], found[field]))
}

/** Nodes may write into it, so it must not be a config. */
function findRecordProblems({ data, immutable }: JsonObject, newcomer: string | undefined): readonly string[] {
  if (isObject(data) && Object.hasOwn(data, KEY)) return ['it holds a config, and a record is a ConfigMap of its own']
  const parsed = parseRecord(data)
  return [
    ...(immutable === true ? ['immutable must not be set, and is true'] : []),
    ...(parsed.ok ? findOtherConfig(parsed.record, newcomer) : [parsed.problem]),
  ]
}

/** Two configs with one record would end each other's rollouts. */
function findOtherConfig({ state }: RolloutRecord, newcomer: string | undefined): readonly string[] {
  if (state === undefined || newcomer === undefined || state.configUid === newcomer) return []
  return ['it is about another config, or about one of this name that was deleted: give --record another name, or empty it']
}

function compare(path: string, wanted: unknown, found: unknown): readonly string[] {
  if (Array.isArray(wanted) && Array.isArray(found)) return compareLists(path, wanted, found)
  if (isObject(wanted) && isObject(found)) return compareObjects(path, wanted, found)
  return wanted === found ? [] : [`${path} must be ${show(wanted)}, and is ${show(found)}`]
}

function compareLists(path: string, wanted: readonly unknown[], found: readonly unknown[]): readonly string[] {
  if (found.includes('*')) return []
  const missing = wanted.filter((one) => !found.some((other) => compare(path, one, other).length === 0))
  if (missing.length === 0) return []
  const [one, other] = [wanted[0], found[0]]
  const isPair = wanted.length === 1 && found.length === 1 && isObject(one)
  return isPair ? compare(`${path}[0]`, one, other) : [`${path} must include ${missing.map(show).join(', ')}, and is ${show(found)}`]
}

/** A field beside the wanted ones may narrow what the object applies to. */
function compareObjects(path: string, wanted: JsonObject, found: JsonObject): readonly string[] {
  const more = Object.keys(found).filter((key) => !Object.hasOwn(wanted, key) && !isDefault(key, found[key]))
  return [
    ...Object.keys(wanted).flatMap((key) => compare(`${path}.${key}`, wanted[key], found[key])),
    ...more.map((key) => `${path}.${key} must not be set, and is ${show(found[key])}`),
  ]
}

/** Whether the API server adds this value, or takes it for not set. */
function isDefault(key: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (key === 'matchPolicy') return value === 'Equivalent'
  if (key === 'scope') return value === '*'
  return typeof value === 'object' && Object.keys(value).length === 0
}

function show(value: unknown): string {
  if (value === undefined || value === null) return 'not set'
  const text = JSON.stringify(value)
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`
}
