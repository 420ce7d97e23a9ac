/** The overlay of a simulated node: what its directory would come to. What a config with it does, the overlay says. */
import type { OverlayView } from '../../src/overlay/view.ts'
import type { Behaviour } from './schedule.ts'
import { behaviourOf } from './sim-unit.ts'

export class SimOverlay {
  #view: OverlayView = { kind: 'none' }
  #serial = 0

  view(): OverlayView {
    return this.#view
  }

  /** Different files each time. */
  edit(behaviour: Behaviour): void {
    this.#serial += 1
    const serial = this.#serial
    const head = `# behaviour: ${behaviour}\n# overlay: ${serial}\n`
    this.#view = {
      kind: 'present',
      overlay: serial.toString(16).padStart(16, '0'),
      files: ['node.yaml'],
      render: (data, key) => {
        const text = data[key]
        // As for the real one: what is no config stays as it is.
        if (text === undefined || behaviourOf(text) === 'syntax-error') return { ok: true, data }
        return { ok: true, data: { ...data, [key]: `${head}${text}` } }
      },
    }
  }

  remove(): void {
    this.#view = { kind: 'none' }
  }

  spoil(): void {
    this.#view = { kind: 'faulty', detail: '/overlay.d/node.yaml: it is empty' }
  }
}
