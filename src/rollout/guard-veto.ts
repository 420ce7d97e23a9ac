// SPDX-License-Identifier: Apache-2.0
/**
 * The vetoes by which a guard halts a rollout, as words of the record that agents of every version
 * understand. Pure.
 */
import { cutToBytes } from '../values/cut.ts'
import { type GuardVerdict, type HurtNode, type Limit, showLimit } from './guard.ts'
import { type Plan, vetoesNeeded } from './plan.ts'
import { bytesOf, type Entry, GUARD_PREFIX, MOST_RECORD_BYTES, MOST_VETOES, type RolloutRecord, type RolloutState } from './record.ts'
import { entryText, LONGEST_REASON, nodeKey } from './write.ts'

/** Two names of usual nodes, where the record has little room left. */
const SHORT_REASON = 72

/**
 * A merge patch of the record's `data`. It halts the generation under way by itself where there is
 * room: the vetoes of nodes may stop to count, as when one of these is excluded.
 *
 * @param state of the record
 * @returns undefined: the record has no room for it
 */
export function guardVetoes(
  plan: Plan,
  state: RolloutState,
  record: RolloutRecord,
  { verdict, limit }: { readonly verdict: GuardVerdict; readonly limit: Limit },
): Readonly<Record<string, string>> | undefined {
  // An administrator may have excluded one by its name.
  const names = Array.from({ length: 2 * MOST_VETOES }, (_, index) => `${GUARD_PREFIX}${index + 1}`).filter(
    (name) => !plan.excluded.includes(name),
  )
  const { generation, stage } = state
  const needed = vetoesNeeded(plan, stage)
  const vetoing = [...record.entries].filter(
    ([name, { kind, generation: of }]) => kind === 'veto' && of === generation && isNode(name, plan),
  )
  const ways: readonly Way[] = [
    { count: needed, longest: LONGEST_REASON, naming: needed },
    { count: needed, longest: SHORT_REASON, naming: needed },
    { count: needed, longest: SHORT_REASON, naming: 1 },
    { count: Math.max(1, needed - vetoing.length), longest: SHORT_REASON, naming: 1 },
  ]
  return ways
    .map((way) => {
      const reasons = writeReasons(verdict, limit, way)
      const veto = (reason: string): Entry => ({ kind: 'veto', generation, stage, reason })
      return Object.fromEntries(reasons.map((reason, index) => [nodeKey(names[index] ?? ''), entryText(veto(reason))]))
    })
    .find((data) => bytesOf(new Map([...record.texts, ...Object.entries(data)])) <= MOST_RECORD_BYTES)
}

/** How much a halt says, and whether it relies on the vetoes of nodes. */
interface Way {
  readonly count: number
  readonly longest: number
  /** How many of the reasons name nodes. */
  readonly naming: number
}

function isNode(name: string, { excluded }: Plan): boolean {
  return !name.startsWith(GUARD_PREFIX) && !excluded.includes(name)
}

/** As many names as fit. The first reason has the count. */
function writeReasons({ hurt, started }: GuardVerdict, limit: Limit, { count, longest, naming }: Way): readonly string[] {
  const rest = [...hurt]
  return Array.from({ length: count }, (_, index) => {
    const head = index === 0 ? `${hurt.length} of ${started} nodes hurt, limit ${showLimit(limit)}: ` : 'also '
    const named: string[] = []
    for (let next = rest[0]; next !== undefined && index < naming; next = rest[0]) {
      const text = join(head, [...named, nameHurt(next)], rest.length - 1)
      if (named.length > 0 && Buffer.byteLength(text) > longest) break
      named.push(nameHurt(next))
      rest.shift()
    }
    return named.length === 0 ? 'as above' : cutToBytes(join(head, named, index === naming - 1 ? rest.length : 0), longest)
  })
}

function join(head: string, named: readonly string[], more: number): string {
  return `${head}${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}

/** As `worker-1 not ready`. */
export function nameHurt({ node, how }: HurtNode): string {
  return `${node} ${how}`
}
