/**
 * Lets requests for the same result at the same time share one run. The run is ended early when
 * nobody waits for it any more. Pure.
 */

interface Run<Result> {
  readonly result: Promise<Result>
  readonly stopper: AbortController
  waiting: number
}

export class SharedRuns<Result> {
  readonly #running = new Map<string, Run<Result>>()

  /**
   * @param run never rejects
   * @param givenUp the result for who stops waiting while others go on
   */
  share(key: string, signal: AbortSignal, run: (signal: AbortSignal) => Promise<Result>, givenUp: Result): Promise<Result> {
    if (signal.aborted) return Promise.resolve(givenUp)
    const shared = this.#running.get(key) ?? this.#start(key, run)
    shared.waiting += 1
    return new Promise((resolve) => {
      const leave = (): void => {
        shared.waiting -= 1
        if (shared.waiting > 0) resolve(givenUp)
        else {
          // Who asks from now on gets a run of its own.
          this.#end(key, shared)
          shared.stopper.abort()
        }
      }
      signal.addEventListener('abort', leave, { once: true })
      void shared.result.then((result) => {
        signal.removeEventListener('abort', leave)
        resolve(result)
      })
    })
  }

  #start(key: string, run: (signal: AbortSignal) => Promise<Result>): Run<Result> {
    const stopper = new AbortController()
    const started: Run<Result> = { result: run(stopper.signal), stopper, waiting: 0 }
    this.#running.set(key, started)
    void started.result.then(() => this.#end(key, started))
    return started
  }

  #end(key: string, run: Run<Result>): void {
    if (this.#running.get(key) === run) this.#running.delete(key)
  }
}
