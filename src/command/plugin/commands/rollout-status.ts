/** `rollout status`: follows a rollout until it is done or halted. */
import { EXIT, type ExitCode } from '../../command.ts'
import { plainText } from '../../terminal.ts'
import { switchKind } from '../../../settings/setting-kinds.ts'
import type { PluginCommand, PluginContext, PluginLine } from '../command.ts'
import { Outage } from '../failure.ts'
import { CONFIG_NAME } from '../global-options.ts'
import { type EarlierLook, readRollout } from '../rollout-state.ts'
import { describeProgress, listNodesOf, renderBar } from '../rollout-text.ts'
import { untilUnread } from '../until-unread.ts'

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
  options: [
    {
      name: 'once',
      kind: switchKind,
      initial: 'false',
      help: 'print the progress once; the exit code is 2 while the rollout is under way',
    },
  ],
  exits: { [EXIT.fine]: 'done', [EXIT.failed]: 'halted', [EXIT.usage]: 'cannot tell, under way, or invalid command line' },
  examples: [
    ['rollout status node-config', 'follow a rollout'],
    ['rollout status node-config --once', 'look once'],
  ],
  execute: follow,
}

async function follow(context: PluginContext, { options, args: [name = ''] }: PluginLine): Promise<ExitCode> {
  const { terminal, isWatched, monotonicUs } = context
  const signal = untilUnread(context)
  const isOnce = options.once === 'true'
  const isLive = isWatched && !isOnce
  let shown = ''
  const show = (line: string): void => {
    if (line === shown) return
    terminal.out(isLive ? `${CLEAR_LINE}${line}` : `${line}\n`)
    shown = line
  }
  let before: EarlierLook | undefined
  while (!signal.aborted) {
    try {
      const state = await readRollout(context, name, before)
      before = { observation: state.observation, atUs: monotonicUs() }
      show(isWatched ? renderBar(state, terminal.color, terminal.width ?? 80) : describeProgress(state))
      // A pause holds back every node that has not started the config yet.
      const isDone = state.progress?.finished === true && !state.isPaused
      if (isDone || state.progress?.halted === true || isOnce) {
        const names = listNodesOf(state, terminal.color)
        terminal.out(`${isLive ? '\n' : ''}${names.map((line) => `${line}\n`).join('')}`)
        if (state.progress?.halted === true) return EXIT.failed
        return isDone ? EXIT.fine : EXIT.usage
      }
    } catch (error) {
      if (!(error instanceof Outage) || isOnce) {
        if (isLive && shown !== '') terminal.out('\n')
        throw error
      }
      show(plainText(error.message))
    }
    await context.sleep(LOOK_EVERY_MS)
  }
  if (isLive) terminal.out('\n')
  return EXIT.usage
}
