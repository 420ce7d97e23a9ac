// SPDX-License-Identifier: Apache-2.0
/** The question before a change that cannot be taken back by itself, in either program. Pure. */
import { type CommandLine, type CommandOption, Failure, switchOption } from './command.ts'

/** `nobody`: there is no terminal to ask at. */
export type Consent = 'yes' | 'no' | 'nobody'

export const YES: CommandOption = switchOption('yes', 'do not ask before the change', 'y')

/**
 * Asks before a change, unless `--yes` says that it is wanted.
 *
 * @throws Failure: the answer is no, or there is nobody to ask
 */
export async function demandConsent(
  { ask }: { ask(question: string): Promise<Consent> },
  { options }: CommandLine,
  question: string,
): Promise<void> {
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
