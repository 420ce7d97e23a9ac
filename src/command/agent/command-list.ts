// SPDX-License-Identifier: Apache-2.0
/** All commands, for the parser, the man pages and completion. */
import { PLAIN_COMMANDS } from '../plain-commands.ts'
import type { AgentCommand } from './command.ts'
import { checkCommand } from './commands/check.ts'
import { diffCommand } from './commands/diff.ts'
import { generateCommand } from './commands/generate.ts'
import { historyCommand } from './commands/history.ts'
import { planCommand } from './commands/plan.ts'
import { preflightUpgradeCommand } from './commands/preflight-upgrade.ts'
import { releaseCommand } from './commands/release.ts'
import { pauseCommand, promoteCommand, resetCommand, resumeCommand, retryCommand, rollbackCommand } from './commands/requests.ts'
import { rolloutCommand } from './commands/rollout.ts'
import { setAsideCommand } from './commands/set-aside.ts'
import { statusCommand } from './commands/status.ts'
import { validateCommand } from './commands/validate.ts'
import { runAgentCommand } from './program.ts'

/** In the order of the help. */
export const COMMANDS: readonly AgentCommand[] = [
  runAgentCommand,
  statusCommand,
  historyCommand,
  rolloutCommand,
  checkCommand,
  ...PLAIN_COMMANDS,
  validateCommand,
  diffCommand,
  planCommand,
  preflightUpgradeCommand,
  generateCommand,
  pauseCommand,
  resumeCommand,
  rollbackCommand,
  retryCommand,
  promoteCommand,
  resetCommand,
  setAsideCommand,
  releaseCommand,
]
