// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { BASE_ANNOTATION } from '../../../../src/decision/channels.ts'
import type { KubeAnswer } from '../../../../src/ports/kube-api.ts'
import { NAMESPACE, nodeObject, type PluginWorld, putConfigMap, sourceOf, startPluginWorld } from '../world.ts'

interface Grant {
  readonly subject: string
  readonly verbs: readonly string[]
  readonly name?: string
  /** The answer is that it cannot be told. */
  readonly error?: string
}

interface Review {
  readonly user?: string
  readonly groups: readonly string[]
  readonly resourceAttributes: { readonly verb: string; readonly name?: string; readonly namespace: string }
}

const forbidden: KubeAnswer = { kind: 'refused', status: 403, reason: 'Forbidden', detail: 'no', retryAfterMs: undefined }

/** The API with RBAC: what bindings name, and what they allow. */
function withRbac(
  world: PluginWorld,
  subjects: readonly object[],
  grants: readonly Grant[],
  denied: readonly string[] = [],
  here: readonly unknown[] = [{ kind: 'User' }, 7],
) {
  const { api } = world.context
  const reviews: Review[] = []
  world.context.api = {
    watch: (request) => api.watch(request),
    request: async (request): Promise<KubeAnswer> => {
      const { path } = request
      if (denied.some((part) => path.endsWith(part))) return forbidden
      if (path.endsWith('/clusterrolebindings')) return { kind: 'ok', object: { items: [{ subjects }] } }
      if (path.endsWith('/rolebindings')) return { kind: 'ok', object: { items: [{}, { subjects: here }] } }
      if (!path.endsWith(`/namespaces/${NAMESPACE}/localsubjectaccessreviews`)) return api.request(request)
      const { spec } = request.body as unknown as { readonly spec: Review }
      reviews.push(spec)
      const { verb, name } = spec.resourceAttributes
      const found = grants.find(
        (grant) =>
          [spec.user, ...spec.groups].includes(grant.subject) &&
          grant.verbs.includes(verb) &&
          (grant.name === undefined || grant.name === name),
      )
      const evaluationError = found?.error
      const allowed = found !== undefined && evaluationError === undefined
      return { kind: 'ok', object: { status: { allowed, ...(evaluationError && { evaluationError }) } } }
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

t.test('bindings that may not be listed are a gap, and the groups were answered', async (t) => {
  const world = await startWorld(t)
  withRbac(world, SUBJECTS, [{ subject: 'system:masters', verbs: ['update'] }], ['/clusterrolebindings'])
  const some = await world.run('check', 'assigned')
  t.equal(some.code, 0)
  t.match(
    some.out,
    /edited by\n {2}Group system:masters\nIt is not known who else: the right to list clusterrolebindings at the cluster scope is missing/,
  )
})

t.test('where reviews may not be asked, it is not known whether everybody may edit it', async (t) => {
  const world = await startWorld(t)
  withRbac(world, SUBJECTS, [], ['localsubjectaccessreviews'])
  const none = await world.run('check', 'assigned')
  t.equal(none.code, 2)
  t.match(none.out, /edited by\n {2}not known\nNot answered: whether these may: Group system:unauthenticated, Group system:authenticated, /)
  t.match(none.out, /^It is not known who else: the right to create localsubjectaccessreviews in the namespace kube-system/m)
})

t.test('an answer that cannot be told takes none of the others away', async (t) => {
  const world = await startWorld(t)
  const unsure = { verbs: ['update', 'patch', 'delete'], error: 'webhook\u001b down' }
  withRbac(world, SUBJECTS, [
    { subject: 'alice', verbs: ['patch'] },
    { subject: 'system:nodes', ...unsure },
    { subject: 'system:serviceaccounts:ci', ...unsure },
  ])
  const some = await world.run('check', 'assigned')
  t.equal(some.code, 2)
  t.match(
    some.out,
    [
      'may be edited by',
      '  User alice',
      'Not answered: whether these may: Group system:nodes.',
      'It is not known who else: the API server cannot tell of Group system:nodes, ServiceAccount ci/deployer: webhook? down',
    ].join('\n'),
  )
  const wide = await startWorld(t)
  withRbac(wide, SUBJECTS, [
    { subject: 'system:unauthenticated', ...unsure },
    { subject: 'system:authenticated', verbs: ['update'], error: 'webhook down' },
    { subject: 'system:authenticated', verbs: ['patch'] },
  ])
  const all = await wide.run('check', 'assigned')
  t.equal(all.code, 1, 'what is known is worse')
  t.match(all.out, /^This is far too many: Group system:authenticated\./m)
  t.match(all.out, /^Not answered: whether these may: Group system:unauthenticated\.$/m)
})

t.test('a refused request ends the asking, and what was answered counts', async (t) => {
  const world = await startWorld(t)
  const many = Array.from({ length: 30 }, (_, index) => ({ kind: 'User', name: `u${index}` }))
  const reviews = withRbac(world, many, [{ subject: 'system:authenticated', verbs: ['update'] }])
  const { api } = world.context
  world.context.api = {
    watch: (request) => api.watch(request),
    request: async (request) => (JSON.stringify(request.body)?.includes('system:masters') ? forbidden : api.request(request)),
  }
  const { code, out } = await world.run('check', 'assigned')
  t.equal(code, 1)
  t.match(out, /far too many: Group system:authenticated\./)
  t.match(out, /It is not known who else: the right to create localsubjectaccessreviews/)
  t.ok(reviews.length < 30)
})

t.test('where nodes use the selector channel, who may create a ConfigMap decides what they run', async (t) => {
  const world = await startWorld(t)
  const grants = [
    { subject: 'alice', verbs: ['create'] },
    { subject: 'replacer', verbs: ['deletecollection', 'create'] },
    { subject: 'reader', verbs: ['deletecollection', 'delete'] },
  ]
  withRbac(world, SUBJECTS, grants)
  t.match((await world.run('check', 'assigned')).out, /edited by\n {2}User replacer\nNot known here/)
  world.server.objects.put(nodeObject('n2', { said: { assigned: sourceOf('assigned'), channel: 'selector' } }))
  for (const args of [['check'], ['check', 'assigned']])
    t.match(
      (await world.run(...args)).out,
      /^kube-system\/assigned may be edited, or outranked by a new one, by\n {2}User alice\n {2}User replacer\n/,
      args.join(' '),
    )
})

t.test('two names that look alike are two subjects', async (t) => {
  const world = await startWorld(t)
  const subjects = ['ops\u200b', 'ops\u200c', 'ops\u200d'].map((name) => ({ kind: 'Group', name }))
  withRbac(world, [...subjects, { kind: 'Group', name: 'system:authenticated\u200b' }], [{ subject: 'ops\u200c', verbs: ['update'] }])
  t.match(await world.run('check', 'assigned'), { code: 0, out: /edited by\n {2}Group ops\?\nNot known here/ })
})

t.test('the subjects of the namespace are asked about before those of the cluster', async (t) => {
  const world = await startWorld(t)
  const many = Array.from({ length: 600 }, (_, index) => ({ kind: 'User', name: `u${index}` }))
  withRbac(world, many, [{ subject: 'local', verbs: ['update'] }], [], [{ kind: 'User', name: 'local' }])
  t.match((await world.run('check', 'assigned')).out, /edited by\n {2}User local\nIt is not known who else: 107 more subjects were not/)
})

t.test('where it is not known which ConfigMaps are in use, the answer is not known', async (t) => {
  const world = await startWorld(t)
  withRbac(world, SUBJECTS, [], ['/configmaps'])
  t.match(await world.run('check'), { code: 2, out: /^It is not known whether there are more ConfigMaps in use: /m })
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
