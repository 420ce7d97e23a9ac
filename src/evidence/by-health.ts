// SPDX-License-Identifier: Apache-2.0
/**
 * Evidence `process` and `healthz`: the answer of the health record, which decides about a failure
 * by itself (`findFailure`). Nothing is asked for them. Pure.
 */
import type { Snapshot } from '../decision/snapshot.ts'
import { type KindStanding, no, unknown, yes } from './kind.ts'
import type { EvidenceKind } from './kinds.ts'

export function judgeByHealth(kind: EvidenceKind, snapshot: Snapshot): KindStanding {
  return kind === 'process' ? judgeProcess(snapshot) : judgeHealthz(snapshot)
}

function judgeProcess({ unit, running, health }: Snapshot): KindStanding {
  if (unit.kind === 'unknown') return unknown('systemd does not answer')
  if (unit.activity === 'failed') return no('systemd gave kubelet up')
  if (health !== undefined && health.exits > 0) return no(`kubelet exited ${health.exits} times`)
  if (running.kind !== 'known') return unknown(`kubelet is ${unit.summary}`)
  return yes('kubelet runs and did not exit', running.startedAtUs)
}

function judgeHealthz({ unit, running, healthz, health }: Snapshot): KindStanding {
  if (unit.kind === 'unknown' || running.kind !== 'known') return unknown('no kubelet process is known')
  if (healthz === undefined) return unknown('kubelet has no health port')
  if (healthz.ok === 'unknown') return unknown(healthz.detail)
  const unverified = healthz.unverified === undefined ? '' : ` (not verified: ${healthz.unverified})`
  const detail = `/healthz${healthz.ok ? ' answers 200' : `: ${healthz.detail}`}${unverified}`
  return healthz.ok ? yes(detail, health?.healthySinceUs) : no(detail, health?.unhealthySinceUs)
}
