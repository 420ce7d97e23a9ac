// SPDX-License-Identifier: Apache-2.0
/**
 * The connections to the API server. As with client-go, the server chooses between HTTP/2 and
 * HTTP/1.1 in the handshake of each TLS connection (ALPN, RFC 7301). One HTTP/2 connection carries
 * all requests and watches; another one is opened only when it takes no more: the server's limit
 * of concurrent streams is reached, the server is going away (GOAWAY), or the credentials have
 * changed. Pure; the adapters are passed in.
 */
import { createHash } from 'node:crypto'
import { unlessAborted } from './backoff.ts'
import {
  type Answered,
  type Dial,
  type Dialled,
  type Line,
  type Outgoing,
  type PoolLine,
  type Protocol,
  RequestNotTaken,
  type ServerTarget,
  type Transport,
} from './transport.ts'

/** How many connections may refuse a request unseen before it fails. */
const MOST_REFUSALS = 3

export interface ConnectionMeans {
  /** In the order of preference. */
  readonly protocols: readonly Protocol[]
  dialer(target: ServerTarget): Dial
  /** `onEnd`: it can carry nothing more. */
  openHttp2(dialled: Dialled, server: URL, onEnd: () => void): Line
  openHttp1(server: URL, dial: Dial): PoolLine
}

export class Connections implements Transport {
  readonly #means: ConnectionMeans
  #current: { readonly key: string; readonly lines: Lines } | undefined

  constructor(means: ConnectionMeans) {
    this.#means = means
  }

  send(target: ServerTarget, outgoing: Outgoing, signal: AbortSignal): Promise<Answered> {
    return this.#linesTo(target).send(outgoing, signal)
  }

  /** The same ones as long as server, certificates and proxy stay the same. */
  #linesTo(target: ServerTarget): Lines {
    const { server, access } = target
    const key = createHash('sha256')
      .update(JSON.stringify([server.origin, access.tls, access.proxyUrl]))
      .digest('hex')
    if (this.#current?.key === key) return this.#current.lines
    this.#current?.lines.retire()
    const lines = new Lines(target, this.#means)
    this.#current = { key, lines }
    return lines
  }
}

interface Dialling {
  readonly line: Promise<Line>
  /** The line, when it is known how many requests it takes. */
  readonly ready: Promise<Line>
  readonly stopper: AbortController
  waiting: number
}

/** To one server, as one client. */
class Lines {
  readonly #means: ConnectionMeans
  readonly #server: URL
  readonly #dial: Dial
  readonly #pool: PoolLine
  readonly #lines: Set<Line>
  #dialling: Dialling | undefined

  constructor(target: ServerTarget, means: ConnectionMeans) {
    this.#means = means
    this.#server = target.server
    this.#dial = means.dialer(target)
    this.#pool = means.openHttp1(target.server, this.#dial)
    this.#lines = new Set([this.#pool])
  }

  async send(outgoing: Outgoing, signal: AbortSignal): Promise<Answered> {
    const refused = new Set<Line>()
    let opened: Line | undefined
    for (;;) {
      const line = opened ?? [...this.#lines].find((candidate) => candidate.isFree() && !refused.has(candidate))
      if (line === undefined) {
        opened = await this.#open(signal)
        continue
      }
      opened = undefined
      try {
        return await line.send(outgoing, signal)
      } catch (error) {
        refused.add(line)
        if (!(error instanceof RequestNotTaken) || refused.size >= MOST_REFUSALS || signal.aborted) throw error
      }
    }
  }

  retire(): void {
    for (const line of this.#lines) line.retire()
  }

  /**
   * Opens one connection at a time, since it may carry everything that waits for it. The one who
   * asked first uses it at once and in any case; for the others (undefined) it may have no room.
   */
  async #open(signal: AbortSignal): Promise<Line | undefined> {
    const isFirst = this.#dialling === undefined
    this.#dialling ??= this.#startDialling()
    const dialling = this.#dialling
    dialling.waiting += 1
    const line = await unlessAborted(isFirst ? dialling.line : dialling.ready, signal).finally(() => {
      dialling.waiting -= 1
    })
    if (line !== undefined) return isFirst ? line : undefined
    if (dialling.waiting === 0) {
      dialling.stopper.abort('nobody waits for it')
      this.#forget(dialling)
    }
    throw new Error(String(signal.reason))
  }

  #startDialling(): Dialling {
    const stopper = new AbortController()
    const line = this.#dial(this.#means.protocols, stopper.signal).then((dialled) => this.#lineOf(dialled))
    const ready = line.then((opened) => opened.ready.then(() => opened)).finally(() => this.#forget(dialling))
    // Perhaps nobody waits for it but the first.
    ready.catch(() => {})
    const dialling = { line, ready, stopper, waiting: 0 }
    return dialling
  }

  #forget(dialling: Dialling): void {
    if (this.#dialling === dialling) this.#dialling = undefined
  }

  #lineOf(dialled: Dialled): Line {
    if (dialled.protocol === 'http/1.1') {
      this.#pool.adopt(dialled.connection)
      return this.#pool
    }
    const line = this.#means.openHttp2(dialled, this.#server, () => this.#lines.delete(line))
    this.#lines.add(line)
    return line
  }
}
