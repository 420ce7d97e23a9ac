// SPDX-License-Identifier: Apache-2.0
/**
 * Crashes the process or the machine before and after each primitive step of an action, and checks
 * what is left.
 */

import { DurableFiles } from '../../src/checkpoint/files.ts'
import { FakeDisk } from './fake/fake-disk.ts'

export const ROOT = '/dynamic'

interface CrashScene {
  prepare(files: DurableFiles, disk: FakeDisk): void
  act(files: DurableFiles): void
  /** Called after the crash and the start of a new process. `where` is for messages. */
  check(files: DurableFiles, where: string): void
}

class Crash extends Error {}
const POWER_LOSSES = 6

/** Returns the number of crashes it tried. */
export function crashEverywhere(scene: CrashScene): number {
  const steps = countSteps(scene)
  for (let step = 1; step <= steps; step += 1) {
    for (let loss = 0; loss <= POWER_LOSSES; loss += 1) {
      const { disk, files } = openDisk(scene)
      let seen = 0
      let where = ''
      disk.onStep = ({ kind, path }, phase) => {
        seen += 1
        where = `crash ${phase} ${kind} ${path}, power loss ${loss}`
        if (seen === step) throw new Crash()
      }
      try {
        scene.act(files)
        throw new Error(`no crash at step ${step}: the action is not repeatable`)
      } catch (cause) {
        if (!(cause instanceof Crash)) throw cause
      }
      disk.onStep = undefined
      if (loss === 0) disk.restart()
      else disk.powerLoss(pseudoRandom(step * 31 + loss))
      const after = new DurableFiles(disk)
      after.settle(ROOT)
      scene.check(after, where)
    }
  }
  return steps * (POWER_LOSSES + 1)
}

function countSteps(scene: CrashScene): number {
  const { disk, files } = openDisk(scene)
  let steps = 0
  disk.onStep = () => {
    steps += 1
  }
  scene.act(files)
  return steps
}

function openDisk(scene: CrashScene): { disk: FakeDisk; files: DurableFiles } {
  let nowMs = 0
  const disk = new FakeDisk(() => {
    nowMs += 1
    return nowMs
  })
  const files = new DurableFiles(disk)
  files.makeDirectory(ROOT)
  scene.prepare(files, disk)
  return { disk, files }
}

/** Mulberry32. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
