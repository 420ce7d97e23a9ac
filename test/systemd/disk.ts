// SPDX-License-Identifier: Apache-2.0
/** A disk in memory with checkpoints, and crashes at each of its steps. */

import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { ConfigMapSource } from '../../src/subject/config-source.ts'
import { FakeDisk, type FakeStep } from '../checkpoint/fake/fake-disk.ts'

export const DIRECTORY = '/var/lib/kubelet-cfg-agent'
export const CONFIG = '/etc/kubernetes/kubelet/kubelet-config.json'

export function sourceOf(resourceVersion: string, uid = 'u-1'): ConfigMapSource {
  return { namespace: 'kube-system', name: 'my-node-config', kubeletConfigKey: 'kubelet', uid, resourceVersion }
}
export const pathOf = ({ uid, resourceVersion }: ConfigMapSource) => `${DIRECTORY}/checkpoints/${uid}/${resourceVersion}/kubelet`
export const bytesOf = (source: ConfigMapSource) => `kind: KubeletConfiguration # ${source.resourceVersion}\n`
export const ORIGINAL = '{"kind": "KubeletConfiguration", "original": true}'

export function worldWith(...sources: ConfigMapSource[]) {
  const time = { wallMs: 1_000_000, monotonicUs: 50e6, bootId: 'boot-1' }
  const disk = new FakeDisk(() => time.wallMs)
  disk.plant(CONFIG, ORIGINAL)
  disk.plant(`${DIRECTORY}/meta/assigned`, '')
  disk.plant('/run/kubelet-cfg-agent/lock', '')
  for (const source of sources) disk.plant(pathOf(source), bytesOf(source))
  return { disk, files: new DurableFiles(disk), time, clock: { now: () => ({ ...time }) } }
}

class Crash extends Error {}

/** Runs the action once for each point at which it can crash: before and after each step. */
export function crashEverywhere<W extends { disk: FakeDisk }>(
  fresh: () => W,
  action: (world: W) => void,
  check: (world: W, where: string) => void,
) {
  const count = countSteps(fresh(), action)
  for (let at = 0; at < count; at++) {
    const world = fresh()
    let seen = 0
    let where = ''
    world.disk.onStep = (step: FakeStep, phase) => {
      if (seen++ === at) {
        where = `${phase} ${step.kind} of ${step.path}`
        throw new Crash(where)
      }
    }
    try {
      action(world)
    } catch (error) {
      if (!(error instanceof Crash)) throw error
    }
    world.disk.onStep = undefined
    check(world, where)
  }
  return count
}

function countSteps<W extends { disk: FakeDisk }>(world: W, action: (world: W) => void): number {
  let count = 0
  world.disk.onStep = () => {
    count++
  }
  action(world)
  return count
}
