// SPDX-License-Identifier: Apache-2.0
/**
 * The commands that leave a request on the node: the running agent carries it out, or the next one.
 * A request that is about a config names its content, so it cannot hit a config that arrives before
 * the agent reads the request.
 */

import { describePause, findNodePause, findPause } from '../../../decision/find-pause.ts'
import { isInRollout } from '../../../decision/rollout-turn.ts'
import type { NextStart, Snapshot } from '../../../decision/snapshot.ts'
import { assess, nextAfter } from '../../../decision/target.ts'
import { measureTrial } from '../../../decision/trial.ts'
import { listUncompared } from '../../../evidence/judge.ts'
import { describeSource, LOCAL_CONTENT } from '../../../subject/config-source.ts'
import { hasPassed } from '../../../subject/trial-key.ts'
import { errorMessage } from '../../../values/errors.ts'
import { type CommandLine, EXIT, type ExitCode, Failure, switchOption } from '../../command.ts'
import { demandConsent, YES } from '../../consent.ts'
import { plainText } from '../../terminal.ts'
import type { AgentPresence, CommandContext, NodeCommand } from '../command.ts'
import { judgeLocal } from '../held-configs.ts'

export const pauseCommand: NodeCommand = {
  name: 'pause',
  takes: 'node',
  group: 'Control',
  summary: 'stop activations, restarts and rollbacks until resume',
  description:
    'Keeps this node as it is: until resume, no config is activated, kubelet is not restarted and nothing is rolled back. ' +
    'The agent still saves and reports what the cluster assigns. A pause survives restarts of the agent and of the node.',
  options: [],
  examples: [['pause', 'before you work on this node']],
  execute: pause,
}

