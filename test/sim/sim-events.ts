// SPDX-License-Identifier: Apache-2.0
/** The effect of each event of a schedule on the simulated node. */
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { isLocalText, type LocalBase } from './behaviour.ts'
import { DIRECTORY } from './paths.ts'
import type { WorldEvent } from './schedule.ts'
import { EVICTIONS } from './sim-troubles.ts'
import type { SimWorld } from './sim-world.ts'

/** Faults of the disk end after this time, used up or not. */
const LONGEST_FAULT_SECONDS = 600

export function applyEvent(world: SimWorld, event: WorldEvent): void {
  const { cluster, disk, faults, files, overlay, unit, nowUs } = world
  switch (event.kind) {
    case 'assign':
      cluster.assign(event.name, nowUs)
      return
    case 'unassign':
      cluster.assign(undefined, nowUs)
      return
    case 'assign-nothing-known':
      cluster.assignNothingKnown(nowUs)
      return
    case 'edit':
      cluster.edit(event.name, world.newText(event.behaviour), nowUs)
      return
    case 'touch-metadata':
      cluster.touchMetadata(event.name, nowUs)
      return
    case 'reword':
      cluster.reword(event.name, nowUs)
      return
    case 'delete-config-map':
      cluster.delete(event.name, nowUs)
      return
    case 'switch-key':
      cluster.switchKey(nowUs)
      return
    case 'restore-etcd':
      // Nothing tells what kubelet was started with: its checkpoint is lost, and the record in /run
      // is lost too, or no agent has seen the process.
      if (isUnrecorded(world) && unit.process?.isUntraceable === true && isReplaced(world)) return
      world.wasRestored = true
      cluster.restoreEtcd(event.name, world.newText(event.behaviour), nowUs)
      return
    case 'recreate-node':
      cluster.recreateNode(nowUs)
      return
    case 'api-down':
      cluster.goDown(nowUs, event.seconds)
      return
    case 'lose-events':
      cluster.loseEvents(nowUs, event.seconds)
      return
    case 'disk-full':
      disk.full = true
      world.after(event.seconds, () => {
        disk.full = false
      })
      return
    case 'disk-error':
      faults.failWrites(event.fault, event.operations)
      world.after(LONGEST_FAULT_SECONDS, () => faults.repairWrites())
      return
    case 'read-error':
      faults.failReads(event.reads)
      world.after(LONGEST_FAULT_SECONDS, () => faults.repairReads())
      return
    case 'runtime-down':
      unit.runtime.goDown(event.seconds, event.hangs === true)
      // By evidence, a runtime that is silent is the fault of the config that moved kubelet to it.
      if (unit.runtime.isNewlyUsed && unit.process !== undefined) world.suffer(unit.process.text)
      if (event.kills !== undefined) world.after(event.kills, () => killKubelet(world))
      return
    case 'node-fault':
      unit.nodeFault(event.seconds)
      return
    case 'restart-agent':
      world.agentDead = true
      world.agentFromUs = nowUs + (world.kind.standby ? 0 : event.afterSeconds * 1e6)
      return
    case 'kill-kubelet':
      killKubelet(world)
      return
    case 'trouble':
      world.troubles.begin(event.trouble, event.seconds)
      if (event.trouble === 'not-ready') {
        // The network that is away is one more thing that such a config may have broken.
        if (unit.runtime.isMoved && unit.process !== undefined) world.suffer(unit.process.text)
      }
      world.after(event.seconds, () => {
        world.woken = true
      })
      return
    case 'evict':
      world.troubles.evictions.push(EVICTIONS[event.eviction] ?? EVICTIONS[0])
      return
    case 'end-kubelet':
      if (unit.process !== undefined) world.suffer(unit.process.text)
      unit.exit(true)
      return
    case 'dependency-fails':
      unit.failDependency(event.seconds)
      world.after(event.seconds, () => {})
      if (event.at === 'exit') killKubelet(world)
      if (event.at === 'restart') unit.restartByOperator()
      return
    case 'restart-kubelet':
      unit.restartByOperator()
      return
    case 'stop-kubelet':
      // Of what the agent's job took down, `disabled` does not tell who wants it down.
      unit.barred = event.bars !== undefined && unit.isLeftDown ? 'masked' : event.bars
      unit.stopByOperator()
      world.after(event.seconds, () => unit.startByOperator())
      return
    case 'upgrade-kubelet':
      world.doubts.forgetPromotions()
      world.unreadable.forgetPromotions()
      unit.upgrade(event.restarts !== false)
      return
    case 'reboot':
      world.reboot()
      return
    case 'power-loss':
      world.losePower()
      return
    case 'suspend':
      world.clock.suspend(event.seconds, event.halts)
      if (!event.halts) unit.freeze(event.seconds * 1e6)
      return
    case 'clock-jump':
      world.clock.jump(event.seconds)
      return
    case 'pause':
      hold(world, 'paused', event.seconds)
      return
    case 'pause-in-cluster':
      cluster.pause(event.on, event.name, true, nowUs)
      world.after(event.seconds, () => cluster.pause(event.on, event.name, false, world.nowUs))
      return
    case 'reset':
      hold(world, 'local', event.seconds)
      return
    case 'rollback':
      world.victims.rolledBack(world.nextText() ?? '')
      world.onRequest?.('rollback')
      world.woken = true
      return
    case 'retry':
      world.onRequest?.('retry')
      world.woken = true
      return
    case 'damage-assigned':
      if (files.read(layoutOf(DIRECTORY).record('assigned')) !== undefined) disk.plant(layoutOf(DIRECTORY).record('assigned'), 'gar\0bage')
      world.woken = true
      return
    case 'edit-overlay':
      overlay.edit(event.behaviour)
      world.woken = true
      return
    case 'remove-overlay':
      overlay.remove()
      world.woken = true
      return
    case 'read-only-disk':
      faults.readOnly = true
      world.after(event.seconds, () => {
        faults.readOnly = false
      })
      return
    case 'systemctl-fails':
      unit.systemctl.fail(event.fault, event.seconds)
      world.after(event.seconds, () => {})
      return
    case 'lose-runtime':
      if (isOnlyInRuntime(world) && world.wasRestored) return
      // Nobody knows any more what kubelet was started with before the file was written.
      world.lostStamp ||= world.kind.activation !== 'env' && isOnlyInRuntime(world)
      // The agent keeps what it has read of it, as it keeps the files that it has open.
      world.loseRuntime()
      world.agentDead = true
      world.agentFromUs = nowUs + 1e6
      return
    case 'lose-state':
      // Nothing would tell two contents of one version from each other.
      if (world.wasRestored) return
      unit.loseBytes(files.read(layoutOf(DIRECTORY).sameContents) !== undefined)
      world.loseState()
      world.agentDead = true
      world.agentFromUs = nowUs + event.afterSeconds * 1e6
      return
    case 'preflight-fails':
      world.preflightFailsUntilUs = nowUs + event.seconds * 1e6
      world.after(event.seconds, () => {})
      return
    case 'drain':
      world.drained = true
      if (world.kind.managers) {
        world.hasPinnedPods = true
        world.after(Math.min(300, event.seconds / 4), () => {
          world.hasPinnedPods = false
        })
      }
      world.after(event.seconds, () => {
        if (world.drained !== 'for good') world.drained = false
      })
      return
    case 'edit-local':
      editLocal(world, event.base)
      if (event.base === 'unusable') world.after(event.seconds ?? 0, () => editLocal(world))
      return
    case 'spoil-overlay':
      overlay.spoil()
      world.woken = true
      world.after(event.seconds, () => {
        overlay.edit('good')
        world.woken = true
      })
      return
  }
}

