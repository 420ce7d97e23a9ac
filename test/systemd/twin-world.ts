// SPDX-License-Identifier: Apache-2.0
/**
 * A node on which a directory can be saved, lost and restored, for the kinds of activation that
 * leave a file outside the agent's own directory.
 */
import { dirname } from 'node:path'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import type { ReadyWiring } from '../../src/subject/unit-state.ts'
import { UnitActivation } from '../../src/systemd/activation.ts'
import { dropInWiring, fileWiring } from '../../src/systemd/wiring-kinds.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { CONFIG, DIRECTORY, sourceOf, worldWith } from './disk.ts'

export const A = sourceOf('101')
export const B = sourceOf('102')
export const C = sourceOf('103')

const DROP_INS = '/etc/kubelet.d'
const WIRINGS = { file: fileWiring(CONFIG), 'drop-in': dropInWiring(DROP_INS) } as const
export type OutsideKind = keyof typeof WIRINGS
export const OUTSIDE_KINDS = Object.keys(WIRINGS) as readonly OutsideKind[]

/** Where a record is kept twice. */
export const COPIES = {
  file: '/etc/kubernetes/kubelet/.kubelet-config.json.kubelet-cfg-agent-record',
  'drop-in': `${DROP_INS}/.90-kubelet-cfg-agent.conf.record`,
} as const
const OWN = { file: `${DIRECTORY}/local`, 'drop-in': `${DIRECTORY}/drop-ins` } as const

type Saved = readonly (readonly [path: string, text: string])[]

export class TwinWorld {
  readonly #world = worldWith(A, B, C)
  readonly kind: OutsideKind
  readonly wiring: ReadyWiring

  constructor(kind: OutsideKind) {
    this.kind = kind
    this.wiring = WIRINGS[kind]
    this.disk.plant(`${DROP_INS}/README`, '')
  }

  get disk() {
    return this.#world.disk
  }

  get files() {
    return this.#world.files
  }

  get time() {
    return this.#world.time
  }

  /** The agent after a restart. */
  start(): UnitActivation {
    const { files, clock } = this.#world
    const parts = { files, clock, ownership: { give: () => {} }, dynamicConfigDir: DIRECTORY }
    return new UnitActivation({ ...parts, envFile: `${DIRECTORY}/kubelet.env`, runtimeDir: '/run/kubelet-cfg-agent', log: silentLog() })
  }

  /** As the loop does it. What is in place has settled by then. */
  activate(target: ConfigSource, fallback: ConfigSource = 'local', wiring = this.wiring): void {
    this.time.wallMs += 60_000
    const activation = this.start()
    activation.stage(fallback, wiring)
    activation.activate(target, wiring)
  }

  /** The config that kubelet starts with next, as the agent knows it. */
  next(wiring = this.wiring): ConfigSource | 'unknown' {
    const state = this.start().read(wiring)
    return state.kind === 'checkpoint' ? state.source : state.kind
  }

  text(path = this.wiring.path): string | undefined {
    return this.files.read(path)?.toString()
  }

  /** The text of kubelet's local config. Of a drop-in, local is that it is not there. */
  local(): string | undefined {
    return this.kind === 'file' ? this.text() : (this.text() ?? this.text(CONFIG))
  }

  get ownRecord(): string {
    const found = this.save(OWN[this.kind]).find(([path]) => path.endsWith('.json'))
    if (found === undefined) throw new Error('there is no record')
    return found[0]
  }

  save(path: string): Saved {
    return (this.files.list(path) ?? []).flatMap((name) => {
      const each = `${path}/${name}`
      return this.files.stat(each)?.kind === 'directory' ? this.save(each) : [[each, this.text(each) ?? ''] as const]
    })
  }

  /** Leaves nothing that was not saved. */
  restore(path: string, saved: Saved): void {
    this.files.removeTree(path)
    for (const [each, text] of saved) this.disk.plant(each, text)
  }

  /** The machine's directory, with the agent's files in it. */
  get outside(): string {
    return dirname(this.wiring.path)
  }
}
