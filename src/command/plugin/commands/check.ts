// SPDX-License-Identifier: Apache-2.0
/** `check`: who may edit the ConfigMaps that decide what nodes run. */

import { isObject } from '../../../values/is-object.ts'
import { type CommandLine, EXIT, type ExitCode, orElse } from '../../command.ts'
import { describeRefused } from '../../failure.ts'
import { listPages } from '../../list-pages.ts'
import { plainText } from '../../terminal.ts'
import type { PluginCommand, PluginContext } from '../command.ts'
import { checkConfigName } from '../config-maps.ts'
import { nameSome } from '../reach.ts'
import { type ConfigInUse, listInUse } from '../users.ts'

const UNKNOWABLE =
  'Not known here: who is in a group, subjects that no binding names, and who may impersonate these or change RBAC. Admission ' +
  'policies may refuse more.'

export const checkAccessCommand: PluginCommand = {
  name: 'check',
  group: 'Look',
  summary: 'say who may edit the configs that nodes run',
  description:
    'Asks the API server, by access reviews, who may edit each ConfigMap that is assigned to a node, and its bases and layers. ' +
    'It asks about the subjects that a binding names, and about the groups that every cluster has. If nodes choose by selector, ' +
    'anyone who may create a ConfigMap decides as well. With the default --change-policy of the agents, open, all these can ' +
    'become root on the nodes.',
  arguments: [{ placeholder: 'NAME', required: false, completes: 'config' }],
  options: [],
  exits: {
    [EXIT.fine]: 'no group that stands for everybody, every pod or every node may edit one',
    [EXIT.failed]: 'everybody, every pod or every node may edit one',
    [EXIT.usage]: 'cannot tell, or invalid command line',
  },
  examples: [['check', 'find out who decides what the kubelets of the cluster run with']],
  execute: check,
}

async function check(context: PluginContext, { args: [name] }: CommandLine): Promise<ExitCode> {
  const { terminal } = context
  if (name !== undefined) checkConfigName(name)
  const { configs, gap } = await listInUse(context, name)
  let isWide = false
  let isUntold = gap !== undefined
  for (const config of configs) {
    const editors = await findEditors(context, config)
    terminal.out(`${describe(config, editors).join('\n')}\n`)
    isWide ||= editors.wide.length > 0
    isUntold ||= editors.untold.length > 0
  }
  if (configs.length === 0) terminal.out('No ConfigMap is assigned to a node.\n')
  if (gap !== undefined) terminal.out(`It is not known whether there are more ConfigMaps in use: ${gap}\n`)
  if (configs.length > 0) terminal.out(`${UNKNOWABLE}\n`)
  if (isWide) return EXIT.failed
  return isUntold ? EXIT.usage : EXIT.fine
}

function describe({ namespace, name, isSelected }: ConfigInUse, { able, wide, untold, gaps }: Editors): readonly string[] {
  const who = able.length > 0 ? able.map((title) => `  ${title}`) : [gaps.length > 0 ? '  not known' : '  nobody who was asked about']
  return [
    `${plainText(`${namespace}/${name}`)} may be edited${isSelected ? ', or outranked by a new one,' : ''} by`,
    ...who,
    ...(wide.length === 0 ? [] : [`This is far too many: ${wide.join(', ')}. Take that right away.`]),
    ...(untold.length === 0 ? [] : [`Not answered: whether these may: ${untold.join(', ')}.`]),
    ...gaps.map((gap) => `It is not known who else: ${gap}`),
  ]
}

