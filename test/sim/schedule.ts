// SPDX-License-Identifier: Apache-2.0
/**
 * A schedule: what happens to a simulated node, and when. Pure data, made from a seed. Times are in
 * seconds since the previous event. They range from zero to more than half an hour, so events meet
 * the agent in every phase.
 */
import { type Behaviour, BREAKING, type LocalBase } from './behaviour.ts'
import { makeNodeKind, type NodeKind } from './node-kind.ts'
import { type Random, seededRandom } from './random.ts'
import type { SystemctlFault } from './sim-systemctl.ts'
import { EVICTIONS, type Trouble } from './sim-troubles.ts'

export type WorldEvent =
  | { readonly kind: 'assign'; readonly name: string }
  | { readonly kind: 'unassign' }
  | { readonly kind: 'assign-nothing-known' }
  /** Creates the ConfigMap if it does not exist. */
  | { readonly kind: 'edit'; readonly name: string; readonly behaviour: Behaviour }
  | { readonly kind: 'touch-metadata'; readonly name: string }
  /** The same config in other bytes: nothing is restarted for it. */
  | { readonly kind: 'reword'; readonly name: string }
  | { readonly kind: 'delete-config-map'; readonly name: string }
  | { readonly kind: 'restore-etcd'; readonly name: string; readonly behaviour: Behaviour }
  | { readonly kind: 'recreate-node' }
  | { readonly kind: 'api-down'; readonly seconds: number }
  | { readonly kind: 'lose-events'; readonly seconds: number }
  | { readonly kind: 'disk-full'; readonly seconds: number }
  | { readonly kind: 'disk-error'; readonly fault: 'EIO' | 'short-write'; readonly operations: number }
  /** The number of reads of the disk that fail; the agent reads again. */
  | { readonly kind: 'read-error'; readonly reads: number }
  /** `hangs`: it accepts connections, and never answers. */
  /** `kills`: kubelet exits after so many seconds of it, too. */
  | { readonly kind: 'runtime-down'; readonly seconds: number; readonly hangs?: boolean; readonly kills?: number }
  | { readonly kind: 'node-fault'; readonly seconds: number }
  | { readonly kind: 'trouble'; readonly trouble: Trouble; readonly seconds: number }
  /** A pod fails for a reason that no config has caused. */
  | { readonly kind: 'evict'; readonly eviction: number }
  | { readonly kind: 'restart-agent'; readonly afterSeconds: number }
  | { readonly kind: 'kill-kubelet' }
  /** kubelet ends without an error. */
  | { readonly kind: 'end-kubelet' }
  /** For so long a unit that kubelet's requires fails. `at`: with what comes then. */
  | { readonly kind: 'dependency-fails'; readonly seconds: number; readonly at?: 'restart' | 'exit' }
  | { readonly kind: 'restart-kubelet' }
  | { readonly kind: 'stop-kubelet'; readonly seconds: number; readonly bars?: 'masked' | 'disabled' }
  /** A package may replace kubelet's file and leave the old process running. */
  | { readonly kind: 'upgrade-kubelet'; readonly restarts?: boolean }
  | { readonly kind: 'reboot' }
  | { readonly kind: 'power-loss' }
  | { readonly kind: 'clock-jump'; readonly seconds: number }
  /** Nothing on the node runs for so long. */
  | { readonly kind: 'suspend'; readonly seconds: number; readonly halts: boolean }
  | { readonly kind: 'pause'; readonly seconds: number }
  /** An annotation on the Node or on the named ConfigMap. */
  | { readonly kind: 'pause-in-cluster'; readonly on: 'Node' | 'ConfigMap'; readonly name: string; readonly seconds: number }
  | { readonly kind: 'reset'; readonly seconds: number }
  | { readonly kind: 'rollback' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'damage-assigned' }
  /** Replaces the node's overlay files. */
  | { readonly kind: 'edit-overlay'; readonly behaviour: Behaviour }
  | { readonly kind: 'remove-overlay' }
  /** Makes the overlay unreadable for a time. */
  | { readonly kind: 'spoil-overlay'; readonly seconds: number }
  /** Assigns the other key of the same ConfigMap. */
  | { readonly kind: 'switch-key' }
  | { readonly kind: 'read-only-disk'; readonly seconds: number }
  | { readonly kind: 'systemctl-fails'; readonly fault: SystemctlFault; readonly seconds: number }
  | { readonly kind: 'lose-runtime' }
  | { readonly kind: 'lose-state'; readonly afterSeconds: number }
  | { readonly kind: 'preflight-fails'; readonly seconds: number }
  | { readonly kind: 'drain'; readonly seconds: number }
  /** The administrator writes the config file that kubelet was provisioned with. */
  /** `base`: what it is for parts. `seconds`: for how long it is unusable. */
  | { readonly kind: 'edit-local'; readonly base?: LocalBase; readonly seconds?: number }

