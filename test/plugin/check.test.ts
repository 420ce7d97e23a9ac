import t from 'tap'
import { BASE_ANNOTATION } from '../../src/decision/channels.ts'
import type { KubeAnswer } from '../../src/ports/kube-api.ts'
import { NAMESPACE, nodeObject, type PluginWorld, putConfigMap, startPluginWorld } from './world.ts'

interface Grant {
  readonly subject: string
  readonly verbs: readonly string[]
  readonly name?: string
}

interface Review {
  readonly user?: string
  readonly groups: readonly string[]
  readonly resourceAttributes: { readonly verb: string; readonly name?: string; readonly namespace: string }
}

const forbidden: KubeAnswer = { kind: 'refused', status: 403, reason: 'Forbidden', detail: 'no', retryAfterMs: undefined }

/** The API with RBAC: what bindings name, and what they allow. */
function withRbac(world: PluginWorld, subjects: readonly object[], grants: readonly Grant[], denied: readonly string[] = []) {
  const { api } = world.context
  const reviews: Review[] = []
  world.context.api = {
    watch: (request) => api.watch(request),
    request: async (request): Promise<KubeAnswer> => {
      const { path } = request
      if (denied.some((part) => path.endsWith(part))) return forbidden
      if (path.endsWith('/clusterrolebindings')) return { kind: 'ok', object: { items: [{ subjects }] } }
      if (path.endsWith('/rolebindings')) return { kind: 'ok', object: { items: [{}, { subjects: [{ kind: 'User' }, 7] }] } }
      if (!path.endsWith(`/namespaces/${NAMESPACE}/localsubjectaccessreviews`)) return api.request(request)
      const { spec } = request.body as unknown as { readonly spec: Review }
      reviews.push(spec)
      const { verb, name } = spec.resourceAttributes
      const allowed = grants.some(
        (grant) =>
          [spec.user, ...spec.groups].includes(grant.subject) &&
          grant.verbs.includes(verb) &&
          (grant.name === undefined || grant.name === name),
      )
      return { kind: 'ok', object: { status: { allowed } } }
    },
  }
  return reviews
}

async function startWorld(t: Parameters<typeof startPluginWorld>[0]): Promise<PluginWorld> {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'under', 'maxPods: 50\n')
  putConfigMap(world, 'assigned', 'podsPerCore: 10\n', { [BASE_ANNOTATION]: `${NAMESPACE}/under` })
  putConfigMap(world, 'unused', 'podsPerCore: 10\n')
  world.server.objects.put(nodeObject('n1', { config: 'assigned' }))
  return world
}

const SUBJECTS = [
  { kind: 'User', name: 'alice' },
  { kind: 'User', name: 'replacer' },
  { kind: 'User', name: 'reader' },
  { kind: 'Group', name: 'ops\u001b[2J' },
  { kind: 'ServiceAccount', namespace: 'ci', name: 'deployer' },
]

t.test('who may edit what is assigned and what is under it, and what cannot be known', async (t) => {
  const world = await startWorld(t)
  const reviews = withRbac(world, SUBJECTS, [
    { subject: 'alice', verbs: ['patch'], name: 'assigned' },
    { subject: 'replacer', verbs: ['create', 'delete'] },
    { subject: 'reader', verbs: ['get', 'create'] },
    { subject: 'ops\u001b[2J', verbs: ['update'], name: 'under' },
    { subject: 'system:serviceaccounts:ci', verbs: ['update'], name: 'under' },
    { subject: 'system:masters', verbs: ['update'] },
  ])
  const { code, out, err } = await world.run('check')
  t.equal(code, 0, err)
  t.equal(
    out,
    [
      'kube-system/assigned may be edited by',
      '  Group system:masters',
      '  User alice',
      '  User replacer',
      'kube-system/under may be edited by',
      '  Group ops?[2J',
      '  Group system:masters',
      '  ServiceAccount ci/deployer',
      '  User replacer',
      'Not known here: who is in a group, subjects that no binding names, and who may impersonate these or change RBAC. Admission policies may refuse more.',
      '',
    ].join('\n'),
  )
  t.ok(reviews.every(({ resourceAttributes }) => resourceAttributes.namespace === NAMESPACE))
  t.match(
    (await world.run('check', 'unused')).out,
    /^kube-system\/unused may be edited by\n {2}Group system:masters\n {2}User replacer\nNot/,
  )
})

t.test('a group that stands for everybody is named, and counts', async (t) => {
  const world = await startWorld(t)
  withRbac(world, [], [{ subject: 'system:authenticated', verbs: ['patch'] }])
  const { code, out } = await world.run('check')
  t.equal(code, 1)
  t.match(out, /^This is far too many: Group system:authenticated\. Take that right away\.$/m)
})

t.test('what may not be asked is not known, and is no error', async (t) => {
  const world = await startWorld(t)
  withRbac(world, SUBJECTS, [{ subject: 'system:masters', verbs: ['update'] }], ['/clusterrolebindings'])
  const some = await world.run('check', 'assigned')
  t.equal(some.code, 0)
  t.match(
    some.out,
    /edited by\n {2}Group system:masters\nIt is not known who else: the right to list clusterrolebindings at the cluster scope is missing/,
  )
  const other = await startWorld(t)
  withRbac(other, SUBJECTS, [], ['localsubjectaccessreviews'])
  const none = await other.run('check', 'assigned')
  t.equal(none.code, 0)
  t.match(
    none.out,
    /edited by\n {2}not known\nIt is not known who else: the right to create localsubjectaccessreviews in the namespace kube-system/,
  )
})

t.test('a namespace that a node makes up becomes no path', async (t) => {
  const world = await startPluginWorld(t)
  const made = { configMap: { namespace: 'x/secrets/y', name: 'a', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '1' } }
  world.server.objects.put(nodeObject('n1', { said: { assigned: made } }))
  t.match(await world.run('check'), { code: 0, out: 'No ConfigMap is assigned to a node.\n' })
})

t.test('nothing is assigned', async (t) => {
  const world = await startPluginWorld(t)
  t.match(await world.run('check'), { code: 0, out: 'No ConfigMap is assigned to a node.\n' })
})
