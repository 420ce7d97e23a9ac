/** What is about to run while kubelet is between two starts. Pure. */
import type { HeldSource } from '../decision/config-source.ts'
import type { Snapshot } from '../decision/snapshot.ts'

/**
 * undefined: kubelet runs, or nothing starts it again by itself. In a crash loop, what is reported
 * between two starts is what is reported of the processes.
 */
export function findUpcoming({ unit, running, nextStart }: Snapshot): HeldSource | undefined {
  if (running.kind !== 'none' || unit.kind !== 'known' || nextStart.kind !== 'known') return undefined
  switch (unit.activity) {
    case 'auto-restart':
    case 'queued':
    case 'starting':
    case 'running':
      return nextStart.held
    case 'stopping':
    case 'stopped':
    case 'exited':
    case 'left-down':
    case 'failed':
    case 'not-found':
      return undefined
  }
}