function killKubelet(world: SimWorld): void {
  const { unit } = world
  if (unit.process !== undefined) world.suffer(unit.process.text)
  unit.exit()
}

/** Whether /run says nothing of the process. */
function isUnrecorded({ hasLostRuntime, seenInvocation, unit }: SimWorld): boolean {
  return hasLostRuntime || seenInvocation !== unit.invocationId
}

/** Whether only /run says what kubelet was started with. */
function isOnlyInRuntime(world: SimWorld): boolean {
  if (world.kind.activation !== 'env') return world.unit.process?.text !== world.nextText()
  // After a restore of etcd the same version comes with other content.
  return world.wasRestored && isReplaced(world)
}

/** Whether the checkpoint that kubelet was started from is gone, or holds other content. */
function isReplaced(world: SimWorld): boolean {
  const { process } = world.unit
  return process !== undefined && !isLocalText(process.text) && world.textIn(process.configPath) !== process.text
}

/**
 * A config file that is the same for local and for checkpoints does not tell what kubelet was
 * started with: the agent has to have seen kubelet before it changes. What runs is unknown
 * otherwise.
 */
function editLocal(world: SimWorld, base?: LocalBase): void {
  const isSeen = world.kind.activation === 'env' || world.seenInvocation === world.unit.invocationId
  if (isSeen) world.editLocal(base)
  else world.after(20, () => editLocal(world, base))
  world.woken = true
}

function hold(world: SimWorld, request: 'paused' | 'local', seconds: number): void {
  world.onRequest?.(request)
  world.woken = true
  world.after(seconds, () => resume(world))
}

/**
 * An operator who releases a node reads the command's error and repeats the command until it
 * succeeds.
 */
function resume(world: SimWorld): void {
  world.woken = true
  if (world.onRequest?.('resume') === false) world.after(60, () => resume(world))
}
