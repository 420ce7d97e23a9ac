// SPDX-License-Identifier: Apache-2.0
/**
 * The disk under the dynamic config directory is full: a real file system, filled to its last byte.
 */
import { strict as assert } from 'node:assert'
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import type { ControlPlane } from '../lab/control-plane.ts'
import { scenario } from '../lab/runner.ts'
import { assignedBytes } from '../records.ts'
import { INTERNAL_ERROR } from '../texts.ts'
import { assignNew, promoteGood } from './assign.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const ROLLED_BACK = 'failed to run config: kubelet crash-looped; rolled back to last-known-good, see kubelet-cfg-agent log for details'
const FILLER = '/var/lib/kubelet-cfg-agent/filler'

export function addFullDiskScenarios(plane: ControlPlane, program: string): void {
  scenario('node: the disk under the state directory is full', (step) =>
    withNode(
      plane,
      program,
      { name: 'full', settings: { ...UP_TO_LOADING, TRIAL_DURATION: '1s', CRASH_LIMIT: '2' }, stateMiB: 8 },
      async (node, admin) => {
        const good = await step('a good one is promoted', () => promoteGood(node, admin))
        const before = await node.kubeletProcess()
        await step('the disk is filled', () => fill(node))
        const next = await step('an assignment changes nothing, and the status says so', async () => {
          const source = await assignNew(node, admin, 'next', { maxPods: 61 })
          await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good, error: INTERNAL_ERROR })
          assert.equal(await node.kubeletProcess(), before)
          assert.equal(node.read('meta', 'assigned'), assignedBytes(good))
          return source
        })
        await step('the journal names the file and the reason', async () => {
          const errors = (await node.journal()).filter(({ priority }) => priority <= 4)
          assert(errors.some(({ text }) => /ENOSPC|no space left/i.test(text)))
        })
        await step('with space again it goes on by itself', async () => {
          rmSync(node.host(FILLER))
          await admin.untilStatus({ assigned: next, active: next, lastKnownGood: next }, 90_000)
          await node.untilRuns(61)
        })
        const crashing = await step('one that crashes kubelet is activated, and the disk fills up', async () => {
          const source = await assignNew(node, admin, 'crashing', node.crash.changes)
          await node.untilSays(/^Kubelet restarting to use .*full-crashing/)
          fill(node)
          return source
        })
        await step('the way back works all the same', async () => {
          await node.untilRuns(61, 90_000)
        })
        await step('with space again the status is whole', async () => {
          rmSync(node.host(FILLER))
          await admin.untilStatus({ assigned: crashing, active: next, lastKnownGood: next, error: ROLLED_BACK }, 90_000)
        })
      },
    ),
  )
}

/** With ever smaller pieces, so that not a byte is left. */
function fill(node: Node): void {
  const file = openSync(node.host(FILLER), 'a')
  try {
    for (let size = 1 << 20; size >= 1; size >>= 1) {
      while (wrote(file, Buffer.alloc(size))) {}
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function wrote(file: number, bytes: Buffer): boolean {
  try {
    return writeSync(file, bytes) === bytes.length
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}
