/**
 * A crash before and after every write, rename, sync and command of these schedules, of the agent alone and of the machine: each time the
 * node must settle where it does without the crash (invariant 4).
 */
import assert from 'node:assert/strict'
import t from 'tap'
import type { Timed } from './schedule.ts'
import { crashEverywhere } from './sweep.ts'

const assign: readonly Timed[] = [
  { afterSeconds: 0, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
  { afterSeconds: 1, event: { kind: 'assign', name: 'red' } },
]
/** Long enough for a trial to pass, whatever a crash delays. */
const LATER = 600

const STORIES: Readonly<Record<string, readonly Timed[]>> = {
  'assign, promote': assign,
  'edit in place, promote': [...assign, { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'good' } }],
  'a config that crash-loops is rolled back': [
    ...assign,
    { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'crash-at-start' } },
  ],
  'a config that preflight refuses': [...assign, { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'invalid' } }],
  'metadata only': [...assign, { afterSeconds: LATER, event: { kind: 'touch-metadata', name: 'red' } }],
  'the assignment is removed': [...assign, { afterSeconds: LATER, event: { kind: 'unassign' } }],
  'the same version comes back with other content': [
    ...assign,
    { afterSeconds: LATER, event: { kind: 'restore-etcd', name: 'red', behaviour: 'good' } },
  ],
  'edited while the cluster pauses': [
    ...assign,
    { afterSeconds: LATER, event: { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: LATER } },
    { afterSeconds: 30, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
  ],
  'an overlay is laid over it, and taken away again': [
    ...assign,
    { afterSeconds: LATER, event: { kind: 'edit-overlay', behaviour: 'good' } },
    { afterSeconds: LATER, event: { kind: 'remove-overlay' } },
  ],
  'another key of the same ConfigMap, under an overlay': [
    { afterSeconds: 0, event: { kind: 'edit-overlay', behaviour: 'good' } },
    ...assign,
    { afterSeconds: LATER, event: { kind: 'switch-key' } },
  ],
  'an overlay under which it crash-loops is rolled back': [
    { afterSeconds: 0, event: { kind: 'edit-overlay', behaviour: 'good' } },
    ...assign,
    { afterSeconds: LATER, event: { kind: 'edit-overlay', behaviour: 'crash-at-start' } },
  ],
  'promoted, and then it fails': [
    ...assign,
    { afterSeconds: LATER, event: { kind: 'edit', name: 'red', behaviour: 'fails-after-promotion' } },
  ],
}

for (const [story, events] of Object.entries(STORIES)) {
  t.test(story, { timeout: 600_000 }, async (t) => {
    const runs = await crashEverywhere({ seed: 7, events }, (settled, calm, where) => {
      const { operations: _more, ...state } = settled
      const { operations: _fewer, ...expected } = calm
      assert.deepEqual(state, expected, where)
    })
    t.ok(runs > 100, `${runs} crashes`)
  })
}
