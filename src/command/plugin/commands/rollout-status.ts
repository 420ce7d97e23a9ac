// SPDX-License-Identifier: Apache-2.0
/** `rollout status`: follows a rollout until it is done or halted. */
import { describeShare } from '../../../rollout/progress.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { type CommandLine, EXIT, type ExitCode, switchOption } from '../../command.ts'
import { Outage } from '../../failure.ts'
import { describePlan, documentPlan } from '../../plan-text.ts'
import { paint, plainText, type Tone } from '../../terminal.ts'
import { type PluginCommand, type PluginContext, untilUnread } from '../command.ts'
import { CONFIG_NAME, OUTPUT_WITH_YAML } from '../options.ts'
import { type EarlierLook, lookAtRollout, type RolloutLook } from '../rollout-state.ts'

const LOOK_EVERY_MS = 2000
const CLEAR_LINE = '\r\u001b[K'

export const rolloutStatusCommand: PluginCommand = {
  name: 'rollout status',
  group: 'Roll out',
  summary: 'follow the rollout of a config until it is done or halted',
  description:
    'Shows the stages of a rollout as a bar while a terminal watches, and as a line for each change where none does. Ends when ' +
    'the last stage is open and the config is not paused, which lets every node start the config, or when the rollout is halted.',
  arguments: [CONFIG_NAME],
  options: [OUTPUT_WITH_YAML, switchOption('once', 'print the progress once; the exit code is 2 while the rollout is under way')],
  exits: { [EXIT.fine]: 'done', [EXIT.failed]: 'halted', [EXIT.usage]: 'cannot tell, under way, or invalid command line' },
  examples: [
    ['rollout status node-config', 'follow a rollout'],
    ['rollout status node-config --once', 'look once'],
    ['rollout status node-config -o json', 'follow it in a script: a line for each change'],
  ],
  execute: follow,
}

async function follow(context: PluginContext, { options, args: [name = ''] }: CommandLine): Promise<ExitCode> {
  const { terminal, isWatched, monotonicUs } = context
  const signal = untilUnread(context)
  const isOnce = options.once === 'true'
  const isForPeople = options.output !== 'json' && options.output !== 'yaml'
  const isLive = isWatched && !isOnce && isForPeople
  let shown = ''
  const show = (line: string): void => {
    if (line === shown) return
    terminal.out(isLive ? `${CLEAR_LINE}${line}` : `${line}\n`)
    shown = line
  }
  let before: EarlierLook | undefined
  while (!signal.aborted) {
    try {
      const state = await lookAtRollout(context, name, before)
      before = { observation: state.observation, atUs: monotonicUs() }
      if (isForPeople) show(isWatched ? renderBar(state, context, terminal.width ?? 80) : describeProgress(state, context))
      else
        show(
          options.output === 'json'
            ? JSON.stringify(documentLook(context, state))
            : `---\n${(await context.formatYaml(documentLook(context, state))).trimEnd()}`,
        )
      // A pause holds back every node that has not started the config yet.
      const isDone = state.progress?.finished === true && !state.isPaused
      if (isDone || state.progress?.halted === true || isOnce) {
        const names = isForPeople ? [...listPlan(state, context), ...listNodesOf(state, terminal.color)] : []
        terminal.out(`${isLive ? '\n' : ''}${names.map((line) => `${line}\n`).join('')}`)
        if (state.progress?.halted === true) return EXIT.failed
        return isDone ? EXIT.fine : EXIT.usage
      }
    } catch (error) {
      if (!(error instanceof Outage) || isOnce) {
        if (isLive && shown !== '') terminal.out('\n')
        throw error
      }
      if (isForPeople) show(plainText(error.message))
      else terminal.err(`${plainText(error.message)}\n`)
    }
    await context.sleep(LOOK_EVERY_MS)
  }
  if (isLive) terminal.out('\n')
  return EXIT.usage
}

