// SPDX-License-Identifier: Apache-2.0
/**
 * The acts of the demo. Each ends when its result is there, and fails if that takes too long.
 * Nothing waits for a fixed time.
 */
import { LOAD_ERROR } from '../src/decision/status-texts.ts'
import { BROKEN_CONFIG, brickConfig, crashingConfig, podsConfig } from './configs.ts'
import { playRollout, startFleet } from './fleet-story.ts'
import { nameSource } from './narrate.ts'
import { LOCAL_PODS } from './node.ts'
import type { Stage } from './stage.ts'
import type { Timeline } from './timeline.ts'
import { drawTree } from './tree.ts'
import { NODE, TRIAL_SECONDS, type World } from './world.ts'

export const GOOD = 'node-config'
const BRICK = 'brick-config'
const RISKY = 'risky-config'

export async function playStory(stage: Stage): Promise<void> {
  await meetNode(stage)
  await assignConfig(stage)
  await editInPlace(stage)
  await breakSyntax(stage)
  const crashing = await assignCrashing(stage)
  await loseApiServer(stage)
  // The nodes of the last acts take some seconds to start.
  const [fleet] = await Promise.all([startFleet(stage), removeAssignment(stage)])
  await playRollout(stage, fleet)
  if (stage.promoted.has(crashing)) throw new Error(`${crashing} crashed kubelet, but was promoted`)
  const { timeline } = stage
  timeline.write(`\nAll acts succeeded in ${timeline.elapsedSeconds.toFixed(0)} s. To try commands yourself: npm start -- --keep`)
}

export async function meetNode({ world, timeline, ...stage }: Stage): Promise<void> {
  await stage.until('the agent has checked itself', () => world.agent.has('"drop-in: '))
  await stage.until('the agent has read that nothing is assigned', () => world.agent.has('"settled: local"'))
  await stage.until('kubelet runs the config it was provisioned with', () => runs(world, LOCAL_PODS))
  tellConfigz(timeline, world, LOCAL_PODS)
}

export async function assignConfig({ world, timeline, admin, ...stage }: Stage): Promise<void> {
  timeline.act('Assign a config: checkpoint, restart, trial, promotion')
  const version = await admin.createConfigMap(GOOD, podsConfig(world.healthzPort, 64))
  await admin.assign(GOOD)
  await stage.until('kubelet runs the new config', () => runs(world, 64))
  tellConfigz(timeline, world, 64)
  await stage.until('the trial is passed', () => isPromoted(world, `${GOOD}@${version}`))
  timeline.show(`On disk, after the trial of ${TRIAL_SECONDS} s has passed:`, drawTree(world.stateDir))
}

async function editInPlace({ world, timeline, admin, ...stage }: Stage): Promise<void> {
  timeline.act('Edit it in place: a new checkpoint under the same UID')
  const version = await admin.editConfigMap(GOOD, podsConfig(world.healthzPort, 50))
  await stage.until('kubelet runs the edit', () => runs(world, 50))
  await stage.until('the trial is passed', () => isPromoted(world, `${GOOD}@${version}`))
}

async function breakSyntax({ world, timeline, admin, warnings, ...stage }: Stage): Promise<void> {
  timeline.act('Break its syntax: rejected before any restart')
  const { pid } = world.systemd
  await admin.editConfigMap(GOOD, BROKEN_CONFIG)
  await stage.until('the Node says so', () => errorOf(world) === LOAD_ERROR)
  await stage.until('an event says why', () => warnings.includes('KubeletConfigRejected'))
  await stage.until('kubelet keeps running', async () => world.systemd.pid === pid && (await runs(world, 50)))
  timeline.say('kubelet', `is still process ${pid}, with maxPods 50`)
  timeline.show('On disk, the broken version is assigned; kubelet.env still names the old one:', drawTree(world.stateDir))
}

