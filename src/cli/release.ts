/**
 * `release`: leaves kubelet's next start safe for good, since nobody will be there to roll it back. Package managers run it when they remove the
 * agent, after they have stopped it; at an upgrade they do not, since the new agent goes on with the trial. Never restarts kubelet.
 */
import { chooseRelease, type Release } from '../decision/choose-release.ts'
import { describeSource } from '../decision/config-source.ts'
import { type CommandContext, EXIT, type ExitCode, type NodeCommand } from './command.ts'
import { plainText } from './terminal.ts'

export const releaseCommand: NodeCommand = {
  name: 'release',
  takes: 'node',
  group: 'Remove',
  summary: 'leave kubelet a safe next start, before the agent is removed',
  description:
    'Run this when the agent has been stopped for good. Where kubelet would start next with a config that has not passed its trial, ' +
    'last-known-good takes its place. A config file that the agent replaced gets its original back. Kubelet is not restarted. ' +
    'Packages do this by themselves when they are removed, and not when they are upgraded.',
  options: [],
  examples: [['release', 'after systemctl disable --now kubelet-cfg-agent']],
  execute: release,
}

async function release({ terminal, takeOver, observe }: CommandContext): Promise<ExitCode> {
  const hold = takeOver()
  if (hold.kind === 'untouched') {
    terminal.out('Nothing to release: no agent has been at work here.\n')
    return EXIT.fine
  }
  if (hold.kind === 'refused') return refuse(hold.detail)
  try {
    const decision = chooseRelease(await observe())
    if (decision.kind === 'activate') hold.activation.activate(decision.target, decision.wiring)
    // Of a unit that is gone or names another file today, too: it may name this one again when nobody is there any more.
    hold.activation.withdraw(decision.kind === 'withdraw' ? 'everything' : 'replaced-files', (path) =>
      terminal.out(`${plainText(path)} has its original again.\n`),
    )
    if (decision.kind === 'unknown')
      return refuse(`what kubelet starts with next cannot be told, and was left as it is: ${decision.detail}`)
    terminal.out(`${plainText(describe(decision))}\nKubelet was not restarted.\n`)
    return EXIT.fine
  } finally {
    hold.end()
  }

  function refuse(detail: string): ExitCode {
    terminal.err(`kubelet-cfg-agent release: ${plainText(detail)}\n`)
    return EXIT.failed
  }
}

function describe(decision: Exclude<Release, { kind: 'unknown' }>): string {
  if (decision.kind === 'keep') return `Nothing to release: ${decision.why}.`
  return `Kubelet's next start uses ${describeSource(decision.kind === 'activate' ? decision.target : 'local')}: ${decision.why}.`
}
