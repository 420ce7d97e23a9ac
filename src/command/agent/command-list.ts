/** All commands, for the parser, the man pages and completion. */
import type { Command } from '../command.ts'
import { checkCommand } from './commands/check.ts'
import { diffCommand } from './commands/diff.ts'
import { generateCommand } from './commands/generate.ts'
import { historyCommand } from './commands/history.ts'
import { pauseCommand } from './commands/pause.ts'
import { planCommand } from './commands/plan.ts'
import { preflightUpgradeCommand } from './commands/preflight-upgrade.ts'
import { promoteCommand } from './commands/promote.ts'
import { releaseCommand } from './commands/release.ts'
import { resetCommand } from './commands/reset.ts'
import { resumeCommand } from './commands/resume.ts'
import { retryCommand } from './commands/retry.ts'
import { rollbackCommand } from './commands/rollback.ts'
import { rolloutCommand } from './commands/rollout.ts'
import { runCommand } from './commands/run.ts'
import { statusCommand } from './commands/status.ts'
import { validateCommand } from './commands/validate.ts'
import { versionCommand } from './commands/version.ts'

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  runCommand,
  statusCommand,
  historyCommand,
  rolloutCommand,
  checkCommand,
  versionCommand,
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
  releaseCommand,
]
