/**
 * `rollback`: rolls back the config of kubelet's next start. The request names the content, so it
 * cannot hit a config that arrives before the agent reads the request.
 */

import { describeSource } from '../../../decision/config-source.ts'
import { findNodePause } from '../../../decision/find-pause.ts'
import type { NextStart } from '../../../decision/snapshot.ts'
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../../command.ts'
import { describePauseHere } from '../pause-line.ts'
import { plainText } from '../../terminal.ts'

export const rollbackCommand: NodeCommand = {
  name: 'rollback',
  takes: 'node',
  group: 'Control',
  summary: 'roll back the config that kubelet starts with next',
  description:
    'Rolls back the config that kubelet starts with next, as if it had failed: kubelet is restarted with the first of ' +
    'last-known-good, previous and local that has not failed. The agent does not use the config again until its content, ' +
    'kubelet or the flags of kubelet change, or until retry. In a rollout that is not finished this is a veto, which by default ' +
    'halts it for all nodes, and which retry does not take back: to take off this node alone, use reset.',
  options: [],
  examples: [['rollback', 'reject a config that looks healthy to the agent']],
  execute: rollBack,
}

async function rollBack({ terminal, observe, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const snapshot = await observe()
  const found = findRollback(snapshot.nextStart)
  if (!found.ok) {
    terminal.err(`kubelet-cfg-agent rollback: ${found.detail}\n`)
    return EXIT.failed
  }
  requestWriter.requestRollback(found.content)
  terminal.out(
    `Requested to roll back ${found.name}: kubelet returns to the first of last-known-good, previous and local that has not failed.\n`,
  )
  terminal.out(
    `${found.name} is not used again until its content, kubelet or the flags of kubelet change, or until kubelet-cfg-agent retry.\n`,
  )
  const pause = describePauseHere(snapshot, 'kubelet is not restarted', findNodePause(snapshot))
  if (pause !== undefined) terminal.out(`${pause}\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

type Rollback = { readonly ok: true; readonly content: string; readonly name: string } | { readonly ok: false; readonly detail: string }

function findRollback(nextStart: NextStart): Rollback {
  if (nextStart.kind === 'unknown') {
    return { ok: false, detail: `cannot tell what kubelet starts with next: ${plainText(nextStart.detail)}` }
  }
  const { source, content } = nextStart.held
  if (source === 'local') return { ok: false, detail: 'the next start of kubelet uses its local config: there is nothing to roll back' }
  const name = describeSource(source)
  if (content === undefined) {
    return {
      ok: false,
      detail:
        `the checkpoint of ${name} is missing or incomplete, so its content cannot be identified; a running agent falls ` +
        'back by itself',
    }
  }
  return { ok: true, content, name }
}