async function pause({ terminal, requests, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before === 'paused') {
    terminal.out('Already paused; kubelet-cfg-agent resume ends the pause.\n')
    return EXIT.fine
  }
  requestWriter.requestHold('paused')
  if (before === 'local') terminal.out('This replaces the earlier reset: the node is no longer held on its local config.\n')
  terminal.out('Paused: no config is activated, kubelet is not restarted and nothing is rolled back until kubelet-cfg-agent resume.\n')
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

export const resumeCommand: NodeCommand = {
  name: 'resume',
  takes: 'node',
  group: 'Control',
  summary: 'end pause and reset',
  description:
    'Ends pause and reset: this node follows what the cluster assigns again. A pause by an annotation stays, and is ' +
    'named: remove the annotation to end it.',
  options: [],
  examples: [['resume', 'when your work on the node is done']],
  execute: resume,
}

async function resume({ terminal, requests, requestWriter, observe, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before !== 'none') requestWriter.clearHold()
  const pause = await describeClusterPause(observe)
  if (before === 'none') {
    terminal.out(
      pause === undefined ? 'Nothing to resume: this node is neither paused nor reset.\n' : `Nothing to resume on this node. ${pause}\n`,
    )
    return EXIT.fine
  }
  const follows = pause === undefined ? ': this node follows what the cluster assigns again.' : `. ${pause}`
  terminal.out(`Resumed from ${before === 'paused' ? 'pause' : 'reset'}${follows}\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

/** The hold has ended by then, whatever can be read of the rest. */
async function describeClusterPause(observe: CommandContext['observe']): Promise<string | undefined> {
  try {
    const seen = await observe()
    return describePauseHere({ ...seen, requests: { ...seen.requests, hold: 'none' } }, 'no other config is activated')
  } catch (error) {
    return `Whether the cluster pauses it is not known: ${errorMessage(error)}`
  }
}

export const retryCommand: NodeCommand = {
  name: 'retry',
  takes: 'node',
  group: 'Control',
  summary: 'drop verdicts and try the assigned config again',
  description:
    'Drops the verdicts on this node. The agent then tries the assigned config again, even if it was refused, failed or was rolled back. ' +
    'Does not remove a veto in a rollout: raise retry in its plan.',
  options: [],
  examples: [['retry', 'after you removed a cause outside the config']],
  execute: retry,
}

async function retry({ terminal, observe, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const snapshot = await observe()
  const { verdicts, requests } = snapshot
  // Requested even if no verdict is on disk: an agent whose disk is full keeps verdicts in memory.
  requestWriter.requestRetry()
  if (verdicts.size === 0) terminal.out('No verdict is recorded; the agent drops any that it could not write.\n')
  for (const { source, state, reason, detail } of verdicts.values()) {
    terminal.out(`Requested to drop the ${state} verdict on ${describeSource(source)} (${reason}: ${plainText(detail)}).\n`)
  }
  const consequence = 'no config is tried'
  const hold =
    requests.hold === 'local'
      ? `This node is held on its local config: ${consequence} until kubelet-cfg-agent resume.`
      : describePauseHere(snapshot, consequence)
  if (hold !== undefined) terminal.out(`${hold}\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

export const rollbackCommand: NodeCommand = {
  name: 'rollback',
  takes: 'node',
  group: 'Control',
  summary: 'roll back the config that kubelet starts with next',
  description:
    'Rolls back the config that kubelet starts with next, as if it had failed: kubelet is restarted with the first of ' +
    'last-known-good, previous and local that has not failed. The agent does not use the config again until its content, ' +
    'kubelet or the flags of kubelet change, or until retry. In a rollout that is not finished this is a veto, which by default ' +
    'halts the rollout for all nodes, and which retry does not remove: the command asks first. It also asks where only a local ' +
    'config is left that kubelet refuses. To take only this node off the config, use reset.',
  options: [YES],
  examples: [
    ['rollback', 'reject a config that looks healthy to the agent'],
    ['rollback --yes', 'the same from a script, even if that halts a rollout'],
  ],
  execute: rollBack,
}

async function rollBack(context: CommandContext, line: CommandLine): Promise<ExitCode> {
  const { terminal, observe, requestWriter, agent } = context
  const snapshot = await observe()
  const found = findRollback(snapshot.nextStart)
  const next = nextAfter(assess(snapshot), found)
  const effect = `kubelet returns to ${next === undefined ? 'what has not failed, which no record names now' : describeSource(next.source)}`
  if (isInRollout(snapshot, found.source, found.content)) {
    terminal.err(
      `${found.name} is in a rollout that is not known to be finished. To roll it back here is a veto, which by default halts the ` +
        `rollout for all nodes, and retry does not take it back. On this node, ${effect}. To take off this node alone, use reset.\n`,
    )
    await demandConsent(context, line, `Roll back ${found.name}, and tell its rollout that it failed here?`)
  }
  const refusal = next?.source === 'local' ? await findRefusal(context) : undefined
  if (refusal !== undefined) {
    terminal.err(
      `This kubelet refuses its local config, and nothing else is left to fall back to, so kubelet would stay down: ${refusal}\n`,
    )
    await demandConsent(context, line, `Roll back ${found.name} all the same?`)
  }
  requestWriter.requestRollback(found.content)
  terminal.out(`Requested to roll back ${found.name}: ${effect}.\n`)
  terminal.out(
    `${found.name} is not used again until its content, kubelet or the flags of kubelet change, or until kubelet-cfg-agent retry.\n`,
  )
  const pause = describePauseHere(snapshot, 'kubelet is not restarted', findNodePause(snapshot))
  if (pause !== undefined) terminal.out(`${pause}\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

/** @throws Failure: there is nothing to roll back */
function findRollback(nextStart: NextStart) {
  if (nextStart.kind === 'unknown') {
    throw new Failure(`cannot tell what kubelet starts with next: ${nextStart.detail}`)
  }
  const { source, content } = nextStart.held
  if (source === 'local') throw new Failure('the next start of kubelet uses its local config: there is nothing to roll back')
  const name = describeSource(source)
  if (content === undefined) {
    throw new Failure(
      `the checkpoint of ${name} is missing or incomplete, so its content cannot be identified; a running agent falls back by itself`,
    )
  }
  return { source, content, name }
}

export const promoteCommand: NodeCommand = {
  name: 'promote',
  takes: 'node',
  group: 'Control',
  summary: 'promote the config on trial although it is not known how the node was before',
  description:
    'A trial is held if evidence says no and the agent does not know how the node was before the config, for example since the ' +
    'API server did not answer then. With this command you say that the node was like that before, or that you accept it: the ' +
    'config becomes last-known-good when its trial is over. If the node worked before, the command does not overrule evidence ' +
    'that says no: set that kind to watched. The promotion proves nothing in a rollout.',
  options: [],
  examples: [['promote', 'end a trial on a node that was not Ready before the config either']],
  execute: requestPromotion,
}

async function requestPromotion({ terminal, observe, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const snapshot = await observe()
  const found = findPromotion(snapshot)
  requestWriter.requestPromote(found.content)
  terminal.out(`Requested to promote ${found.name}${found.isOver ? '' : ' when its trial is over'}, whatever was before: ${found.kinds}.\n`)
  const pause = describePauseHere(snapshot, 'the trial goes on')
  if (pause !== undefined) terminal.out(`${pause}\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

/** @throws Failure: there is nothing to promote */
function findPromotion(snapshot: Snapshot) {
  const { running, nextStart } = snapshot
  if (running.kind !== 'known') throw new Failure('kubelet does not run, or what it runs is not known')
  if (nextStart.kind !== 'known' || nextStart.held.content !== running.content)
    throw new Failure('kubelet does not run what it starts with next: nothing is on trial')
  const { source } = nextStart.held
  if (source === 'local') throw new Failure('kubelet runs its local config: there is nothing to promote')
  const name = describeSource(source)
  if (hasPassed(snapshot, running.key)) throw new Failure(`${name} has passed its trial`)
  const kinds = listUncompared(snapshot)
  if (kinds.length === 0)
    throw new Failure(`nothing holds the trial of ${name} that a person could decide; kubelet-cfg-agent status says what it waits for`)
  const isOver = measureTrial(snapshot, running.key)?.remainingUs === 0
  return { content: running.content, name, kinds: kinds.join(', '), isOver }
}

export const resetCommand: NodeCommand = {
  name: 'reset',
  takes: 'node',
  group: 'Control',
  summary: 'return to the local config until resume',
  description:
    'Returns this node to the config that kubelet was provisioned with. The node ignores what the cluster assigns until resume. ' +
    'Last-known-good and previous become local too, so the trial after resume has local as its only fallback. Kubelet is restarted if it runs another config. ' +
    'If this kubelet refuses its local config, add --force. If kubelet fails with local, the node goes back to what ran.',
  options: [switchOption('force', 'reset even if this kubelet refuses its local config')],
  examples: [
    ['reset', 'take this node out of dynamic configuration'],
    ['reset --force', 'the same, although preflight refuses the local config'],
  ],
  execute: reset,
}

async function reset(context: CommandContext, { options }: CommandLine): Promise<ExitCode> {
  const { terminal, requests, requestWriter, agent } = context
  const { hold: before, force: isForced } = requests.read()
  const force = options.force === 'true'
  if (before === 'local' && (isForced === true || !force)) {
    terminal.out('Already held on the local config; kubelet-cfg-agent resume ends this.\n')
    return EXIT.fine
  }
  const refusal = force ? undefined : await findRefusal(context)
  if (refusal !== undefined)
    throw new Failure(
      `this kubelet refuses its local config, so nothing was requested: ${refusal}; correct the local config, or run ` +
        'kubelet-cfg-agent reset --force',
    )
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

/**
 * @param consequence what does not happen meanwhile
 * @param pause the one that counts for it
 * @returns undefined: the node is not paused, as far as the agent has seen
 */
function describePauseHere(
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

/** When a request takes effect. */
function describeReach(agent: AgentPresence): string {
  switch (agent.kind) {
    case 'running':
      if (agent.isWithoutDirectory) return 'The directory of the running agent was removed: this applies when the agent starts again.'
      return `The running agent${agent.pid === undefined ? '' : ` (pid ${agent.pid})`} applies this at once.`
    case 'absent':
      return 'No agent is running: this applies when the agent starts.'
    case 'unknown':
      return `Cannot tell whether an agent is running (${agent.detail}): this applies at once, or when the agent starts.`
  }
}
