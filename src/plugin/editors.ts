/**
 * Who may edit a ConfigMap: the API server is asked about each subject that a binding names, and
 * about groups that every cluster has. Reviews ask all authorizers, and no admission policy. Pure
 * but for the API.
 */
import { plainText } from '../cli/terminal.ts'
import { isObject } from '../values/is-object.ts'
import type { PluginContext } from './command.ts'
import type { ConfigName } from './config-index.ts'
import { describeRefused, Failure } from './failure.ts'
import { listPages } from './list-pages.ts'

export interface Editors {
  /** Such as `Group system:masters`. */
  readonly able: readonly string[]
  /** Those of them that stand for everybody, for every pod or for every node. */
  readonly wide: readonly string[]
  /** Why there may be more. */
  readonly gaps: readonly string[]
}

interface Subject {
  readonly title: string
  readonly user?: string
  readonly groups: readonly string[]
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const REVIEWS = 'localsubjectaccessreviews'
/** Any of these, with all of its verbs, is enough. */
const WAYS = [['update'], ['patch'], ['delete', 'create']] as const
/** Of subjects for one ConfigMap. */
const MOST_SUBJECTS = 500
const AT_ONCE = 8

const WIDE = ['system:unauthenticated', 'system:authenticated', 'system:serviceaccounts', 'system:nodes'] as const

export async function findEditors({ api }: Pick<PluginContext, 'api'>, config: ConfigName): Promise<Editors> {
  const { namespace } = config
  const wide = [...WIDE, `system:serviceaccounts:${namespace}`].map(groupOf)
  const subjects = new Map([...wide, groupOf('system:masters')].map((subject) => [subject.title, subject]))
  const gaps: string[] = []
  for (const resource of ['clusterrolebindings', 'rolebindings']) {
    const place = resource === 'rolebindings' ? { namespace } : undefined
    const path = `${RBAC}${place === undefined ? '' : `/namespaces/${namespace}`}/${resource}`
    try {
      const { items } = await listPages(api, { path, asked: { verb: 'list', resource, ...place } }, readSubjects)
      for (const subject of items.flat()) subjects.set(subject.title, subject)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      gaps.push(error.message)
    }
  }
  const asked = [...subjects.values()].slice(0, MOST_SUBJECTS)
  if (asked.length < subjects.size) gaps.push(`${subjects.size - asked.length} more subjects were not asked about`)
  const able: string[] = []
  for (let at = 0; at < asked.length; at += AT_ONCE) {
    const some = asked.slice(at, at + AT_ONCE)
    const answers = await Promise.all(some.map((subject) => mayEdit(api, subject, config)))
    const silent = answers.find((answer) => typeof answer === 'string')
    if (typeof silent === 'string') return { able, wide: [], gaps: [...gaps, silent] }
    able.push(...some.filter((_, index) => answers[index] === true).map(({ title }) => title))
  }
  return { able: able.sort(), wide: wide.map(({ title }) => title).filter((title) => able.includes(title)), gaps }
}

function groupOf(name: string): Subject {
  return { title: `Group ${name}`, groups: [name] }
}

function readSubjects(binding: unknown): readonly Subject[] {
  const subjects: readonly unknown[] = isObject(binding) && Array.isArray(binding.subjects) ? binding.subjects : []
  return subjects.flatMap((subject) => readSubject(subject) ?? [])
}

function readSubject(subject: unknown): Subject | undefined {
  if (!isObject(subject)) return undefined
  const { kind, name, namespace } = subject
  if (typeof name !== 'string') return undefined
  const shown = plainText(name)
  if (kind === 'Group') return { title: `Group ${shown}`, groups: [name] }
  if (kind === 'User') return { title: `User ${shown}`, user: name, groups: ['system:authenticated'] }
  if (kind !== 'ServiceAccount' || typeof namespace !== 'string') return undefined
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
  return { title: `ServiceAccount ${plainText(namespace)}/${shown}`, user: `system:serviceaccount:${namespace}:${name}`, groups }
}

/** A text: why the API server does not say. */
async function mayEdit(api: PluginContext['api'], subject: Subject, config: ConfigName): Promise<boolean | string> {
  for (const way of WAYS) {
    let all: boolean | string = true
    for (const verb of way) if (all === true) all = await mayDo(api, subject, verb, config)
    if (all !== false) return all
  }
  return false
}

async function mayDo(
  api: PluginContext['api'],
  { title, ...who }: Subject,
  verb: string,
  { namespace, name }: ConfigName,
): Promise<boolean | string> {
  // No right to create is about one name.
  const resourceAttributes = { namespace, verb, version: 'v1', resource: 'configmaps', ...(verb !== 'create' && { name }) }
  const answer = await api.request({
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/namespaces/${namespace}/${REVIEWS}`,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'LocalSubjectAccessReview',
      metadata: { namespace },
      spec: { ...who, resourceAttributes },
    },
    contentType: 'application/json',
  })
  if (answer.kind !== 'ok') return describeRefused({ verb: 'create', resource: REVIEWS, namespace }, answer)
  const status = isObject(answer.object) ? answer.object.status : undefined
  if (!isObject(status) || typeof status.allowed !== 'boolean') return 'the answer of the API server is no review'
  const isUnsure = !status.allowed && typeof status.evaluationError === 'string' && status.evaluationError !== ''
  return isUnsure ? `the API server cannot tell of ${title}: ${plainText(String(status.evaluationError))}` : status.allowed
}
