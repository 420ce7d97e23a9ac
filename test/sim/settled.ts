// SPDX-License-Identifier: Apache-2.0
/** Where a node has settled, and whether it is where the cluster wants it (invariant 7). */
import assert from 'node:assert/strict'
import { contentHash } from '../../src/checkpoint/content.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { FileRecords } from '../../src/checkpoint/records.ts'
import { SameContents } from '../../src/checkpoint/same-contents.ts'
import { parseSource } from '../../src/checkpoint/serialize.ts'
import type { FoundConfigMap } from '../../src/decision/desired.ts'
import { findByKey } from '../../src/decision/verdict.ts'
import { type ConfigMapData, type ContentHash, LOCAL_CONTENT } from '../../src/subject/config-source.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import { faultsOver } from '../checkpoint/faults.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { isGood, isLocalText, isRefused, meaningOf } from './behaviour.ts'
import { DIRECTORY, RUNTIME_DIRECTORY } from './paths.ts'
import type { SimWorld } from './sim-world.ts'
import { isOriginLost, isUnseen } from './unseen.ts'

/**
 * A config has four tries, and others at growing intervals for as long as a person restarts
 * kubelet. A run lasts two days at most, and events may request more.
 */
const MOST_LEFT = 12

/**
 * A config that resets the node has four tries, of which the first ends after three resets and each
 * other after two. A pause, a full disk and what lets it be tried anew make them more.
 */
const MOST_RESETS = 40

/** Where a node came to rest, by content: a run with a crash can be compared with one without. */
export interface Settled {
  readonly assigned: string
  readonly lastKnownGood: string
  readonly runs: string
  readonly operations: number
  /** After the faults were stopped: why what is wanted runs, or does not. */
  readonly end?: string
}

/** Without a judgement. */
export function describeEnd(world: SimWorld): Settled {
  const { process } = world.unit
  const runs = process === undefined ? 'nothing' : isLocalText(process.text) ? 'local' : process.text
  return { assigned: '', lastKnownGood: '', runs, operations: world.operations }
}

/**
 * Invariant 7: once nothing fails any more, the node gets to where it should be without an
 * operator.
 *
 * @param isPaused as far as the agent can know. While the assignment is invalid, it cannot know
 * that a pause is over
 */
export function checkSettled(world: SimWorld, isPaused: boolean): Settled {
  const { files, unit } = world
  const layout = layoutOf(DIRECTORY)
  const textOf = (name: 'assigned' | 'last-known-good') => {
    const parsed = parseSource(files.read(layout.record(name)) ?? Buffer.alloc(0))
    assert(parsed.ok, `invariant 7: the record ${name} is damaged at the end`)
    if (parsed.source === 'local') return 'local'
    const { uid, resourceVersion, kubeletConfigKey, overlay } = parsed.source
    const bytes = files.read(`${layout.checkpoint(uid, resourceVersion, overlay)}/${kubeletConfigKey}`)
    return bytes === undefined ? 'missing' : meaningOf(bytes.toString())
  }
  const process = unit.process
  const runs = process === undefined ? 'nothing' : isLocalText(process.text) ? 'local' : process.text
  const settled = { assigned: textOf('assigned'), lastKnownGood: textOf('last-known-good'), runs, operations: world.operations }
  const truth = world.assignment.truth()
  for (const [text, times] of world.resets) assert(times <= MOST_RESETS, `invariant 14: the node was reset ${times} times with ${text}`)
  assert.equal(unit.managers.met, 0, 'invariant 15: kubelet met a state of its CPU manager with which it does not start')
  assert(unit.leavings.most <= MOST_LEFT, 'invariant 12: what a person deletes is left again and again')
  if (unit.isStoppedByOperator || (!unit.isHealthy() && ((isPaused && truth.kind === 'invalid') || isUnseen(world)))) return settled
  assert(unit.isHealthy(), `invariant 7: kubelet is unhealthy at the end (${unit.activity}), with ${runs}`)
  if (truth.kind === 'local') {
    assert.equal(settled.assigned, 'local', 'invariant 7: the assignment is local, and the record assigned is not')
    // Local that failed before it had proved itself is not tried again by itself, as any config.
    const isLeft = hasFailedVerdict(world, () => LOCAL_CONTENT) && world.victims.excuseVerdict(meaningOf(world.localText))
    if (!isLeft && !isOriginLost(world))
      assert.equal(runs, 'local', 'invariant 7: the assignment is local, and kubelet does not run its local config')
  }
  if (truth.kind === 'config-map' && truth.object.kind === 'found') {
    const data = dataOf(truth.object)
    const text = meaningOf(data[truth.ref.kubeletConfigKey] ?? '')
    const healthy = isGood(text, unit.version)
    assert(settled.assigned === text || isRefused(text), 'invariant 7: the record assigned is not what the cluster assigns')
    if (!healthy && !world.doubts.has(text)) assert.notEqual(runs, text, 'invariant 7: kubelet runs a config that fails')
    const { kubeletConfigKey } = truth.ref
    if (healthy && hasFailedVerdict(world, (alike) => alike.of(contentHash(data, kubeletConfigKey)))) {
      assert(world.victims.excuseVerdict(text), 'invariant 10: a good config stays condemned')
    } else if (healthy) {
      assert.equal(runs, text, 'invariant 7: kubelet does not run the assigned config')
      // A kubelet that was replaced on disk has its trial at its next start.
      const isOld = process?.version !== unit.version
      assert(isOld || settled.lastKnownGood === text, 'invariant 7: the assigned config was not promoted')
    }
  }
  return settled
}

/** On this kubelet, or on any: where each start makes another kubelet, a verdict holds on all. */
function hasFailedVerdict(world: SimWorld, contentOf: (alike: SameContents) => ContentHash): boolean {
  const parts = { files: world.files, layout: layoutOf(DIRECTORY), log: silentLog(), faults: faultsOver() }
  const records = new FileRecords({ ...parts, onSetAside: () => {}, run: world.runtime })
  const alike = new SameContents({ ...parts, runtimeDir: RUNTIME_DIRECTORY })
  const verdict = findByKey(records.verdicts(), trialKey(contentOf(alike), world.unit.identity))
  // A config that has been tried again since, and is healthy, is not condemned any more.
  return verdict !== undefined && verdict.suspended !== true
}

/** kubelet runs what the cluster wants, and it passed its trial. */
export function isWell(world: SimWorld, { runs, lastKnownGood, assigned }: Settled): boolean {
  const truth = world.assignment.truth()
  // A kubelet that was replaced on disk has its trial at its next start.
  if (!world.unit.isHealthy() || world.unit.process?.version !== world.unit.version) return false
  if (truth.kind === 'local') return runs === 'local'
  if (truth.kind !== 'config-map' || truth.object.kind !== 'found') return false
  const text = meaningOf(dataOf(truth.object)[truth.ref.kubeletConfigKey] ?? '')
  return text === runs && text === lastKnownGood && text === assigned
}

/** The data that kubelet should start with: the rendered config if the node has an overlay. */
function dataOf({ rendered, data }: FoundConfigMap): ConfigMapData {
  return rendered?.data ?? data
}
