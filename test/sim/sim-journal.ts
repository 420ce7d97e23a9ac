// SPDX-License-Identifier: Apache-2.0
/**
 * The journal of a simulated node: what each kubelet said before it exited. What differs from start
 * to start is in it as in kubelet's own messages: a time, a port, an address in memory.
 */
import { type Behaviour, behaviourOf } from './behaviour.ts'

/** A config with one of these makes kubelet say something else each time. */
const SAY_ANOTHER_EACH_TIME: readonly Behaviour[] = ['crash-later', 'kills-runtime']
const SAYINGS = ['concurrent map writes', 'all goroutines are asleep', 'slice bounds out of range', 'stack exceeds its limit'] as const

/** Why kubelet exits by itself. */
export type ExitCause = 'config' | 'no config file' | 'node' | 'silent runtime' | 'dead runtime' | 'leavings'

export class SimJournal {
  readonly #words = new Map<string, string>()

  /** @param start which one of kubelet it was on this node */
  write(invocationId: string, cause: ExitCause, text: string, start: number): void {
    this.#words.set(invocationId, `${wordsOf(cause, text, start)} after 1.${start}s`)
  }

  /** undefined: it said nothing. */
  read(invocationId: string): string | undefined {
    return this.#words.get(invocationId)
  }
}

function wordsOf(cause: ExitCause, text: string, start: number): string {
  switch (cause) {
    case 'config':
      return wordsOfConfig(behaviourOf(text), start)
    case 'no config file':
      return 'failed to load kubelet config file'
    case 'node':
      return 'failed to run Kubelet: no space left on device'
    case 'silent runtime':
      return 'failed to run Kubelet: validate service connection: context deadline exceeded'
    case 'leavings':
      return 'failed to run Kubelet: start cpu manager error: could not restore state from checkpoint: configured policy "none" differs from state checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file "/var/lib/kubelet/cpu_manager_state" before restarting Kubelet'
    case 'dead runtime':
      return 'failed to run Kubelet: validate service connection: connection refused'
  }
}

function wordsOfConfig(behaviour: Behaviour, start: number): string {
  const saying = SAY_ANOTHER_EACH_TIME.includes(behaviour) ? SAYINGS[start % SAYINGS.length] : `failed as ${behaviour}`
  return `panic: ${saying} 0xc00037${start}`
}
