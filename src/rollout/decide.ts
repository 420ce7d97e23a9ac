// SPDX-License-Identifier: Apache-2.0
/**
 * The decision about a rollout: whose turn it is, and what this node has to write. Start reading
 * here. Each rule looks at one Standing and yields a decision, or undefined where it does not
 * apply. The first that applies decides. Pure: it is called again on fresh readings of the record
 * and then the config before any write and before any start (R3). docs/rollout.md, "The rules", has
 * R1 to R9.
 */
import { quote } from '../values/kubernetes-names.ts'
import { keepOrder } from './plan.ts'
import {
  begin,
  goAgain,
  goFree,
  goOnOwnClaim,
  halt,
  prove,
  standAside,
  tellFailure,
  waitForSilent,
  waitForVetoes,
  waitWhilePaused,
} from './rules.ts'
import { advance, claimAsControlPlane, claimAsWitness } from './stage-rules.ts'
import { type BegunRule, deriveStanding, type RolloutRule, waits } from './standing.ts'
import type { RolloutDecision, RolloutView } from './view.ts'
import { findWindow } from './window-turn.ts'

const ROLLOUT_RULES: readonly RolloutRule[] = [
  // The content failed on this node: the record says so, or begins with that (R4).
  tellFailure,
  // Kubelet runs it: a witness proves it (R1).
  prove,
  // The config is paused: nothing more is started (R3).
  waitWhilePaused,
  // An administrator excludes this node: it claims nothing.
  standAside,
  // The record has lost what it held: vetoes come first (R4).
  waitForVetoes,
  // The record is not about this content, or not about nodes such as this one (R4, R6).
  begin,
  // Enough nodes reported that it failed on them: no other node starts it (Halt).
  begun(halt),
  // This node has its turn already (R2).
  begun(goOnOwnClaim),
  // The proofs are enough for the next stage (R1).
  begun(advance),
  // The content was last-known-good here before (R5).
  begun(goAgain),
  // More claims are silent than the plan allows (R9).
  begun(waitForSilent),
  // A control plane is never free (R8).
  begun(claimAsControlPlane),
  // The stage is open to this node (R1).
  begun(goFree),
  // The stage is not open to this node, which becomes a witness where there is room (R1, R2).
  begun(claimAsWitness),
]

function begun(rule: BegunRule): RolloutRule {
  return (standing) => (standing.rollout === undefined ? undefined : rule(standing, standing.rollout))
}

export function decideRollout({ nowUs, node, config, record: reading, time }: RolloutView): RolloutDecision {
  // A config keeps its rollout while its record cannot be read (R7).
  if (reading.kind === 'unavailable') return waits(reading.detail)
  if (!config.plan.ok) return waits(config.plan.problem)
  const { record, resourceVersion, observation } = reading
  // A write with it would be unconditional, or no API server sent it.
  if (!/^[1-9][0-9]*$/.test(resourceVersion)) return waits(describeVersion(resourceVersion))
  // The config has changed since this node prepared its content (R3).
  if (node.hash !== config.hash) return waits('the config has changed; this node prepares the new content first')
  const plan = keepOrder(config.plan.plan, node.waves, node.zones)
  const window = findWindow(plan, config.hash, time, nowUs)
  const standing = deriveStanding({ nowUs, node, config, plan, record, resourceVersion, observation, window })
  for (const rule of ROLLOUT_RULES) {
    const decision = rule(standing)
    if (decision !== undefined) return tellUnready(node, plan.excluded.includes(node.name) ? keepQuiet(decision) : decision)
  }
  return waits('no rule decided, which is a bug in the agent')
}

function describeVersion(resourceVersion: string): string {
  return `the API server gave the record the resourceVersion ${quote(resourceVersion)}, which no write may use; the agent reads it again`
}

/** The policy refuses whatever an excluded node writes. */
function keepQuiet({ write: _, ...decision }: RolloutDecision): RolloutDecision {
  return decision
}

/**
 * Adds the obstacle that keeps a node from starting although it has its turn, so that its report
 * says why.
 */
function tellUnready({ runs, ready }: RolloutView['node'], decision: RolloutDecision): RolloutDecision {
  const { turn } = decision
  return turn.kind !== 'go' || runs || ready.ok ? decision : { ...decision, turn: { ...turn, unready: ready.detail } }
}
