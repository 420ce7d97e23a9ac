// SPDX-License-Identifier: Apache-2.0
/**
 * A seeded sequence of changes that an administrator makes to one node's assignment, and how the
 * node has to stand after each, whatever happened to the agent meanwhile: what is assigned is used,
 * or refused with its reason, or it is local.
 */
import { strict as assert } from 'node:assert'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Random } from '../../sim/random.ts'
import { type Administrator, pointToLog } from '../administrator.ts'
import { eventually } from '../lab/eventually.ts'
import type { Source } from '../records.ts'
import { VALIDATE_ERROR } from '../texts.ts'
import type { Node } from './node.ts'

type Kind = 'edit' | 'refused' | 'unassign'
interface ConfigStatus {
  readonly assigned?: { readonly configMap: Source }
  readonly active?: { readonly configMap: Source }
  readonly lastKnownGood?: { readonly configMap: Source }
  readonly error?: string
}

export class Changes {
  readonly #node: Node
  readonly #admin: Administrator
  readonly #random: Random
  /** By UID and resourceVersion: what a checkpoint has to hold. */
  readonly #texts = new Map<string, string>()
  #count = 0
  #assigned = false

  constructor(node: Node, admin: Administrator, random: Random) {
    this.#node = node
    this.#admin = admin
    this.#random = random
  }

  get count(): number {
    return this.#count
  }

  /** Makes the next change; returns a probe for the Node's status that it has to lead to. */
  async next(kind: Kind = this.#draw()): Promise<(status: ConfigStatus) => void> {
    this.#count += 1
    if (kind === 'unassign') {
      await this.#admin.unassign()
      this.#assigned = false
      return (status) => assert.deepEqual(status, {})
    }
    const refused = kind === 'refused'
    const maxPods = 200 + this.#count
    const source = await this.#write(this.#node.config(refused ? { maxPods, kubeAPIQPS: -1 } : { maxPods }))
    const error = refused ? VALIDATE_ERROR : undefined
    return (status) => {
      assert.deepEqual(status.assigned?.configMap, source)
      assert.equal(pointToLog(status, error).error, error)
      // Refused, what goes on is what was last promoted.
      assert.deepEqual(status.active, refused ? status.lastKnownGood : status.assigned)
    }
  }

  /** Waits for that; returns the status. */
  async settle(expected: (status: ConfigStatus) => void, timeoutMs = 90_000): Promise<ConfigStatus> {
    const probe = async () => {
      const status = (await this.#admin.status()) as ConfigStatus
      expected(status)
      return status
    }
    return eventually(probe, { what: `change ${this.#count} settles`, timeoutMs, intervalMs: 100 })
  }

  /** Waits until the kubelet that runs says that it runs what the status calls active. */
  async runs({ active }: ConfigStatus): Promise<void> {
    const text = active === undefined ? undefined : this.#texts.get(versionOf(active.configMap))
    await this.#node.untilRuns(text === undefined ? 110 : parse(text).maxPods)
  }

  /**
   * Nothing on disk is torn: no record was set aside, and each checkpoint holds what its ConfigMap
   * held.
   */
  checkDisk(): void {
    const state = this.#node.host('/var/lib/kubelet-cfg-agent')
    const names = readdirSync(state, { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      names.filter((name) => /damaged|foreign/.test(name)),
      [],
    )
    for (const [version, text] of this.#texts) {
      const file = join(state, 'checkpoints', version, 'kubelet')
      if (existsSync(file)) assert.equal(readFileSync(file, 'utf8'), text, file)
    }
  }

  #draw(): Kind {
    const kind = this.#random.next()
    if (kind < 0.1 && this.#assigned) return 'unassign'
    return kind < 0.2 ? 'refused' : 'edit'
  }

  async #write(text: string): Promise<Source> {
    const source = await (this.#count === 1 ? this.#admin.createConfigMap('config', text) : this.#admin.editConfigMap('config', text))
    this.#texts.set(versionOf(source), text)
    if (!this.#assigned) await this.#admin.assign('config')
    this.#assigned = true
    return source
  }
}

function versionOf({ uid, resourceVersion }: Source): string {
  return join(uid, resourceVersion)
}
