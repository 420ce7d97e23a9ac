// SPDX-License-Identifier: Apache-2.0
/**
 * The end of an agent whose directory is removed while it runs: systemd makes the directory again
 * when it starts the next agent. This happens at most once in 10 minutes, since whoever removes the
 * directory may do so again and again. /run remembers the last time. If /run is lost too, only an
 * agent that has run for as long ends. Pure, except for the parts that are passed in.
 */
import { join } from 'node:path'
import type { HeldDirectory } from '../checkpoint/node-disk.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Unit } from '../ports/unit.ts'
import type { UnitState } from '../subject/unit-state.ts'
import { MINUTE_US } from '../values/durations.ts'
import { isNumber, isText, parseJson, shape, type TypeOf } from '../values/json-shape.ts'

const AGAIN_US = 10 * MINUTE_US

const isEnd = shape({ bootId: isText, atUs: isNumber })
type End = TypeOf<typeof isEnd>

interface LostDirectoryWorld {
  readonly held: HeldDirectory
  readonly directory: string
  readonly runtimeDir: string
  readonly files: Pick<Files, 'read' | 'makeDirectory' | 'replace'>
  readonly clock: Clock
  /** How long the agent has run. */
  readonly uptimeUs: () => number
}

export class LostDirectory {
  readonly #world: LostDirectoryWorld

  constructor(world: LostDirectoryWorld) {
    this.#world = world
  }

  /**
   * The unit as the agent sees it: without its directory, it knows nothing that a decision needs.
   */
  watch(unit: Pick<Unit, 'observe' | 'stillRuns'>): Pick<Unit, 'observe' | 'stillRuns'> {
    return {
      observe: async () => this.explain(await unit.observe()),
      stillRuns: (seen) => this.explain(seen).kind === 'known' && unit.stillRuns(seen),
    }
  }

  explain(unit: UnitState): UnitState {
    return this.#world.held.isUnlinked() ? { kind: 'unknown', detail: this.#detail } : unit
  }

  /** Why the agent has to end now. undefined: it does not. */
  findOccasion(): string | undefined {
    return this.#world.held.isUnlinked() && this.#mayEnd() ? this.#detail : undefined
  }

  get #detail(): string {
    return `${this.#world.directory} was removed while the agent ran: systemd makes it again when the agent starts`
  }

  #mayEnd(): boolean {
    const { clock, uptimeUs } = this.#world
    const { bootId, monotonicUs } = clock.now()
    const last = this.#read()
    if (last?.bootId === bootId && monotonicUs - last.atUs < AGAIN_US) return false
    return this.#write({ bootId, atUs: monotonicUs }) || uptimeUs() >= AGAIN_US
  }

  #read(): End | undefined {
    try {
      const bytes = this.#world.files.read(this.#path)
      return bytes && parseJson(bytes, isEnd)
    } catch {
      return undefined
    }
  }

  #write(end: End): boolean {
    const { files, runtimeDir } = this.#world
    try {
      files.makeDirectory(runtimeDir)
      files.replace(this.#path, JSON.stringify(end))
      return true
    } catch {
      return false
    }
  }

  get #path(): string {
    return join(this.#world.runtimeDir, 'directory-lost')
  }
}
