// SPDX-License-Identifier: Apache-2.0
/** A world in which configs have passed their trials, and what tests ask of it afterwards. */
import type { Test } from 'tap'
import type { ClusterPause } from '../../src/decision/desired.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { A, B, HOUR_US, MINUTE_US, textOf } from '../decision/snapshots.ts'
import { SmallWorld } from './small-world.ts'

export async function promoted(...sources: readonly ConfigSource[]): Promise<SmallWorld> {
  return promote(new SmallWorld(), ...sources)
}

export async function promote(world: SmallWorld, ...sources: readonly ConfigSource[]): Promise<SmallWorld> {
  for (const source of sources) {
    world.want(source)
    await world.run(15 * MINUTE_US)
  }
  return world
}

/** B is promoted after A, and has run for an hour since. */
export async function proven(): Promise<SmallWorld> {
  const world = await promoted(A, B)
  await world.run(HOUR_US)
  return world
}

export function rollbacks(world: SmallWorld): number {
  return world.history.filter(({ kind }) => kind === 'rolled-back').length
}

export async function runsAndStaysOn(t: Test, world: SmallWorld, source: ConfigSource): Promise<void> {
  t.equal(await world.running(), source === 'local' ? 'local' : textOf(source), 'kubelet runs it')
  t.ok(world.unit.healthy, 'and is well')
}

export function wantPaused(world: SmallWorld, source: ConfigSource, on: ClusterPause['on'] | undefined): void {
  world.want(source)
  const paused = on && { on, by: 'somebody' }
  world.desired = { ...world.desired, channelState: { channel: 'label', paused, problem: undefined } }
}
