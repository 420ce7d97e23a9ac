// SPDX-License-Identifier: Apache-2.0
/**
 * The kubeconfig file over time: it may not exist yet (before TLS bootstrap), and it changes (a
 * rotation, a new cluster). Checked before each request, and parsed again only when it was
 * replaced. Logs a problem once, and its end once.
 */
import { statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Log } from '../ports/log.ts'
import type { KubeconfigReading } from './access.ts'

const LOOK_EVERY_MS = 1000

export class KubeconfigFile {
  readonly #path: string
  readonly #read: (path: string) => KubeconfigReading
  readonly #log: Log
  #identity = ''
  #reading: KubeconfigReading | undefined
  #problem = ''

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
    this.#logProblem(reading)
    return reading
  }

  /** Why the kubeconfig could not be used at the last check; undefined: it could. */
  problem(): string | undefined {
    return this.#problem === '' ? undefined : this.#problem
  }

  /**
   * To be called when there are no credentials, or the server refuses them: the next use reads the
   * file again.
   */
  forget(): void {
    this.#reading = undefined
  }

  /** Waits until the kubeconfig can be used. */
  async ready(sleep: (ms: number, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.current().kind !== 'ok') await sleep(LOOK_EVERY_MS, signal)
  }

  #logProblem(reading: KubeconfigReading): void {
    const problem = reading.kind === 'ok' ? '' : reading.detail
    if (problem === this.#problem) return
    this.#problem = problem
    if (reading.kind === 'ok') this.#log.info(`kubeconfig ${this.#path} can be used, continuing`)
    else if (reading.kind === 'absent' || reading.kind === 'incomplete') this.#log.warn(`${reading.detail}: waiting for it`)
    else this.#log.warn(`${reading.detail}: correct the file; it is read again before each request`)
  }
}

/** Changes whenever the file is replaced; empty: it does not exist, or cannot be accessed. */
function identify(path: string): string {
  try {
    const found = statSync(path, { bigint: true })
    return `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`
  } catch {
    return ''
  }
}

/**
 * The kubeconfigs of a user, as kubectl chooses them: the flag, then KUBECONFIG, then the file in
 * the home directory.
 */
export function listKubeconfigs(flag: string | undefined, variable: string | undefined, home: string): readonly string[] {
  if (flag !== undefined && flag !== '') return [flag]
  const listed = (variable ?? '').split(delimiter).filter((path) => path !== '')
  return listed.length > 0 ? listed : [join(home, '.kube', 'config')]
}
