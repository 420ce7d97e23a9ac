/** Asks before a change, unless `--yes` says that it is wanted. Pure but for the question. */
import type { CommandOption } from '../command.ts'
import { switchKind } from '../../settings/setting-kinds.ts'
import type { PluginContext, PluginLine } from './command.ts'
import { Failure } from './failure.ts'

export const YES: CommandOption = { name: 'yes', short: 'y', kind: switchKind, initial: 'false', help: 'change it without a question' }
export const DRY_RUN: CommandOption = {
  name: 'dry-run',
  kind: switchKind,
  initial: 'false',
  help: 'show what would change, and change nothing',
}

/** @throws Failure: the answer is no, or there is nobody to ask */
export async function demandConsent({ ask }: PluginContext, { options }: PluginLine, question: string): Promise<void> {
  if (options.yes === 'true') return
  switch (await ask(question)) {
    case 'yes':
      return
    case 'no':
      throw new Failure('nothing was changed')
    case 'nobody':
      throw new Failure('nothing was changed: there is no terminal to ask at; give --yes')
  }
}
