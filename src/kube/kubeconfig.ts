/**
 * The kubeconfig file over time: it may not exist yet (before TLS bootstrap), and it changes (a rotation, a new cluster). Looked at
 * before each request and parsed again only when it was replaced. It says once what is wrong and once when it is right again.
 */
import { statSync } from 'node:fs'
import type { Log } from '../ports/log.ts'
import type { KubeconfigReading } from './access.ts'

const LOOK_EVERY_MS = 1000

export class KubeconfigFile {
  readonly #path: string
  readonly #read: (path: string) => KubeconfigReading
  readonly #log: Log
  #identity = ''
  #reading: KubeconfigReading | undefined
  #said = ''

  constructor(path: string, read: (path: string) => KubeconfigReading, log: Log) {
    this.#path = path
    this.#read = read
    this.#log = log
  }

  current(): KubeconfigReading {
    const identity = identify(this.#path)
    if (this.#reading?.kind === 'ok' && identity === this.#identity) return this.#reading
    const reading = this.#read(this.#path)
    this.#identity = identity
    this.#reading = reading
    this.#say(reading)
    return reading
  }

  /** What keeps it from being used, as last seen; undefined: nothing. */
  problem(): string | undefined {
    return this.#said === '' ? undefined : this.#said
  }

  /** The server did not accept what we have: read it again, ask the plugin again. */
  forget(): void {
    this.#reading = undefined
  }

  /** Waits for a kubeconfig that can be used. */
  async ready(sleep: (ms: number, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.current().kind !== 'ok') await sleep(LOOK_EVERY_MS, signal)
  }

  #say(reading: KubeconfigReading): void {
    const problem = reading.kind === 'ok' ? '' : reading.detail
    if (problem === this.#said) return
    this.#said = problem
    if (reading.kind === 'ok') this.#log.info(`kubeconfig ${this.#path} is there, going on`)
    else if (reading.kind === 'absent' || reading.kind === 'incomplete') this.#log.warn(`${reading.detail}: waiting for it`)
    else this.#log.warn(`${reading.detail}: mend it, it is read again and again`)
  }
}

/** Changes whenever the file is replaced; empty: there is none, or it cannot be looked at. */
function identify(path: string): string {
  try {
    const found = statSync(path, { bigint: true })
    return `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`
  } catch {
    return ''
  }
}