/** For programs: fields are added, never renamed or removed. */
function documentLook({ namespace, wallMs }: PluginContext, { config, hash, plan, progress, isPaused }: RolloutLook): object {
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'ConfigRolloutStatus',
    config: `${namespace}/${config.name}`,
    paused: isPaused,
    excluded: plan.excluded,
    hash,
    plan: documentPlan(plan, hash, wallMs()),
    /** null: the rollout of this content has not begun. */
    progress: progress ?? null,
  }
}

/** Cells of each stage. */
const CELLS = 2

/** One line of the terminal: `██ ██ █▒ ·· ·· ··  stage 2 of 5, 1 % of the nodes: 3 of 5 proofs`. */
function renderBar(state: RolloutLook, context: PluginContext, width: number): string {
  const { color } = context.terminal
  const { progress, plan } = state
  const stages = Array.from({ length: plan.waves.length + 2 }, (_, stage) => {
    if (progress === undefined || stage > progress.stage) return paint({ text: '·'.repeat(CELLS), tone: 'faint' }, color)
    if (stage < progress.stage || progress.finished) return paint({ text: '█'.repeat(CELLS), tone: 'good' }, color)
    const done = Math.min(CELLS, Math.floor((progress.proofs / progress.needed) * CELLS))
    const tone: Tone = progress.halted ? 'bad' : 'warning'
    return (
      paint({ text: '█'.repeat(done), tone: 'good' }, color) +
      paint({ text: (progress.halted ? '!' : '▒').repeat(CELLS - done), tone }, color)
    )
  })
  const left = Math.max(0, width - stages.length * (CELLS + 1) - 2)
  return `${stages.join(' ')}  ${describeProgress(state, context).replace('open to ', '').slice(0, left)}`
}

/** One line, without who has vetoed. */
function describeProgress({ progress, plan, hash, isPaused }: RolloutLook, { wallMs }: PluginContext): string {
  const { windows } = documentPlan(plan, hash, wallMs())
  const shut = windows === null || windows.state === 'open' || windows.state === 'now' ? '' : `; ${windows.detail}`
  const pause = `${isPaused ? '; the config is paused' : ''}${shut}`
  if (progress === undefined) return `the rollout has not begun${pause}`
  const { stage, lastStage, proofs, needed, claimed, finished, halted } = progress
  const place = `stage ${stage} of ${lastStage}, open to ${describeShare(progress)}`
  if (finished) return `${place}: finished${pause}`
  const trials = claimed.length === 0 ? '' : `, ${claimed.length} on trial`
  return `${place}: ${halted ? 'halted' : `${proofs} of ${needed} proofs${trials}`}${pause}`
}

/** The words of the plan about where and when, and the promise that zones do not make. */
function listPlan({ plan, hash }: RolloutLook, { wallMs }: PluginContext): string[] {
  const rows = describePlan(documentPlan(plan, hash, wallMs())).map(([name, text]) => `${name}: ${plainText(text)}`)
  const most = plan.witnesses + plan.maxSilent
  return plan.zones.length === 0 ? rows : [...rows, `Up to ${most} nodes of the next zone start before a stage opens it.`]
}

/** The names that the line leaves out. */
function listNodesOf({ plan, progress }: RolloutLook, color: boolean): string[] {
  const excluded = plan.excluded.length === 0 ? [] : [`Excluded: ${plan.excluded.map(plainText).join(', ')}`]
  if (progress === undefined) return excluded
  const { claimed, silent, vetoes, finished } = progress
  return [
    ...(claimed.length === 0 || finished ? [] : [`On trial: ${claimed.map(plainText).join(', ')}`]),
    ...(silent.length === 0 || finished ? [] : [`Did not report in time: ${silent.map(plainText).join(', ')}`]),
    ...vetoes.map(({ node, reason }) => paint({ text: `Failed on ${node}: ${reason}`, tone: 'bad' }, color)),
    ...excluded,
  ]
}
