// SPDX-License-Identifier: Apache-2.0
/** `rollout status`: follows a rollout until it is done or halted. */
import { type Limit, parseLimit, showLimit } from '../../../rollout/guard.ts'
import { nameHurt } from '../../../rollout/guard-veto.ts'
import { describeShare, isGuard } from '../../../rollout/progress.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { durationKind, type Kind } from '../../../settings/setting-kinds.ts'
import { HOUR_US, parseDuration, SECOND_US } from '../../../values/durations.ts'
import { type CommandLine, EXIT, type ExitCode, Misuse, switchOption } from '../../command.ts'
import { Outage } from '../../failure.ts'
import { describePlan, documentPlan, findWindowNow } from '../../plan-text.ts'
import { paint, plainText, type Tone } from '../../terminal.ts'
import { PLUGIN_NAME, type PluginCommand, type PluginContext, untilUnread } from '../command.ts'
import { checkMayHalt, type GuardLook, haltRollout, NodeGuard } from '../node-guard.ts'
import { CONFIG_NAME, OUTPUT_WITH_YAML } from '../options.ts'
import { type EarlierLook, lookAtRollout, type RolloutLook } from '../rollout-state.ts'

const LOOK_EVERY_MS = 2000
/** A week. */
const LONGEST_US = 168 * HOUR_US
const CLEAR_LINE = '\r\u001b[K'

const limitKind: Kind<Limit> = {
  placeholder: '<number or percent>',
  parse(text) {
    const value = parseLimit(text)
    return value === undefined
      ? { ok: false, detail: `"${text}" is neither a number of nodes nor a percentage, as 3 or 2%` }
      : { ok: true, value }
  },
  show: showLimit,
}

export const rolloutStatusCommand: PluginCommand = {
  name: 'rollout status',
  group: 'Roll out',
  summary: 'follow the rollout of a config until it is done or halted',
  description:
    'Shows the stages of a rollout as a bar on a terminal, and as a line for each change elsewhere. Ends when the last stage is ' +
    'open and the config is not paused, so that every node may start the config, or when the rollout is halted. With ' +
    '--halt-if-not-ready it halts the rollout itself if more nodes are hurt than the limit. A node is hurt if it was Ready when ' +
    'it started the content, and then is not Ready for 2 minutes, is gone, or reports that the content failed. rollout retry ends ' +
    'that halt. When the last stage is open, workers can no longer be halted: the command then watches until the last nodes have ' +
    'had time to show harm, and names undo.',
  arguments: [CONFIG_NAME],
  options: [
    OUTPUT_WITH_YAML,
    { ...switchOption('watch', 'follow the rollout, which is the default; false is --once', 'w'), initial: 'true' },
    switchOption('once', 'print the progress once; the exit code is 2 while the rollout is under way'),
    {
      name: 'halt-if-not-ready',
      kind: limitKind,
      initial: '',
      help: 'halt the rollout if it hurts more nodes than this, or more than this share of those that started it',
    },
    { name: 'timeout', kind: durationKind(SECOND_US, LONGEST_US), initial: '', help: 'end after this time with exit code 2, as in 45m' },
  ],
  exits: { [EXIT.fine]: 'done', [EXIT.failed]: 'halted', [EXIT.usage]: 'cannot tell, under way, or invalid command line' },
  examples: [
    ['rollout status node-config', 'follow a rollout'],
    ['rollout status node-config --once', 'look once'],
    ['rollout status node-config --halt-if-not-ready 2% --timeout 2h', 'follow it in CI, and halt a wave that hurts'],
    ['rollout status node-config -o json', 'follow it in a script: a line for each change'],
  ],
  execute: follow,
}

async function follow(context: PluginContext, line: CommandLine): Promise<ExitCode> {
  const { options } = line
  const limit = parseLimit(options['halt-if-not-ready'] ?? '')
  const isOnce = options.once === 'true' || options.watch === 'false'
  if (isOnce && limit !== undefined) throw new Misuse('--halt-if-not-ready needs time to see nodes: leave --once out')
  const guard = limit === undefined ? undefined : new NodeGuard(context, limit)
  try {
    return await followWith(context, line, { isOnce, guard })
  } finally {
    guard?.close()
  }
}