/** @returns the version that must not be promoted */
async function assignCrashing({ world, timeline, admin, warnings, ...stage }: Stage): Promise<string> {
  timeline.act('Assign a config that would make kubelet exit on this node: rejected before any restart')
  const { pid } = world.systemd
  await admin.createConfigMap(BRICK, brickConfig(world.healthzPort))
  await admin.assign(BRICK)
  await stage.until('the agent rejects it', () => world.agent.has('cgroupRoot names a cgroup that does not exist'))
  await stage.until('the Node says so', () => /failed to validate config/.test(errorOf(world)))
  if (world.systemd.pid !== pid) throw new Error('kubelet was restarted with a config that preflight rejects')
  timeline.say('kubelet', `is still process ${pid}, with maxPods 50`)

  timeline.act('Assign a config that passes every check, but makes kubelet exit: rolled back')
  const version = await admin.createConfigMap(RISKY, crashingConfig(world.healthzPort))
  await admin.assign(RISKY)
  await stage.until('the Node says so', () => /crash-looped; rolled back to last-known-good/.test(errorOf(world)))
  await stage.until('an event says why', () => warnings.includes('KubeletConfigRolledBack'))
  await stage.until('kubelet runs the last-known-good', () => runs(world, 50))
  tellConfigz(timeline, world, 50)
  await stage.until('the verdict is confirmed', () => world.agent.has('verdict confirmed'))
  timeline.show('On disk, after the rollback; this version is not tried again:', drawTree(world.stateDir))
  return `${RISKY}@${version}`
}

async function loseApiServer({ world, timeline, admin, ...stage }: Stage): Promise<void> {
  timeline.act('Stop the API server: kubelet keeps running. Start it again: the next edit is picked up')
  const { pid } = world.systemd
  await world.api.stop()
  timeline.say('api', 'stops')
  await stage.until('the agent notices', () => world.agent.has(`/api/v1/nodes/${NODE} cannot be followed`))
  const repaired = podsConfig(world.healthzPort, 80)
  await admin.editConfigMap(RISKY, repaired).then(
    () => Promise.reject(new Error('the API server is stopped, but it answers')),
    (error: unknown) => timeline.say('you', `${error instanceof Error ? error.message : error}`, true),
  )
  await stage.until('kubelet keeps running', async () => world.systemd.pid === pid && (await runs(world, 50)))
  timeline.say('kubelet', `is still process ${pid}, with maxPods 50`)
  await world.api.start()
  timeline.say('api', 'runs again')
  const version = await admin.editConfigMap(RISKY, repaired)
  await stage.until('kubelet runs the edit', () => runs(world, 80))
  await stage.until('the trial is passed', () => isPromoted(world, `${RISKY}@${version}`))
}

async function removeAssignment({ world, timeline, admin, ...stage }: Stage): Promise<void> {
  timeline.act('Remove the assignment: back to the local config that the node was provisioned with')
  await admin.assign(undefined)
  await stage.until('kubelet runs its local config', () => runs(world, LOCAL_PODS))
  tellConfigz(timeline, world, LOCAL_PODS)
  await stage.until('the Node shows an empty status.config', () => JSON.stringify(world.configOnNode()) === '{}')
  timeline.show('On disk, without kubelet.env:', drawTree(world.stateDir))
}

async function runs(world: World, maxPods: number): Promise<boolean> {
  return (await world.configz())?.maxPods === maxPods
}

function tellConfigz(timeline: Timeline, { healthzPort }: World, maxPods: number): void {
  timeline.say('you', `curl -s localhost:${healthzPort}/configz | jq .kubeletconfig.maxPods   # ${maxPods}`)
}

function isPromoted(world: World, source: string): boolean {
  const status = world.status()
  return status !== 'absent' && nameSource(status.lastKnownGood) === source && status.error === ''
}

function errorOf(world: World): string {
  const status = world.status()
  return status === 'absent' ? '' : status.error
}
