// SPDX-License-Identifier: Apache-2.0
/** The schedules in which the agent, or the machine, crashes at every operation. */
import type { NodeKind } from './node-kind.ts'
import type { Schedule, Timed } from './schedule.ts'

/** The seed of everything in a story that is random, such as how late an event arrives. */
const STORY_SEED = 7

const ASSIGN: readonly Timed[] = [
  { afterSeconds: 0, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
  { afterSeconds: 1, event: { kind: 'assign', name: 'red' } },
]
/** Long enough for a trial to pass, however long a crash delays it. */
const LATER = 600

/** On nodes whose ConfigMaps hold parts. */
const PART_STORIES: Readonly<Record<string, readonly Timed[]>> = {
  'promote a part, then another local config': [...ASSIGN, { afterSeconds: LATER, event: { kind: 'edit-local' } }],
  'roll back a local config with which kubelet crash-loops under a part': [
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'edit-local', base: 'crash-at-start' } },
  ],
  'a local config that cannot be the base for a while, and an edit of the part': [
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'edit-local', base: 'unusable', seconds: LATER } },
    { afterSeconds: 30, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
  ],
}

export const STORIES: Readonly<Record<string, readonly Timed[]>> = {
  'assign, promote': ASSIGN,
  'edit in place, promote': [...ASSIGN, { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'good' } }],
  'roll back a config that crash-loops': [
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'crash-at-start' } },
  ],
  'roll back a config with which the node resets': [
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'resets-node' } },
  ],
  'reject a config in preflight': [...ASSIGN, { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'invalid' } }],
  'edit only metadata': [...ASSIGN, { afterSeconds: LATER, event: { kind: 'touch-metadata', name: 'red' } }],
  'remove the assignment': [...ASSIGN, { afterSeconds: LATER, event: { kind: 'unassign' } }],
  'restore etcd: the same version with other content': [
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'restore-etcd', name: 'red', behaviour: 'good' } },
  ],
  'edit while the cluster pauses the node': [
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: LATER } },
    { afterSeconds: 30, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
  ],
  'add an overlay, and remove it again': [
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'edit-overlay', behaviour: 'good' } },
    { afterSeconds: LATER, event: { kind: 'remove-overlay' } },
  ],
  'assign another key of the same ConfigMap, with an overlay': [
    { afterSeconds: 0, event: { kind: 'edit-overlay', behaviour: 'good' } },
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'switch-key' } },
  ],
  'roll back an overlay with which kubelet crash-loops': [
    { afterSeconds: 0, event: { kind: 'edit-overlay', behaviour: 'good' } },
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'edit-overlay', behaviour: 'crash-at-start' } },
  ],
  'promote a config that fails afterwards': [
    ...ASSIGN,
    { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'fails-after-promotion' } },
  ],
  ...PART_STORIES,
}

export function scheduleOf(story: string): Schedule {
  const node: Partial<NodeKind> = Object.hasOwn(PART_STORIES, story) ? { parts: true } : {}
  return { seed: STORY_SEED, node, events: STORIES[story] ?? [] }
}
