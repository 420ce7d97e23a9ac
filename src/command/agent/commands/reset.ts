/**
 * `reset`: returns the node to its local config and holds it there until `resume`, for use when the
 * assignment cannot be corrected in the cluster.
 */
import { LOCAL_CONTENT } from '../../../decision/config-source.ts'
import { switchKind } from '../../../settings/setting-kinds.ts'
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand, type OptionValues } from '../../command.ts'
import { judgeLocal } from '../inspect-local.ts'
import { plainText } from '../../terminal.ts'

export const resetCommand: NodeCommand = {
  name: 'reset',
  takes: 'node',
  group: 'Control',
  summary: 'return to the local config until resume',
  description:
    'Returns this node to the config that kubelet was provisioned with. The node ignores what the cluster assigns until resume. ' +
    'Last-known-good and previous become local too, so the trial after resume has local as its only fallback. Kubelet is restarted if it runs another config. ' +
    'A local config that this kubelet refuses takes --force. If kubelet fails with local, the node goes back to what ran.',
  options: [{ name: 'force', kind: switchKind, initial: 'false', help: 'also where this kubelet refuses its local config' }],
  examples: [
    ['reset', 'take this node out of dynamic configuration'],
    ['reset --force', 'the same, although preflight refuses the local config'],
  ],
  execute: reset,
}

async function reset(context: CommandContext, options: OptionValues): Promise<ExitCode> {
  const { terminal, requests, requestWriter, agent } = context
  const { hold: before, force: isForced } = requests.read()
  const force = options.force === 'true'
  if (before === 'local' && (isForced === true || !force)) {
    terminal.out('Already held on the local config; kubelet-cfg-agent resume ends this.\n')
    return EXIT.fine
  }
  const refusal = force ? undefined : await findRefusal(context)
  if (refusal !== undefined) {
    terminal.err(
      `kubelet-cfg-agent reset: this kubelet refuses its local config, so nothing was requested: ${plainText(refusal)}\n` +
        'Correct the local config, or run kubelet-cfg-agent reset --force.\n',
    )
    return EXIT.failed
  }
  requestWriter.requestHold('local', force)
  if (before === 'paused') terminal.out('This replaces the earlier pause.\n')
  terminal.out('Reset: kubelet returns to its local config, and is restarted if it runs another one.\n')
  terminal.out('What the cluster assigns is ignored until kubelet-cfg-agent resume.\n')
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

/** undefined: nothing is restarted for it, it is accepted, or it cannot be judged here. */
async function findRefusal(context: CommandContext): Promise<string | undefined> {
  const { running } = await context.observe()
  if (running.kind !== 'known' || running.content === LOCAL_CONTENT) return undefined
  const judgement = await judgeLocal(context)
  return judgement.kind === 'refused' ? judgement.detail : undefined
}