export interface Timed {
  readonly afterSeconds: number
  readonly event: WorldEvent
}

export interface Schedule {
  readonly seed: number
  /** Where it is not the plain one. */
  readonly node?: Partial<NodeKind>
  readonly events: readonly Timed[]
}

const NAMES = ['red', 'blue'] as const
const BEHAVIOURS: readonly [Behaviour, ...Behaviour[]] = [
  'good',
  'good',
  'good',
  'good',
  'syntax-error',
  'invalid',
  'slow-start',
  'crash-at-start',
  'crash-later',
  'never-healthy',
  'never-ready',
  'needs-drain',
  'moves-healthz',
  'without-healthz',
  'moves-runtime',
  'moves-to-dead-runtime',
  'kills-runtime',
  'slow-crash-loop',
  'loses-health',
  'fails-after-promotion',
  'good-until-upgrade',
]

export function makeSchedule(seed: number): Schedule {
  const random = seededRandom(seed)
  const events: Timed[] = [
    { afterSeconds: 0, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
    { afterSeconds: 1, event: { kind: 'assign', name: 'red' } },
  ]
  const count = random.between(2, 9)
  for (let index = 0; index < count; index += 1) events.push({ afterSeconds: makePause(random), event: makeEvent(random) })
  const overlaid = withExtras(events, seededRandom(seed ^ 0x0e1a), makeOverlayEvent)
  const faulty = withExtras(overlaid, seededRandom(seed ^ 0xfa17), makeFault)
  const node = makeNodeKind(seed)
  const breaking = node.evidence ? withExtras(faulty, seededRandom(seed ^ 0xe71d), makeBreakingEdit) : faulty
  const merged = node.parts ? withExtras(breaking, seededRandom(seed ^ 0xba5e), makeLocalEdit) : breaking
  const suspended = withExtras(merged, seededRandom(seed ^ 0x51ee), makeSuspend)
  const reworded = withExtras(suspended, seededRandom(seed ^ 0x4e3d), makeReword)
  const hard = withExtras(reworded, seededRandom(seed ^ 0x4a46), makeHardship, HARDSHIP_SHARE)
  const leaving = withExtras(hard, seededRandom(seed ^ 0x95041), makeLeavingEdit, HARDSHIP_SHARE)
  const resetting = withExtras(leaving, seededRandom(seed ^ 0x4e5e7), makeReset, HARDSHIP_SHARE)
  const intervened = withExtras(resetting, seededRandom(seed ^ 0x7e50), makeIntervention, INTERVENTION_SHARE)
  const left = withExtras(intervened, seededRandom(seed ^ 0xd093), makeDown, INTERVENTION_SHARE)
  const troubled = withExtras(left, seededRandom(seed ^ 0x70b1), makeTrouble, INTERVENTION_SHARE)
  const paused = withPauses(troubled, seededRandom(seed ^ 0x9a05e))
  const followed = withSequels(paused, seededRandom(seed ^ 0x5e9e1))
  return { seed, node, events: [...followed, ...makeLoop(seededRandom(seed ^ 0x100b5))] }
}

/**
 * Adds more events to every second schedule. They have random numbers of their own, so the other
 * events of a seed do not depend on them.
 */
function withExtras(events: readonly Timed[], random: Random, make: (random: Random) => WorldEvent, share = 0.4): Timed[] {
  if (random.chance(0.5)) return [...events]
  return events.flatMap((timed) => (random.chance(share) ? [{ afterSeconds: makePause(random), event: make(random) }, timed] : [timed]))
}

/** An editor pauses the ConfigMap while what was edited is on trial. */
function withPauses(events: readonly Timed[], random: Random): Timed[] {
  return events.flatMap((timed) => {
    if (timed.event.kind !== 'edit' || !random.chance(PAUSED_SHARE)) return [timed]
    const { name } = timed.event
    const seconds = random.pick([random.between(60, 300), random.between(300, 2000)])
    return [timed, { afterSeconds: random.between(1, 60), event: { kind: 'pause-in-cluster', on: 'ConfigMap', name, seconds } }]
  })
}

const PAUSED_SHARE = 0.15

/** While what breaks the node is on trial, an edit comes that has to wait, or the agent ends. */
function withSequels(events: readonly Timed[], random: Random): Timed[] {
  return events.flatMap((timed) => {
    const { event } = timed
    if (event.kind !== 'edit' || !BREAKING.includes(event.behaviour) || random.chance(0.5)) return [timed]
    const waiting = { kind: 'edit', name: event.name, behaviour: 'needs-drain' } as const
    const sequel = random.pick<WorldEvent>([waiting, waiting, { kind: 'restart-agent', afterSeconds: random.between(0, 20) }])
    return [timed, { afterSeconds: random.between(30, 100), event: sequel }]
  })
}

/** At the end, a config with which kubelet exits however healthy it is in between. */
function makeLoop(random: Random): Timed[] {
  if (!random.chance(LOOP_SHARE)) return []
  const behaviour = random.pick(['slow-crash-loop', 'exits-seldom'] as const)
  const assign: Timed = { afterSeconds: makePause(random), event: { kind: 'assign', name: 'red' } }
  const edit: Timed = { afterSeconds: 0, event: { kind: 'edit', name: 'red', behaviour } }
  return behaviour === 'slow-crash-loop'
    ? [assign, edit]
    : [assign, edit, { afterSeconds: TEN_SELDOM_EXITS_SECONDS, event: { kind: 'touch-metadata', name: 'red' } }]
}

const LOOP_SHARE = 0.08
const TEN_SELDOM_EXITS_SECONDS = 31 * 3600

function makeOverlayEvent(random: Random): WorldEvent {
  return random.pick<WorldEvent>([
    { kind: 'edit-overlay', behaviour: 'good' },
    { kind: 'edit-overlay', behaviour: pickBehaviour(random) },
    { kind: 'edit-overlay', behaviour: pickBehaviour(random) },
    { kind: 'remove-overlay' },
    { kind: 'switch-key' },
    { kind: 'switch-key' },
    { kind: 'spoil-overlay', seconds: random.between(1, 1000) },
  ])
}

/** Longer than a look may be late: what is shorter cannot be told from a busy node. */
function makeSuspend(random: Random): WorldEvent {
  return { kind: 'suspend', seconds: random.pick([random.between(20, 300), random.between(300, 50_000)]), halts: random.chance(0.5) }
}

function makeLocalEdit(random: Random): WorldEvent {
  return random.pick<WorldEvent>([
    { kind: 'edit-local' },
    { kind: 'edit-local' },
    { kind: 'edit-local', base: pickBehaviour(random) },
    { kind: 'edit-local', base: 'unusable', seconds: random.between(1, 1000) },
  ])
}

function makeReword(random: Random): WorldEvent {
  return { kind: 'reword', name: random.pick(NAMES) }
}

function makeBreakingEdit(random: Random): WorldEvent {
  return { kind: 'edit', name: random.pick(NAMES), behaviour: random.pick(BREAKING) }
}

/** Other faults that happen to nodes. */
function makeFault(random: Random): WorldEvent {
  const seconds = random.pick([random.between(1, 15), random.between(15, 100), random.between(100, 1000)])
  return random.pick<WorldEvent>([
    { kind: 'read-only-disk', seconds },
    { kind: 'systemctl-fails', fault: random.pick(['down', 'refuses', 'late'] as const), seconds },
    { kind: 'lose-runtime' },
    { kind: 'lose-state', afterSeconds: random.between(0, 100) },
    { kind: 'preflight-fails', seconds },
    { kind: 'drain', seconds },
    { kind: 'edit-local' },
    { kind: 'upgrade-kubelet', restarts: false },
  ])
}

/** Of the events, which are many by then. */
const HARDSHIP_SHARE = 0.15

/** The fault that was brought into the world last: the events of earlier seeds stay as they are. */
function makeHardship(random: Random): WorldEvent {
  return { kind: 'runtime-down', hangs: true, seconds: random.pick([random.between(5, 100), random.between(100, 1000)]) }
}

function makeLeavingEdit(random: Random): WorldEvent {
  return { kind: 'edit', name: random.pick(NAMES), behaviour: 'leaves-state' }
}

function makeReset(random: Random): WorldEvent {
  return random.pick<WorldEvent>([{ kind: 'edit', name: random.pick(NAMES), behaviour: 'resets-node' }, { kind: 'reboot' }])
}

const INTERVENTION_SHARE = 0.25

/** Acts of somebody else on kubelet, in the middle of the agent's own. */
function makeIntervention(random: Random): WorldEvent {
  const seconds = random.between(150, 500)
  return random.pick<WorldEvent>([
    { kind: 'restart-kubelet' },
    { kind: 'restart-kubelet' },
    { kind: 'runtime-down', seconds, kills: random.between(40, 100) },
    { kind: 'runtime-down', seconds, hangs: random.chance(0.5), kills: random.between(40, 100) },
  ])
}

/** The weights of what happens by itself; none of it is a config's doing. */
const TROUBLES: readonly [Trouble | 'evict', ...(Trouble | 'evict')[]] = ['evict', 'not-ready', 'api-busy', 'starved', 'identity-varies']

function makeTrouble(random: Random): WorldEvent {
  const seconds = random.pick([random.between(5, 60), random.between(60, 600)])
  const trouble = random.pick(TROUBLES)
  return trouble === 'evict' ? { kind: 'evict', eviction: random.between(0, EVICTIONS.length) } : { kind: 'trouble', trouble, seconds }
}

/** Kubelet is down, and systemd does not start it again. */
function makeDown(random: Random): WorldEvent {
  const seconds = random.pick([random.between(1, 60), random.between(60, 600)])
  return random.pick<WorldEvent>([
    { kind: 'dependency-fails', seconds },
    { kind: 'dependency-fails', seconds, at: 'exit' },
    { kind: 'dependency-fails', seconds, at: 'restart' },
    { kind: 'end-kubelet' },
    { kind: 'edit', name: random.pick(NAMES), behaviour: 'ends-cleanly' },
    { kind: 'edit', name: random.pick(NAMES), behaviour: 'good' },
    { kind: 'stop-kubelet', seconds, bars: random.pick(['masked', 'disabled'] as const) },
  ])
}

/** Behaviours that go on for hours of simulated time: few are enough. */
const LONG: readonly Behaviour[] = ['kills-runtime', 'slow-crash-loop']

function pickBehaviour(random: Random): Behaviour {
  const behaviour = random.pick(BEHAVIOURS)
  return LONG.includes(behaviour) && random.chance(0.8) ? 'good' : behaviour
}

function makePause(random: Random): number {
  return random.pick([0, random.between(1, 15), random.between(15, 60), random.between(60, 300), random.between(300, 2000)])
}

function makeEvent(random: Random): WorldEvent {
  const name = random.pick(NAMES)
  const edit: WorldEvent = { kind: 'edit', name, behaviour: pickBehaviour(random) }
  const seconds = random.pick([random.between(1, 15), random.between(15, 100), random.between(100, 1000)])
  return random.pick<WorldEvent>([
    edit,
    edit,
    edit,
    edit,
    edit,
    edit,
    { kind: 'assign', name },
    { kind: 'assign', name },
    { kind: 'unassign' },
    { kind: 'assign-nothing-known' },
    { kind: 'touch-metadata', name },
    { kind: 'delete-config-map', name },
    { kind: 'restore-etcd', name, behaviour: pickBehaviour(random) },
    { kind: 'recreate-node' },
    { kind: 'api-down', seconds },
    { kind: 'lose-events', seconds },
    { kind: 'disk-full', seconds },
    { kind: 'disk-error', fault: random.pick(['EIO', 'short-write'] as const), operations: random.between(1, 20) },
    { kind: 'read-error', reads: random.between(1, 20) },
    { kind: 'runtime-down', seconds },
    { kind: 'node-fault', seconds },
    { kind: 'restart-agent', afterSeconds: random.between(0, 100) },
    { kind: 'kill-kubelet' },
    { kind: 'restart-kubelet' },
    { kind: 'stop-kubelet', seconds },
    { kind: 'upgrade-kubelet' },
    { kind: 'reboot' },
    { kind: 'power-loss' },
    { kind: 'clock-jump', seconds: random.between(-100_000, 100_000) },
    { kind: 'pause', seconds },
    { kind: 'pause-in-cluster', on: random.pick(['Node', 'ConfigMap'] as const), name, seconds },
    { kind: 'reset', seconds },
    { kind: 'rollback' },
    { kind: 'retry' },
    { kind: 'damage-assigned' },
  ])
}
