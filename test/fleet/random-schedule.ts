// SPDX-License-Identifier: Apache-2.0
/**
 * A fleet and what happens to it, from a seed: everything that the design names, in random order.
 */
import { type Random, seededRandom } from '../sim/random.ts'
import { type Content, contentOf, type Nature } from './content.ts'
import type { ApiFaults } from './fleet-api.ts'
import type { Traits } from './fleet-node.ts'
import { withTroubles } from './random-troubles.ts'
import type { FleetEvent, Lie, PlacedNode, Schedule } from './schedule.ts'
import { withZonesAndWindows } from './windows.ts'

const HOUR = 3600
const QUIET: ApiFaults = { lost: 0, latencyUs: [5_000, 100_000] }

/** @param nodeCount undefined: from 1 to 20 */
export function randomSchedule(seed: number, nodeCount?: number): Schedule {
  const zoned = withZonesAndWindows(scheduleWithoutTroubles(seed, nodeCount), seededRandom(seed * 4001 + 1))
  return withTroubles(zoned, seededRandom(seed * 5003 + 1))
}

/** As each seed was before zones, windows and troubles. */
export function scheduleWithoutTroubles(seed: number, nodeCount?: number): Schedule {
  return withExclusion(scheduleOf(seed, nodeCount), seededRandom(seed * 6007 + 1))
}

const LIES: readonly [Lie, ...Lie[]] = ['false-proof', 'claim-and-hang', 'claim-as-control-plane', 'veto', 'false-begin', 'garbage']

/**
 * An administrator excludes a node of some fleets at a random time: one that lies, before and
 * afterwards, or one that is suspected of it. Has random numbers of its own, so the other events of
 * a seed do not depend on it.
 */
function withExclusion(schedule: Schedule, random: Random): Schedule {
  const { nodes, configs, events } = schedule
  if (nodes.length < 2 || random.chance(0.7)) return schedule
  const at = random.between(0, nodes.length)
  const { name } = nodes[at]?.traits ?? { name: '' }
  const isLiar = random.chance(0.7)
  const lastSeconds = Math.max(...events.map(({ atSeconds }) => atSeconds)) + 1000
  const lies = Array.from({ length: isLiar ? random.between(4, 20) : 0 }, () => ({
    atSeconds: random.between(60, lastSeconds),
    event: { kind: 'lie', node: at, lie: random.pick(LIES) } as const,
  }))
  const excludedSeconds = random.chance(0.3) ? 1 : random.between(60, lastSeconds)
  const exclusions = configs.map((config) => ({
    atSeconds: excludedSeconds,
    event: { kind: 'exclude', config: config.name, name } as const,
  }))
  return {
    ...schedule,
    nodes: nodes.map((node, index) => (isLiar && index === at ? { ...node, traits: { ...node.traits, liar: true } } : node)),
    events: [...events, ...lies, ...exclusions].sort((a, b) => a.atSeconds - b.atSeconds),
  }
}

function scheduleOf(seed: number, nodeCount?: number): Schedule {
  const random = seededRandom(seed * 7919 + 1)
  const configs = random.chance(0.3) ? ['blue', 'green-config'] : ['blue']
  const hasLiars = random.chance(0.1)
  const small = random.between(1, random.chance(0.5) ? 6 : 21)
  const count = nodeCount ?? small
  const traits = Array.from({ length: count }, (_, index) => randomTraits(random, seed, index, hasLiars))
  const nodes = traits.map(
    (trait): PlacedNode => ({ traits: trait, config: random.chance(0.95) ? random.pick(asPick(configs)) : undefined }),
  )
  const maker = new EventMaker(random, seed, count, configs)
  const calm = random.chance(0.3)
  return {
    seed,
    nodes,
    configs: configs.map((name) => ({ name, content: contentOf(`${seed} ${name} first`, { kind: 'good' }), planText: randomPlan(random) })),
    settled: random.chance(0.9),
    faults: calm ? QUIET : { lost: random.pick([0, 0, 0.02, 0.1]), latencyUs: [5_000, random.pick([100_000, 500_000, 3_000_000])] },
    backgroundFailures: random.chance(0.1) ? 0.05 : 0,
    policy: random.chance(0.7),
    events: calm ? maker.editOnly() : maker.many(hasLiars),
    restSeconds: 14 * HOUR,
  }
}

function asPick<T>(list: readonly T[]): readonly [T, ...T[]] {
  const [first, ...rest] = list
  if (first === undefined) throw new Error('nothing to pick')
  return [first, ...rest]
}

function randomTraits(random: Random, seed: number, index: number, liars: boolean): Traits {
  return {
    name: `node-${index}`,
    uid: `uid-${seed}-${index}`,
    canary: random.chance(0.15),
    controlPlane: random.chance(0.1) && index < 20,
    old: random.chance(0.02),
    slowness: random.chance(0.05) ? 2.5 : 1,
    liar: liars && random.chance(0.2),
    joined: false,
  }
}

