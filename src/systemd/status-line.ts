/**
 * The line that `systemctl status` shows of the agent: what it does or waits for, in the words of `kubelet-cfg-agent status`. What it waits
 * for to learn its assignment comes first, since that is what somebody has to see to. Pure.
 */
import type { Desired } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Wait } from '../decision/step.ts'

const LONGEST = 300

/** `snapshot`: undefined where the state of the node could not be read; the wait says why. */
export function describeTurn({ phase, detail }: Wait, snapshot: Snapshot | undefined): string {
  const state = `${phase}: ${detail}`
  const missing = snapshot && findMissing(snapshot)
  return plain(missing === undefined ? state : `${missing} (${state})`)
}

/** What keeps the agent from knowing what is wanted of this node. */
function findMissing({ desired, requests }: Snapshot): string | undefined {
  // Until resume nobody asks.
  if (requests.hold === 'local') return 'held on the local config until resume'
  return describeDesired(desired)
}

function describeDesired(desired: Desired): string | undefined {
  switch (desired.kind) {
    case 'unknown':
      return `waiting for the assignment: ${desired.detail}`
    case 'invalid':
      return `the assignment is not valid: ${desired.detail}`
    case 'local':
      return undefined
    case 'config-map': {
      const { ref, object } = desired
      if (object.kind === 'found') return undefined
      const what = `waiting for ConfigMap ${ref.namespace}/${ref.name}`
      return object.kind === 'pending' ? what : `${what}: ${object.detail}`
    }
  }
}

/** One line: a line break would end the assignment and begin another. */
function plain(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/\p{Cc}/gu, '?')
    .trim()
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 3)}...` : line
}
