/**
 * Invariant 13: a good config is condemned only after something has befallen it that a config may
 * be blamed for: victims.ts. A container runtime that is silent for a while is no such thing.
 */
import assert from 'node:assert/strict'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { Step } from '../../src/decision/step.ts'
import { isGood, meaningOf } from './behaviour.ts'
import { DIRECTORY } from './paths.ts'
import type { SimWorld } from './sim-world.ts'

const LAYOUT = layoutOf(DIRECTORY)

export function checkVerdict(world: SimWorld, step: Step): void {
  if (step.kind !== 'condemn' || step.requested) return
  const { source, detail } = step.verdict
  if (source === undefined || source === 'local') return
  const bytes = world.files.read(LAYOUT.file(source))
  const text = bytes === undefined ? undefined : meaningOf(bytes.toString())
  if (text === undefined || !isGood(text, world.unit.version)) return
  assert(world.victims.hasSuffered(text), `invariant 13: a good config is condemned: ${detail}: ${text}`)
}
