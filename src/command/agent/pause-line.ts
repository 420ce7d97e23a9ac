/** A sentence on the pause of this node, for commands whose requests it holds back. Pure. */
import { describePause, findPause } from '../../decision/find-pause.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { plainText } from '../terminal.ts'

/**
 * @param consequence what does not happen meanwhile
 * @param pause the one that counts for it
 * @returns undefined: the node is not paused, as far as the agent has seen
 */
export function describePauseHere(
  snapshot: Pick<Snapshot, 'requests' | 'desired' | 'recordedChannelState'>,
  consequence: string,
  pause = findPause(snapshot),
): string | undefined {
  switch (pause?.by) {
    case undefined:
      return undefined
    case 'node':
      return `This node is paused: ${consequence} until kubelet-cfg-agent resume.`
    case 'cluster':
      return `This node is ${plainText(describePause(pause))}: ${consequence} until you remove the annotation.`
  }
}
