/**
 * `promote`: lets what is on trial pass although nobody knows how the node was before it. The
 * request names the content, so it cannot hit a config that arrives before the agent reads the
 * request.
 */
import { describeSource } from '../../decision/config-source.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { measureTrial } from '../../decision/trial.ts'
import { hasPassed } from '../../decision/trial-key.ts'
import { listUncompared } from '../../evidence/judge.ts'
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../command.ts'
import { describePauseHere } from '../pause-line.ts'

export const promoteCommand: NodeCommand = {
  name: 'promote',
  takes: 'node',
  group: 'Control',
  summary: 'promote the config on trial although how the node was before it is not known',
  description:
    'A trial does not end where evidence says no and the agent does not know whether it said so before the config, for ' +
    'example since the API server did not answer then. This says that the node was so before, or that you accept it: the config ' +
    'becomes last-known-good when its trial is over. Evidence that says no of a node that was well before is not overruled: ' +
    'set it to watched. The promotion proves nothing in a rollout.',
  options: [],
  examples: [['promote', 'end a trial on a node that was not Ready before the config either']],
  execute: requestPromotion,
}

async function requestPromotion({ terminal, observe, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const snapshot = await observe()
  const found = findPromotion(snapshot)
  if (!found.ok) {
    terminal.err(`kubelet-cfg-agent promote: ${found.detail}\n`)
    return EXIT.failed
  }
  requestWriter.requestPromote(found.content)
  terminal.out(`Requested to promote ${found.name}${found.isOver ? '' : ' when its trial is over'}, whatever was before: ${found.kinds}.\n`)
  const pause = describePauseHere(snapshot, 'the trial goes on')
  if (pause !== undefined) terminal.out(`${pause}\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

type Promotion =
  | { readonly ok: true; readonly content: string; readonly name: string; readonly kinds: string; readonly isOver: boolean }
  | { readonly ok: false; readonly detail: string }

function findPromotion(snapshot: Snapshot): Promotion {
  const { running, nextStart } = snapshot
  if (running.kind !== 'known') return { ok: false, detail: 'kubelet does not run, or what it runs is not known' }
  if (nextStart.kind !== 'known' || nextStart.held.content !== running.content)
    return { ok: false, detail: 'kubelet does not run what it starts with next: nothing is on trial' }
  const { source } = nextStart.held
  if (source === 'local') return { ok: false, detail: 'kubelet runs its local config: there is nothing to promote' }
  const name = describeSource(source)
  if (hasPassed(snapshot, running.key)) return { ok: false, detail: `${name} has passed its trial` }
  const kinds = listUncompared(snapshot)
  if (kinds.length === 0)
    return {
      ok: false,
      detail: `nothing holds the trial of ${name} that a person could decide; kubelet-cfg-agent status says what it waits for`,
    }
  const isOver = measureTrial(snapshot, running.key)?.remainingUs === 0
  return { ok: true, content: running.content, name, kinds: kinds.join(', '), isOver }
}
