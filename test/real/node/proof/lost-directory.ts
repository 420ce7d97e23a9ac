// SPDX-License-Identifier: Apache-2.0
/**
 * The agent's directory is lost while kubelet runs with a checkpoint in it: what the agent does not
 * know is no reason for a restart.
 */
import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { eventually } from '../../lab/eventually.ts'
import { LOCAL_CONFIG } from '../kubeadm-files.ts'
import { type Age, onEachKubelet, type Stage } from './stage.ts'

const STATE = '/var/lib/kubelet-cfg-agent'
const UNKNOWN_MS = 30_000
const RECONNECT_MS = 120_000
const UPDATED = /^updated last-known-good config to /

/** Of the unit that names its config file itself, so that the agent replaces it. */
const REPLACED = LOCAL_CONFIG['spelled-out']
const OPTIONS = { unit: 'spelled-out', agentService: [`ReadWritePaths=-${dirname(REPLACED)}`] } as const
const SETTINGS = { TRIAL_DURATION: '10s' }

export function addLostDirectoryScenarios(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'the directory is lost', 'lost', SETTINGS, playLoss)
  onEachKubelet(program, ages, 'the directory is lost, and the config file is replaced', 'lost-file', SETTINGS, playReplaced, OPTIONS)
}

async function playReplaced(stage: Stage): Promise<void> {
  const { step, node } = stage
  const original = readFileSync(node.host(REPLACED), 'utf8')
  await playLoss(stage)
  await step('the assignment is removed: the original is back', async () => {
    await stage.unassign()
    await stage.admin.untilCondition({ status: 'True', reason: 'Local' })
    assert.equal(readFileSync(node.host(REPLACED), 'utf8'), original)
    const isAlone = () => readdirSync(dirname(node.host(REPLACED))).join() === basename(REPLACED)
    await eventually(isAlone, { what: 'nothing of the agent is left beside the config file', timeoutMs: UNKNOWN_MS })
  })
}

async function playLoss(stage: Stage): Promise<void> {
  const { step, node, plane } = stage
  const first = await step('a good config is promoted', () => stage.promoteFirst())
  /** Returns how often a promotion was told before. */
  const lose = async (): Promise<number> => {
    await node.systemctl('stop', 'kubelet-cfg-agent')
    renameSync(node.host(STATE), node.host(`${STATE}.lost-${Date.now()}`))
    return node.timesSaid(UPDATED)
  }
  const toldBefore = await step('lost, without an API server: kubelet goes on', () =>
    node.withoutRestart(async () => {
      await plane.stopApiserver()
      const told = await lose()
      await node.systemctl('start', 'kubelet-cfg-agent')
      await stage.pass(UNKNOWN_MS)
      return told
    }),
  )
  await step('the API server is back: the directory is made again, and kubelet goes on', () =>
    node.withoutRestart(async () => {
      await plane.startApiserver()
      await untilPromotedAnew(stage, first, toldBefore)
    }),
  )
  await step('lost, with an API server: the same', () =>
    node.withoutRestart(async () => {
      const told = await lose()
      await node.systemctl('start', 'kubelet-cfg-agent')
      await untilPromotedAnew(stage, first, told)
    }),
  )
  await step('the next config is used as ever', async () => {
    const next = await stage.put({ maxPods: 52 })
    await node.untilRuns(52)
    await stage.untilPromoted(next)
  })
}

/**
 * The state that the Node shows may be from before the loss: the new directory and the journal are
 * not.
 */
async function untilPromotedAnew(stage: Stage, source: string, toldBefore: number): Promise<void> {
  const { node } = stage
  const version = `resourceVersion: "${source.split('@')[1]}"`
  const isRecorded = () => ['assigned', 'last-known-good'].every((name) => node.read('meta', name)?.includes(version) === true)
  await eventually(isRecorded, { what: `the new directory has ${source} as last-known-good`, timeoutMs: RECONNECT_MS })
  await node.untilSays(UPDATED, toldBefore + 1, RECONNECT_MS)
  await stage.untilPromoted(source, RECONNECT_MS)
}
