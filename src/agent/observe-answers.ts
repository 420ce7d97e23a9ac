/**
 * Observes what has been answered in the background: about the evidence, and about the record of a
 * rollout, whose turn may ask for the evidence. Asks what is due then.
 */
import { describeRolloutSubject } from '../decision/rollout-subject.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { RolloutPort } from '../ports/assignment-source.ts'
import type { RecordStore } from '../ports/store.ts'
import { type EvidencePorts, observeEvidence } from './observe-evidence.ts'

export interface AnswerPorts extends EvidencePorts {
  readonly records: EvidencePorts['records'] & RecordStore<'rollout-turn'>
  /** undefined: there is no API server to coordinate through, or a command observes. */
  readonly rollout?: RolloutPort | undefined
}

/** @param before with the evidence as it was recorded last, and nothing of a record */
export async function observeAnswers(ports: AnswerPorts, before: Snapshot): Promise<Snapshot> {
  const known = findKnownRollout(ports, before)
  const snapshot = await observeEvidence(ports, known === undefined ? before : { ...before, rollout: known })
  const rollout = observeRollout(ports, snapshot)
  return rollout === known ? snapshot : { ...snapshot, rollout }
}

/** The record of the rollout as its worker knows it. A turn in it may ask for evidence. */
function findKnownRollout({ rollout: port, records }: AnswerPorts, { stagings }: Snapshot): Snapshot['rollout'] {
  if (stagings.length === 0) return undefined
  if (port !== undefined) return port.known()
  // A command shows what the running agent knew last. No turn follows from that.
  const last = records.get('rollout-turn')
  return last && { ...last, confirmedAtUs: undefined }
}

/** Hands over what this node has to say, and takes what is known. */
function observeRollout(ports: AnswerPorts, snapshot: Snapshot): Snapshot['rollout'] {
  const { rollout: port } = ports
  if (port !== undefined && snapshot.stagings.length === 0) port.follow(undefined)
  else if (port !== undefined) {
    const subject = describeRolloutSubject(snapshot)
    // While the assignment is not known, what was followed goes on.
    if (subject !== undefined || snapshot.desired.kind !== 'unknown') port.follow(subject)
  }
  return findKnownRollout(ports, snapshot)
}
