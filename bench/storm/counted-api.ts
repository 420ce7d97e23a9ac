// SPDX-License-Identifier: Apache-2.0
/** The agent's port for requests, with each answer counted by what was asked and how it ended. */
import type { KubeAnswer, KubeApi, KubeRequest, KubeWatchEnd, KubeWatchRequest } from '../../src/ports/kube-api.ts'

/** Of many agents. */
export class Tally {
  /** `PATCH nodes/status 200`: how often. */
  readonly counts = new Map<string, number>()
  /** When each condition was written, in ms since 1970. */
  tellings: number[] = []
  /** When each watch was accepted. */
  openings: number[] = []
  openWatches = 0

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }
}

export class CountedApi implements KubeApi {
  readonly #api: KubeApi
  readonly #tally: Tally

  constructor(api: KubeApi, tally: Tally) {
    this.#api = api
    this.#tally = tally
  }

  async request(request: KubeRequest): Promise<KubeAnswer> {
    const answer = await this.#api.request(request)
    const what = `${request.method} ${kindOf(request.path)}`
    this.#tally.count(`${what} ${endOf(answer)}`)
    if (answer.kind === 'ok' && what === 'PATCH nodes/status') this.#tally.tellings.push(Date.now())
    return answer
  }

  async watch(request: KubeWatchRequest): Promise<KubeWatchEnd> {
    let isOpen = false
    const onOpen: KubeWatchRequest['onOpen'] = (serverMs) => {
      isOpen = true
      this.#tally.openWatches += 1
      this.#tally.openings.push(Date.now())
      this.#tally.count(`WATCH ${kindOf(request.path)} opened`)
      request.onOpen?.(serverMs)
    }
    const end = await this.#api.watch({ ...request, onOpen })
    if (isOpen) this.#tally.openWatches -= 1
    else this.#tally.count(`WATCH ${kindOf(request.path)} ${endOf(end)}`)
    return end
  }
}

function endOf(answer: KubeAnswer | KubeWatchEnd): string {
  return answer.kind === 'refused' ? String(answer.status) : answer.kind
}

/** `/api/v1/nodes/NAME/status`: `nodes/status` */
function kindOf(path: string): string {
  const [kind = path, , sub] = path.replace(/^\/api\/v1\/(namespaces\/[^/]+\/)?/, '').split('/')
  return sub === undefined ? kind || path : `${kind}/${sub}`
}
