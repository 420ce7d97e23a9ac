// SPDX-License-Identifier: Apache-2.0
/**
 * The rule that a rollout goes on in its windows: once all is healed, no two windows in a row pass
 * without a write or a start while nodes wait that have no reason to.
 */
import { type EndState, listLate } from './end-invariants.ts'
import type { FleetWorld } from './fleet-world.ts'
import { Violation } from './violation.ts'
import { isOpen, nextTurn } from './wall-clock.ts'

export function watchWindows(world: FleetWorld, name: string, end: EndState): void {
  const { clock } = world.schedule
  if (clock === undefined) return
  const { queue, ledger } = world
  const nowMs = (): number => clock.startMs + queue.nowUs / 1000
  const untilMs = nowMs() + world.schedule.restSeconds * 1000
  const progress = (): number => ledger.progress.get(world.config(name).uid) ?? 0
  /** At the opening. undefined: the window was open before all was healed. */
  let before: number | undefined
  let idle = 0
  const close = (): void => {
    idle = progress() === before ? idle + 1 : 0
    if (idle === 0) return
    const late = listLate(end, name)
    if (late.length === 0) return
    if (idle > 1)
      throw new Violation('a rollout goes on in its windows', `${late[0]?.name} of ${name} waits (${late[0]?.last?.turn.detail})`)
  }
  const follow = (): void => {
    const { planText } = world.config(name)
    const turn = nextTurn(planText, nowMs(), untilMs)
    if (turn === undefined) return
    queue.at((turn - clock.startMs) * 1000, () => {
      if (isOpen(planText, nowMs())) before = progress()
      else close()
      if (listLate(end, name).length > 0) follow()
    })
  }
  if (listLate(end, name).length > 0) follow()
}
