// SPDX-License-Identifier: Apache-2.0
/** What happened to each node in the acts of the demo that are rollouts, by its output. Pure. */
import type { Act } from './cast.ts'

export type State = 'old' | 'waits' | 'claim' | 'bad' | 'back' | 'veto' | 'trial' | 'proved'

export interface Segment {
  readonly from: number
  readonly to: number
  readonly state: State
}

export interface Lane {
  readonly node: string
  readonly segments: readonly Segment[]
  /** When kubelet exited, in seconds. */
  readonly exits: readonly number[]
}

export interface Stage {
  readonly from: number
  readonly to: number
  readonly name: string
  readonly opensTo: string
}

export interface RolloutStory {
  readonly acts: readonly { readonly title: string; readonly from: number }[]
  readonly stages: readonly Stage[]
  readonly lanes: readonly Lane[]
  readonly from: number
  readonly to: number
}

/** What is said about a node, and what it does from then on. */
const WORDS: readonly (readonly [RegExp, State])[] = [
  [/^(\S+) starts it, and says so first$/, 'claim'],
  [/^(\S+): failed to run Kubelet/, 'bad'],
  [/^(\S+): config failed, rolling back/, 'back'],
  [/^(\S+) says that it failed/, 'veto'],
  [/^(\S+): starts with it$/, 'trial'],
  [/^(\S+) has proved it/, 'proved'],
]
const EXIT = /^(\S+): (?:failed to run Kubelet|the same again)/
const BEGIN = /^rollout \d+ begins$/
const OPENS = /^stage (\d+) opens: (.*) may start it$/
const HALTS = /^RolloutHalted/

export function readRollout(acts: readonly Act[]): RolloutStory {
  const told = acts.filter(({ events }) => events.some(({ text }) => BEGIN.test(text)))
  const events = told.flatMap((act) => act.events)
  const [from, to] = [events[0]?.seconds ?? 0, events.at(-1)?.seconds ?? 0]
  const changes = events.flatMap(({ seconds, text }) =>
    WORDS.flatMap(([words, state]) => {
      const [, node] = words.exec(text) ?? []
      return node === undefined ? [] : [{ seconds, node, state }]
    }),
  )
  const begins = events.filter(({ text }) => BEGIN.test(text)).map(({ seconds }) => seconds)
  const lanes = [...new Set(changes.map(({ node }) => node))].sort().map((node) => {
    const own = changes.filter((change) => change.node === node)
    const states = [{ seconds: from, state: 'old' as State }, ...begins.map((seconds) => ({ seconds, state: 'waits' as State })), ...own]
    const exits = events.filter(({ text }) => EXIT.exec(text)?.[1] === node).map(({ seconds }) => seconds)
    return { node, segments: joinStates(states, to), exits }
  })
  return {
    acts: told.map(({ title, events: [first] }) => ({ title, from: first?.seconds ?? from })),
    stages: listStages(told, to),
    lanes,
    from,
    to,
  }
}

function joinStates(states: readonly { readonly seconds: number; readonly state: State }[], end: number): readonly Segment[] {
  // Stable: at one time, the later word counts.
  const sorted = states.toSorted((one, other) => one.seconds - other.seconds)
  return sorted
    .map(({ seconds, state }, index) => ({ from: seconds, to: sorted[index + 1]?.seconds ?? end, state }))
    .filter((segment, index, all) => segment.to > segment.from || index === all.length - 1)
}

function listStages(acts: readonly Act[], end: number): readonly Stage[] {
  const starts = acts.flatMap(({ events }) =>
    events.flatMap(({ seconds, text }) => {
      if (BEGIN.test(text)) return [{ from: seconds, name: 'stage 0', opensTo: 'one node' }]
      if (HALTS.test(text)) return [{ from: seconds, name: 'halted', opensTo: 'nobody' }]
      const [, stage, opensTo = ''] = OPENS.exec(text) ?? []
      return stage === undefined ? [] : [{ from: seconds, name: `stage ${stage}`, opensTo: opensTo.replace('one more node', 'one more') }]
    }),
  )
  return starts.map((start, index) => ({ ...start, to: starts[index + 1]?.from ?? end }))
}
