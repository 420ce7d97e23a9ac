// SPDX-License-Identifier: Apache-2.0
/**
 * Writes down what the agent does in a simulated run, as others see it: what it changes on the
 * disk, its commands, its log, its history and events, what it reports of the node, and when it
 * looks again. How the agent represents that in memory leaves no trace, so a refactoring can change
 * it.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { PassObserver } from '../../src/agent/loop.ts'
import type { Transition } from '../../src/decision/records.ts'
import type { Log } from '../../src/ports/log.ts'
import { NO_COUNTERS } from '../../src/report/counters.ts'
import { eventOf } from '../../src/report/events.ts'
import { parseHistory } from '../../src/report/history.ts'
import { type Condition, describeDegraded } from '../../src/report/reasons.ts'
import { Reporter } from '../../src/report/reporter.ts'
import { SyncFaults } from '../../src/report/sync-faults.ts'
import { errorMessage } from '../../src/values/errors.ts'
import type { FakeDisk, FakeStep } from '../checkpoint/fake/fake-disk.ts'
import { makeCrash } from './crash.ts'
import { LEAVINGS, REGRESSIONS } from './regressions.ts'
import { type RunOptions, runSchedule } from './run.ts'
import { makeSchedule, type Schedule } from './schedule.ts'
import type { SimWorld } from './sim-world.ts'
import { STORIES, scheduleOf } from './stories.ts'
import { isCrashed } from './sweep.ts'

const NODE = 'node-1'

/** Of the schedules that are kept by name. */
export const NAMES: readonly string[] = [...Object.keys(REGRESSIONS), ...Object.keys(LEAVINGS), ...Object.keys(STORIES)]

/** @param name one of NAMES, or a seed */
export async function traceOf(name: string): Promise<string> {
  const schedule = REGRESSIONS[name] ?? LEAVINGS[name] ?? (Object.hasOwn(STORIES, name) ? scheduleOf(name) : undefined)
  if (schedule !== undefined) return recordRun(schedule)
  const seed = Number(name)
  return recordRun(makeSchedule(seed), isCrashed(seed) ? { crash: makeCrash(seed) } : {})
}

export function hashOf(trace: string): string {
  return createHash('sha256').update(trace).digest('hex').slice(0, 16)
}

export async function recordRun(schedule: Schedule, options: Pick<RunOptions, 'crash' | 'onWorld'> = {}): Promise<string> {
  const recorder = new Recorder()
  const onWorld = (world: SimWorld) => {
    options.onWorld?.(world)
    recorder.watch(world)
  }
  try {
    const settled = await runSchedule(schedule, { ...options, ...recorder.options, onWorld })
    recorder.add('settled', settled)
  } catch (error) {
    recorder.add('failed', errorMessage(error))
  }
  recorder.end()
  return recorder.lines.join('')
}

class Recorder {
  readonly lines: string[] = []
  #world: SimWorld | undefined
  #sizeBefore = 0
  /** The last report of each kind. */
  readonly #reported = new Map<string, string>()

  readonly #log: Log = { debug: this.#logAs('debug'), info: this.#logAs('info'), warn: this.#logAs('warn'), error: this.#logAs('error') }

  readonly options: RunOptions = {
    log: this.#log,
    onEvent: (event) => this.add('happens', event),
    observe: (world) => this.#observe(world),
  }

  add(what: string, ...facts: readonly unknown[]): void {
    this.lines.push(`${[this.#world?.nowUs ?? 0, what, ...facts.map(show)].join(' ')}\n`)
  }

  /** The names that renames have left. */
  end(): void {
    const world = this.#world
    if (world !== undefined) world.faults.lookAside(() => this.add('left', listFiles(world.disk, '/')))
  }

  #logAs(level: keyof Log): Log['info'] {
    return (message, fields) => this.add(level, message, fields)
  }

  watch(world: SimWorld): void {
    this.#world = world
    const { disk } = world
    const { onStep } = disk
    disk.onStep = (step, phase) => {
      world.faults.lookAside(() => this.#sawDisk(world, step, phase))
      onStep?.(step, phase)
    }
    world.checkRestart.push(() => this.add('restarts kubelet'))
    world.onKubelet.push({
      started: ({ startedBy, text }) => this.add('kubelet is started', startedBy, text),
      exited: (_process, said) => this.add('kubelet exits', said),
    })
  }

  #sawDisk({ disk }: SimWorld, { kind, path }: FakeStep, phase: 'before' | 'after'): void {
    if (phase === 'before') {
      this.#sizeBefore = kind === 'append' ? (disk.stat(path)?.size ?? 0) : 0
      return
    }
    if (kind !== 'write' && kind !== 'append') {
      this.add(kind, path)
      return
    }
    const text = disk.read(path).subarray(this.#sizeBefore).toString()
    this.add(kind, path, text)
    if (path.endsWith('/history.jsonl')) for (const transition of parseHistory(text).transitions) this.#tell(transition)
  }

  #tell(transition: Transition): void {
    const event = eventOf(transition, NODE)
    if (event !== undefined) this.add('event', event)
  }

  /**
   * The reports that a real agent would publish. Its reporter writes nothing to the simulated disk.
   */
  #observe(world: SimWorld): PassObserver {
    const reporter = new Reporter({
      clock: { now: () => world.now() },
      log: this.#log,
      counters: NO_COUNTERS,
      agentVersion: 'traced',
      syncFaults: new SyncFaults((transition) => {
        this.add('history', transition)
        this.#tell({ ...transition, atNs: '0' })
      }, []),
      warnings: { see: () => [], otherwise: () => undefined },
      publish: (status, trial, summary) => {
        this.#report('status', status)
        this.#report('trial', trial)
        if (summary === undefined) return
        this.#report('annotation', summary.annotation, summary.slotUs)
        this.#reportCondition(summary.condition)
      },
      publishCondition: (condition) => this.#reportCondition(condition),
    })
    return {
      decided: (snapshot, step) => {
        if (step.kind === 'wait') this.add('waits', step.phase, step.detail, step.untilUs)
        else this.add('steps', step.kind)
        reporter.decided(snapshot, step)
      },
      turned: (step, snapshot) => reporter.turned(step, snapshot),
    }
  }

  #reportCondition(condition: Condition): void {
    this.#report('condition', condition, describeDegraded(condition))
  }

  /** A value that stays is not written again. */
  #report(what: string, ...facts: readonly unknown[]): void {
    const text = show(facts)
    if (this.#reported.get(what) === text) return
    this.#reported.set(what, text)
    this.add(what, ...facts)
  }
}

function listFiles(disk: FakeDisk, path: string): readonly string[] {
  if (disk.stat(path)?.kind !== 'directory') return [path]
  return disk
    .list(path)
    .sort()
    .flatMap((name) => listFiles(disk, join(path, name)))
}

/** The message of an error: its stack names files. */
function show(fact: unknown): string {
  return JSON.stringify(fact, (_key, value) => (value instanceof Error ? errorMessage(value) : value)) ?? '-'
}