async function followWith(
  context: PluginContext,
  { options, args: [name = ''] }: CommandLine,
  { isOnce, guard }: { readonly isOnce: boolean; readonly guard: NodeGuard | undefined },
): Promise<ExitCode> {
  const { terminal, isWatched, monotonicUs } = context
  const signal = untilUnread(context)
  const isForPeople = options.output !== 'json' && options.output !== 'yaml'
  const isLive = isWatched && !isOnce && isForPeople
  const timeout = parseDuration(options.timeout ?? '')
  const endUs = timeout.ok ? monotonicUs() + timeout.us : Number.POSITIVE_INFINITY
  let shown = ''
  const show = (text: string): void => {
    if (text === shown) return
    terminal.out(isLive ? `${CLEAR_LINE}${text}` : `${text}\n`)
    shown = text
  }
  const showLook = async (look: Seen): Promise<void> => {
    if (isForPeople) show(isWatched ? renderBar(look, context, terminal.width ?? 80) : describeProgress(look, context))
    else if (options.output === 'json') show(JSON.stringify(documentLook(context, look)))
    else show(`---\n${(await context.formatYaml(documentLook(context, look))).trimEnd()}`)
  }
  const end = (look: Seen, code: ExitCode): ExitCode => {
    const lines = isForPeople ? [...listPlan(look, context), ...listNodesOf(look, terminal.color)] : []
    terminal.out(`${isLive ? '\n' : ''}${lines.map((text) => `${text}\n`).join('')}`)
    return code
  }
  let before: EarlierLook | undefined
  let halts: 'all' | 'control planes' | undefined
  let isChecked = guard === undefined
  while (!signal.aborted) {
    let pauseMs = LOOK_EVERY_MS
    try {
      const rollout = await lookAtRollout(context, name, before)
      before = { observation: rollout.observation, atUs: monotonicUs() }
      if (!isChecked) await checkMayHalt(context, rollout)
      isChecked = true
      const look: Seen = { ...rollout, nodes: guard?.look(rollout) }
      await showLook(look)
      const { progress, nodes, isPaused } = look
      if (progress?.halted === true || halts !== undefined) {
        const code = end(look, EXIT.failed)
        if (halts === 'control planes') terminal.err(describeTooLate(name))
        return code
      }
      if (nodes?.mustHalt === true) {
        // Where somebody has changed the record meanwhile, all is read and decided anew.
        if (await haltRollout(context, rollout, nodes)) halts = progress?.finished === true ? 'control planes' : 'all'
        continue
      }
      // A pause holds back every node that has not started the config yet.
      const isDone = progress?.finished === true && !isPaused && (guard === undefined || nodes?.isOver === true)
      if (isDone || isOnce) return end(look, isDone ? EXIT.fine : EXIT.usage)
      if (monotonicUs() >= endUs) {
        terminal.err(`${isLive ? '\n' : ''}the rollout is not over after ${options.timeout}, and goes on\n`)
        return end(look, EXIT.usage)
      }
    } catch (error) {
      if (!(error instanceof Outage) || isOnce || monotonicUs() >= endUs) {
        if (isLive && shown !== '') terminal.out('\n')
        throw error
      }
      if (isForPeople) show(plainText(error.message))
      else terminal.err(`${plainText(error.message)}\n`)
      pauseMs = Math.max(LOOK_EVERY_MS, error.retryAfterMs)
    }
    await context.sleep(pauseMs)
  }
  if (isLive) terminal.out('\n')
  return EXIT.usage
}

interface Seen extends RolloutLook {
  /** undefined: nobody asked for it, or they are not known yet. */
  readonly nodes: GuardLook | undefined
}

function describeTooLate(name: string): string {
  return `The last stage is open, so this halts control planes, and no worker unless waves were changed in mid-rollout. To take the content back: ${PLUGIN_NAME} undo ${name}\n`
}

/** For programs: fields are added, never renamed or removed. */
function documentLook({ namespace, wallMs }: PluginContext, { config, hash, plan, progress, isPaused, nodes }: Seen): object {
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
    ...(nodes && { nodes: { limit: showLimit(nodes.limit), started: nodes.verdict.started, hurt: nodes.verdict.hurt } }),
  }
}

/** Cells of each stage. */
const CELLS = 2

/** One line of the terminal: `██ ██ █▒ ·· ·· ··  stage 2 of 5, 1 % of the nodes: 3 of 5 proofs`. */
function renderBar(state: Seen, context: PluginContext, width: number): string {
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
function describeProgress({ progress, plan, hash, isPaused, nodes }: Seen, { wallMs }: PluginContext): string {
  const { hurt = [], started } = nodes?.verdict ?? {}
  const window = findWindowNow(plan, hash, wallMs(), 0)
  const shut = 'detail' in window ? `; ${window.detail}` : ''
  const pause = `${hurt.length === 0 ? '' : `; ${hurt.length} of ${started} nodes hurt`}${isPaused ? '; the config is paused' : ''}${shut}`
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
function listNodesOf({ plan, progress, nodes }: Seen, color: boolean): string[] {
  const excluded = plan.excluded.length === 0 ? [] : [`Excluded: ${plan.excluded.map(plainText).join(', ')}`]
  if (progress === undefined) return excluded
  const { claimed, silent, vetoes, finished } = progress
  const { hurt = [], started } = nodes?.verdict ?? {}
  return [
    ...(claimed.length === 0 || finished ? [] : [`On trial: ${claimed.map(plainText).join(', ')}`]),
    ...(silent.length === 0 || finished ? [] : [`Did not report in time: ${silent.map(plainText).join(', ')}`]),
    ...vetoes.map(({ node, reason }) =>
      paint({ text: `${isGuard(node) ? 'Halted by rollout status' : `Failed on ${node}`}: ${reason}`, tone: 'bad' }, color),
    ),
    ...(hurt.length === 0 ? [] : [`Hurt, of ${started} nodes that started it: ${hurt.map(nameHurt).map(plainText).join(', ')}`]),
    ...excluded,
  ]
}