function randomPlan(random: Random): string | undefined {
  if (random.chance(0.4)) return undefined
  const lines = [
    random.chance(0.5) ? `waves: ${random.pick(['[10%, 50%, 100%]', '[100%]', '[1%, 10%]', '[25%, 100%]'])}` : '',
    random.chance(0.5) ? `witnesses: ${random.between(1, 6)}` : '',
    random.chance(0.4) ? `maxVetoes: ${random.between(1, 4)}` : '',
    random.chance(0.4) ? `maxSilent: ${random.between(0, 4)}` : '',
    random.chance(0.2) ? 'spread: 10s' : '',
  ]
  return lines.filter((line) => line !== '').join('\n')
}

class EventMaker {
  readonly #random: Random
  readonly #seed: number
  readonly #count: number
  readonly #configs: readonly string[]
  readonly #contents: Content[] = []
  #joined = 0

  constructor(random: Random, seed: number, count: number, configs: readonly string[]) {
    this.#random = random
    this.#seed = seed
    this.#count = count
    this.#configs = configs
  }

  editOnly(): Schedule['events'] {
    return [{ atSeconds: 60, event: this.#edit() }]
  }

  many(liars: boolean): Schedule['events'] {
    const events = [{ atSeconds: this.#random.between(1, 120), event: this.#edit() }]
    let atSeconds = events[0]?.atSeconds ?? 0
    for (let left = this.#random.between(1, 16); left > 0; left -= 1) {
      atSeconds += this.#random.pick([1, 5, 20, 60, 300, 700, 1500, 4000]) * (0.5 + this.#random.next())
      events.push({ atSeconds: Math.round(atSeconds), event: this.#event(liars) })
    }
    return events
  }

  #event(liars: boolean): FleetEvent {
    const random = this.#random
    const config = random.pick(asPick(this.#configs))
    const node = random.between(0, this.#count)
    const forSeconds = random.pick([5, 60, 400, 1200, 6000])
    const lies: readonly [Lie, ...Lie[]] = ['false-proof', 'claim-and-hang', 'veto', 'false-begin', 'garbage']
    if (liars && random.chance(0.3)) return { kind: 'lie', node, lie: random.pick(lies) }
    switch (random.between(0, 18)) {
      case 0:
      case 1:
      case 2:
        return this.#edit()
      case 3:
        return { kind: 'retry', config }
      case 4:
        return { kind: 'plan', config, text: random.chance(0.1) ? 'witnesses: many' : randomPlan(random) }
      case 5:
        return { kind: random.pick(['pause', 'resume']), config }
      case 6:
        return { kind: random.pick(['delete-record', 'make-record', 'make-record', 'garble-record']), config }
      case 7:
        return { kind: 'annotation', config, value: random.pick(['name', 'none', 'none', 'off']) }
      case 8:
        return { kind: 'api-down', forSeconds: random.pick([5, 60, 1200]) }
      case 9:
        return { kind: 'backup' }
      case 10:
        return { kind: 'restore' }
      case 11:
        return { kind: random.pick(['die', 'reboot', 'leave', 'reboot', 'reimage']), node }
      case 12:
      case 13:
      case 14:
        return { kind: random.pick(['sleep', 'partition', 'agent-down', 'not-ready', 'blind']), node, forSeconds }
      case 15:
        return this.#join(config)
      case 16:
        return { kind: 'assign', nodes: this.#someNodes(), config }
      default:
        return { kind: 'agent-down', node, forSeconds: 3 }
    }
  }

  #someNodes(): readonly number[] {
    const all = Array.from({ length: this.#count }, (_, index) => index)
    return this.#random.chance(0.5) ? all : all.filter(() => this.#random.chance(0.3))
  }

  #edit(): FleetEvent {
    const config = this.#random.pick(asPick(this.#configs))
    const [first, ...rest] = this.#contents
    if (first !== undefined && this.#random.chance(0.3)) return { kind: 'edit', config, content: this.#random.pick([first, ...rest]) }
    const content = contentOf(`${this.#seed} ${this.#contents.length}`, this.#nature())
    this.#contents.push(content)
    return { kind: 'edit', config, content }
  }

  #nature(): Nature {
    const random = this.#random
    const afterUs = random.pick([5, 30, 120, 300, 550]) * 1_000_000
    const share = random.pick([1, 1, 0.3, 0.1])
    switch (random.between(0, 6)) {
      case 0:
      case 1:
        return { kind: 'fails', share, afterUs }
      case 2:
        return { kind: 'kills', share, afterUs }
      case 3:
        return { kind: 'fails', share, afterUs: random.pick([700, 1000, 4000]) * 1_000_000 }
      default:
        return { kind: 'good' }
    }
  }

  #join(config: string): FleetEvent {
    this.#joined += 1
    const traits: Traits = {
      name: `joined-${this.#joined}`,
      uid: `uid-${this.#seed}-joined-${this.#joined}`,
      canary: this.#random.chance(0.1),
      controlPlane: this.#random.chance(0.1),
      old: false,
      slowness: 1,
      liar: false,
      joined: true,
    }
    return { kind: 'join', node: { traits, config } }
  }
}
