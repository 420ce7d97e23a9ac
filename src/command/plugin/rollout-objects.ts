/**
 * The objects that a rollout needs beside the config, as `deploy/rbac/rollout.yaml` and
 * `deploy/admission/rollout.yaml` have them, with the names of one config. Pure.
 */
import type { JsonObject } from '../../values/is-object.ts'
import { ROLLOUT_POLICY } from './generated/rollout-policy.ts'

export interface RolloutNames {
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
