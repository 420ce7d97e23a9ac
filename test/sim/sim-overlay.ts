// SPDX-License-Identifier: Apache-2.0
/**
 * The overlay of a simulated node, as it is after its directory was read. The overlay decides how
 * the rendered config behaves.
 */

import { nameRendering, type OverlayView, type Rendering } from '../../src/overlay/read-overlay.ts'
import type { ConfigMapData } from '../../src/subject/config-source.ts'
import { type Behaviour, behaviourOf } from './behaviour.ts'

export class SimOverlay {
  #view: OverlayView = { kind: 'none' }
  #serial = 0

  view(): OverlayView {
    return this.#view
  }

  /** Each edit gives different files. */
  edit(behaviour: Behaviour): void {
    this.#serial += 1
    const serial = this.#serial
    const head = `# behaviour: ${behaviour}\n# overlay: ${serial}\n`
    const render = (data: ConfigMapData, key: string): Rendering => {
      const text = data[key]
      // As the real overlay does: a text that is not a config stays as it is.
      const isConfig = text !== undefined && behaviourOf(text) !== 'syntax-error'
      const made = isConfig ? { ...data, [key]: `${head}${text}` } : data
      return { ok: true, rendered: nameRendering(made, key), applied: [{ name: 'node.yaml', patch: {} }] }
    }
    this.#view = { kind: 'present', files: ['node.yaml'], patches: [], render }
  }

  remove(): void {
    this.#view = { kind: 'none' }
  }

  spoil(): void {
    this.#view = { kind: 'faulty', detail: '/overlay.d/node.yaml: it is empty' }
  }
}