interface Editors {
  /** Subjects that have the right, such as `Group system:masters`. */
  readonly able: readonly string[]
  /** Subjects among these that stand for everybody, for every pod or for every node. */
  readonly wide: readonly string[]
  /** Others of these, of which the API server did not tell. */
  readonly untold: readonly string[]
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
type Way = readonly string[]
/** Any of these, with all of its verbs, is enough. */
const EDITS: readonly Way[] = [['update'], ['patch']]
const REPLACES: readonly Way[] = [
  ['delete', 'create'],
  ['deletecollection', 'create'],
]
/** Of a ConfigMap with a selector: the highest priority decides, or it is laid over the others. */
const CREATES: readonly Way[] = [['create']]
/** No right to these is about one name. */
const UNNAMED = ['create', 'deletecollection']
/** Of subjects for one ConfigMap. */
const MOST_SUBJECTS = 500
const AT_ONCE = 8
const MOST_SHOWN = 8

const WIDE = ['system:unauthenticated', 'system:authenticated', 'system:serviceaccounts', 'system:nodes'] as const

async function findEditors({ api }: Pick<PluginContext, 'api'>, config: ConfigInUse): Promise<Editors> {
  const { namespace } = config
  const wide = [...WIDE, `system:serviceaccounts:${namespace}`].map(groupOf)
  const subjects = new Map([...wide, groupOf('system:masters')].map((subject) => [keyOf(subject), subject]))
  const gaps: string[] = []
  // Bindings of the namespace first: the limit of subjects cuts the last.
  for (const resource of ['rolebindings', 'clusterrolebindings']) {
    const place = resource === 'rolebindings' ? { namespace } : undefined
    const path = `${RBAC}${place === undefined ? '' : `/namespaces/${namespace}`}/${resource}`
    const listing = { path, asked: { verb: 'list', resource, ...place } }
    const listed = await orElse(listPages(api, listing, readSubjects), ({ message }) => message)
    if (typeof listed === 'string') gaps.push(listed)
    else for (const subject of listed.items.flat()) subjects.set(keyOf(subject), subject)
  }
  const asked = [...subjects.values()].slice(0, MOST_SUBJECTS)
  if (asked.length < subjects.size) gaps.push(`${subjects.size - asked.length} more subjects were not asked about`)
  const { told, unsure, refusal } = await askAll(api, asked, config)
  const [first] = unsure
  if (first !== undefined)
    gaps.push(
      `the API server cannot tell of ${nameSome(
        unsure.map(({ title }) => title),
        MOST_SHOWN,
      )}: ${plainText(first.error)}`,
    )
  if (refusal !== undefined) gaps.push(refusal)
  const titles = (of: readonly Subject[], answer: boolean | undefined) =>
    of.filter((subject) => told.get(keyOf(subject)) === answer).map(({ title }) => title)
  return { able: titles(asked, true).sort(), wide: titles(wide, true), untold: titles(wide, undefined), gaps }
}

interface Answers {
  /** By the key of a subject. */
  readonly told: ReadonlyMap<string, boolean>
  readonly unsure: readonly { readonly title: string; readonly error: string }[]
  /** Why no more were asked about. */
  readonly refusal: string | undefined
}

async function askAll(api: PluginContext['api'], asked: readonly Subject[], config: ConfigInUse): Promise<Answers> {
  const told = new Map<string, boolean>()
  const unsure: { title: string; error: string }[] = []
  let refusal: string | undefined
  for (let at = 0; at < asked.length && refusal === undefined; at += AT_ONCE) {
    const some = asked.slice(at, at + AT_ONCE)
    const answers = await Promise.all(some.map(async (subject) => ({ subject, answer: await mayEdit(api, subject, config) })))
    for (const { subject, answer } of answers) {
      if (answer.kind === 'told') told.set(keyOf(subject), answer.allowed)
      else if (answer.kind === 'unsure') unsure.push({ title: subject.title, error: answer.error })
      else refusal ??= answer.detail
    }
  }
  return { told, unsure, refusal }
}

/** By the names as they are: two that look alike are two subjects. */
function keyOf({ user, groups }: Subject): string {
  return JSON.stringify([user, groups])
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

type Answer =
  | { readonly kind: 'told'; readonly allowed: boolean }
  | { readonly kind: 'unsure'; readonly error: string }
  | { readonly kind: 'refused'; readonly detail: string }

async function mayEdit(api: PluginContext['api'], subject: Subject, config: ConfigInUse): Promise<Answer> {
  let doubt: Answer | undefined
  for (const way of [...EDITS, ...(config.isSelected ? CREATES : REPLACES)]) {
    const answer = await mayDoAll(api, subject, way, config)
    if (answer.kind === 'refused' || (answer.kind === 'told' && answer.allowed)) return answer
    if (answer.kind === 'unsure') doubt ??= answer
  }
  return doubt ?? { kind: 'told', allowed: false }
}

async function mayDoAll(api: PluginContext['api'], subject: Subject, way: Way, config: ConfigInUse): Promise<Answer> {
  let doubt: Answer | undefined
  for (const verb of way) {
    const answer = await mayDo(api, subject, verb, config)
    if (answer.kind === 'refused' || (answer.kind === 'told' && !answer.allowed)) return answer
    if (answer.kind === 'unsure') doubt ??= answer
  }
  return doubt ?? { kind: 'told', allowed: true }
}

async function mayDo(
  api: PluginContext['api'],
  { user, groups }: Subject,
  verb: string,
  { namespace, name }: ConfigInUse,
): Promise<Answer> {
  const resourceAttributes = { namespace, verb, version: 'v1', resource: 'configmaps', ...(!UNNAMED.includes(verb) && { name }) }
  const answer = await api.request({
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/namespaces/${namespace}/${REVIEWS}`,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'LocalSubjectAccessReview',
      metadata: { namespace },
      spec: { ...(user !== undefined && { user }), groups, resourceAttributes },
    },
    contentType: 'application/json',
  })
  if (answer.kind !== 'ok') return { kind: 'refused', detail: describeRefused({ verb: 'create', resource: REVIEWS, namespace }, answer) }
  const status = isObject(answer.object) ? answer.object.status : undefined
  if (!isObject(status) || typeof status.allowed !== 'boolean') return { kind: 'unsure', error: 'its answer is no review' }
  const { allowed, evaluationError } = status
  const isUnsure = !allowed && typeof evaluationError === 'string' && evaluationError !== ''
  return isUnsure ? { kind: 'unsure', error: evaluationError } : { kind: 'told', allowed }
}
