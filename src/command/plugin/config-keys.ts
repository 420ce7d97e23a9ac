/**
 * What a change of a config means to those that use another of its keys than the one that commands
 * check and compare. Pure.
 */
import { STATUS_ANNOTATION } from '../../report/annotation.ts'
import type { ConfigName } from './config-index.ts'
import type { ConfigContent } from './config-maps.ts'
import { Failure } from './failure.ts'
import { KEY } from './merged-text.ts'
import { configOfNode, type PartOver, type Users } from './users.ts'

export interface ContentChange {
  /** undefined: the ConfigMap does not exist. */
  readonly before: ConfigContent | undefined
  readonly after: ConfigContent
}

/** Leaves out the parts that the change does not get to: another key is under them, and stays. */
export function usersOfChange(users: Users, change: ContentChange): Users {
  const parts = users.parts.filter((part) => getsChange(part, change))
  return { ...users, parts, nodes: [...users.assigned, ...parts.flatMap(({ nodes }) => nodes), ...users.layered] }
}

function getsChange({ baseKey }: PartOver, change: ContentChange): boolean {
  return baseKey === KEY || change.before?.base !== change.after.base || changesKey(change, baseKey)
}

function changesKey({ before, after }: ContentChange, key: string): boolean {
  return textOf(before, key) !== textOf(after, key)
}

function textOf(content: ConfigContent | undefined, key: string): string | undefined {
  return content !== undefined && Object.hasOwn(content.data, key) ? content.data[key] : undefined
}

/** A sentence on the nodes that the config is assigned to by another key. undefined: none are. */
export function describeOtherKeys(config: ConfigName, users: Users): string | undefined {
  const who = nameOthers(config, listOtherKeys(users))
  return who && `${who}: only ${KEY} is checked and compared here, and no change is written that leaves such a key as it is.`
}

/**
 * Nodes that use another key would not get a change that leaves it as it is. They would try their
 * own config again, since all keys count for its content.
 *
 * @throws Failure
 */
export function checkKeys(config: ConfigName, users: Users, change: ContentChange): void {
  const isGone = (key: string) => textOf(change.after, key) === undefined
  const left = listOtherKeys(users).filter(({ key }) => isGone(key) || !changesKey(change, key))
  const who = nameOthers(config, left)
  if (who === undefined) return
  const what = left.some(({ key }) => isGone(key)) ? 'and that key would not exist' : 'and would not get the change'
  // An agent that was removed leaves its annotation behind.
  const told = left.find(({ isTold }) => isTold)
  const remedy = told && `; if no agent runs on ${told.node} any more, remove its annotation ${STATUS_ANNOTATION}`
  throw new Failure(
    `${who}, ${what}: give a manifest with a new text for that key too, use one ConfigMap for each key, or edit this one with ` +
      `kubectl${remedy ?? ''}`,
  )
}

interface OtherKey {
  readonly node: string
  readonly key: string
  /** Only its agent says so, and not the Node. */
  readonly isTold: boolean
}

function listOtherKeys({ assigned }: Users): readonly OtherKey[] {
  return assigned.flatMap((state) => {
    const { name, asked } = state
    const key = configOfNode(state)?.kubeletConfigKey ?? KEY
    return key === KEY ? [] : [{ node: name, key, isTold: asked === undefined || asked.channel === 'label' }]
  })
}

function nameOthers({ namespace, name }: ConfigName, [first, ...others]: readonly OtherKey[]): string | undefined {
  if (first === undefined) return undefined
  const rest = others.length === 0 ? '' : `, ${others.length === 1 ? 'as does 1 more node' : `as do ${others.length} more nodes`}`
  return `${first.node} uses another key of ConfigMap ${namespace}/${name} (${first.key})${rest}`
}
