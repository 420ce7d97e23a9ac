// SPDX-License-Identifier: Apache-2.0
/**
 * The config that an overlay of this node makes, with the real kubelet: an edit of the overlay goes
 * the way that an edit of the ConfigMap goes, and a mistake in it changes nothing.
 */
import { strict as assert } from 'node:assert'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { promoteGood } from './assign.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { withNode } from './node.ts'

const OVERLAY = '/etc/kubelet-cfg-agent/overlay.d'
const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '2s', SPREAD: '0s' }
const CRASHED = 'failed to run config: kubelet crash-looped; rolled back to last-known-good, see kubelet-cfg-agent log for details'
const UNUSABLE = "failed to sync: this node's overlay cannot be used, see kubelet-cfg-agent log for details"

export function addOverlayScenarios(plane: ControlPlane, program: string): void {
  scenario('node: an overlay', (step) =>
    withNode(plane, program, { name: 'overlay-node', settings: SETTINGS }, async (node, admin) => {
      const write = (name: string, text: string) => {
        mkdirSync(node.host(OVERLAY), { recursive: true, mode: 0o755 })
        writeFileSync(node.host(OVERLAY, name), text, { mode: 0o644 })
      }
      const nextConfig = () => /--config=(\S+?)["']?(?:\s|$)/.exec(node.read('kubelet.env') ?? '')?.[1] ?? 'local'
      const good = await step('a good one is promoted', () => promoteGood(node, admin))
      const checkpoint = `/var/lib/kubelet-cfg-agent/checkpoints/${good.uid}/${good.resourceVersion}/kubelet`
      const untouched = node.read('checkpoints', good.uid, good.resourceVersion, 'kubelet')
      assert.equal(nextConfig(), checkpoint)

      await step('two overlay files: kubelet runs with what they make of it, in their order, and it is promoted', async () => {
        write('10-pods.yaml', stringify({ maxPods: 61, podsPerCore: 7 }))
        write('20-pods.yaml', stringify({ maxPods: 62 }))
        await node.untilRuns(62)
        assert.equal((await node.configz()).podsPerCore, 7)
        await node.untilHealthy()
        await eventually(async () => /^ {4}overlay: /m.test(node.read('meta', 'last-known-good') ?? ''), { what: 'it is promoted' })
        assert.match(nextConfig(), new RegExp(`/rendered/${good.uid}/${good.resourceVersion}/[0-9a-f]{16}/kubelet$`))
        assert.equal(node.read('checkpoints', good.uid, good.resourceVersion, 'kubelet'), untouched)
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      })
      const rendered = nextConfig()

      await step('an edit that crashes kubelet is rolled back to the rendering before it', async () => {
        write('20-pods.yaml', stringify({ maxPods: 63, ...node.crash.changes }))
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good, error: CRASHED }, 90_000)
        await node.untilRuns(62)
        assert.equal(nextConfig(), rendered)
      })

      await step('one that is malformed is an error with its place in the log, and nothing happens', () =>
        node.withoutRestart(async () => {
          write('20-pods.yaml', 'maxPods: 64\nfeatureGates: {a: true\n')
          await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good, error: UNUSABLE })
          await node.untilSays(/overlay cannot be used.*overlay\.d\/20-pods\.yaml: .* at line \d+, column \d+/)
          assert.equal(nextConfig(), rendered)
        }),
      )

      await step('the good one again: no restart, since that is what runs', () =>
        node.withoutRestart(async () => {
          write('20-pods.yaml', stringify({ maxPods: 62 }))
          await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
        }),
      )

      await step('status shows it', async () => {
        const { stdout } = await node.command('status')
        console.log(stdout.replace(/^/gm, '    '))
        assert.match(stdout, /^Overlay +10-pods\.yaml, 20-pods\.yaml/m)
      })

      await step('all files removed: the bytes of the ConfigMap again', async () => {
        for (const name of ['10-pods.yaml', '20-pods.yaml']) rmSync(join(node.host(OVERLAY), name))
        await node.untilRuns(51)
        assert.equal(nextConfig(), checkpoint)
        await eventually(async () => !/^ {4}overlay: /m.test(node.read('meta', 'last-known-good') ?? '    overlay: '), {
          what: 'it is promoted',
        })
        assert.equal(node.read('checkpoints', good.uid, good.resourceVersion, 'kubelet'), untouched)
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      })
    }),
  )
}
