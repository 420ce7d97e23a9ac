/**
 * `rollback`: gives up what kubelet starts with next. The request names that content, so that it cannot hit another config which
 * arrives before the agent reads it.
 */

import { describeSource } from '../../decision/config-source.ts'
import type { NextStart } from '../../decision/snapshot.ts'
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../command.ts'
import { plainText } from '../terminal.ts'

export const rollbackCommand: NodeCommand = {
  name: 'rollback',
  takes: 'node',
  group: 'Ask',
  summary: 'give up the config that kubelet starts with next',
  description:
    'Rolls back what kubelet starts with next, as if it had failed: kubelet is restarted with the first of last-known-good, previous and ' +
    'local that has not failed. What was rolled back is not used again until its content, kubelet or its flags change, or until retry.',
  options: [],
  examples: [['rollback', 'this config is no good, whatever its health says']],
  execute: rollBack,
}

async function rollBack({ terminal, observe, ask, requests, agent }: CommandContext): Promise<ExitCode> {
  const { nextStart } = await observe()
  const found = findRollback(nextStart)
  if (!found.ok) {
    terminal.err(`kubelet-cfg-agent rollback: ${found.detail}\n`)
    return EXIT.failed
  }
  ask.requestRollback(found.content)
  terminal.out(`Asked to roll back ${found.name}: kubelet goes to the first of last-known-good, previous and local that has not failed.\n`)
  terminal.out(`${found.name} is not used again until its content, kubelet or its flags change, or until kubelet-cfg-agent retry.\n`)
  if (requests.read().hold === 'paused') terminal.out('This node is paused: kubelet is restarted only after kubelet-cfg-agent resume.\n')
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

type Rollback = { readonly ok: true; readonly content: string; readonly name: string } | { readonly ok: false; readonly detail: string }

function findRollback(nextStart: NextStart): Rollback {
  if (nextStart.kind === 'unknown') {
    return { ok: false, detail: `what kubelet starts with next cannot be told: ${plainText(nextStart.detail)}` }
  }
  const { source, content } = nextStart.held
  if (source === 'local') return { ok: false, detail: 'kubelet starts with its local config next: there is nothing to roll back' }
  const name = describeSource(source)
  if (content === undefined) {
    return {
      ok: false,
      detail: `the checkpoint of ${name} is missing or incomplete, so it cannot be named; a running agent falls back by itself`,
    }
  }
  return { ok: true, content, name }
}
