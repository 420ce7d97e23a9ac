/**
 * The status line of the agent in `systemctl status`: what it does or waits for, as in
 * `kubelet-cfg-agent status`. If the assignment is not known, the line begins with the reason,
 * because that needs an operator's attention. Pure.
 */
import type { Desired } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Wait } from '../decision/step.ts'
import { onOneLine } from '../values/cut.ts'

const LONGEST = 300

/** @param snapshot undefined: the node could not be observed; the wait contains the reason */
export function describeTurn({ phase, detail }: Wait, snapshot: Snapshot | undefined): string {
  const state = `${phase}: ${detail}`
  const missing = snapshot && findMissing(snapshot)
  return plain(missing === undefined ? state : `${missing} (${state})`)
}

/** Why the assignment of this node is not known. undefined: it is known. */
function findMissing({ desired, requests }: Snapshot): string | undefined {
  // Until `resume`, the assignment does not matter.
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

/** Keeps it on one line: a line break would start another assignment of sd_notify(3). */
function plain(text: string): string {
  const line = onOneLine(text)
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 3)}...` : line
}
