/** All commands of the plugin, in the order of the help. */
import type { PluginCommand } from './command.ts'
import { applyCommand } from './commands/apply.ts'
import { assignCommand, unassignCommand } from './commands/assign.ts'
import { checkCommand } from './commands/check.ts'
import { diffCommand } from './commands/diff.ts'
import { getCommand } from './commands/get.ts'
import {
  rolloutExcludeCommand,
  rolloutIncludeCommand,
  rolloutPauseCommand,
  rolloutResumeCommand,
  rolloutRetryCommand,
} from './commands/rollout-change.ts'
import { rolloutInitCommand } from './commands/rollout-init.ts'
import { rolloutStatusCommand } from './commands/rollout-status.ts'
import { upgradeCheckCommand } from './commands/upgrade-check.ts'
import { undoCommand, versionsCommand } from './commands/versions.ts'
import { whyCommand } from './commands/why.ts'

export const PLUGIN_COMMANDS: readonly PluginCommand[] = [
  getCommand,
  whyCommand,
  diffCommand,
  checkCommand,
  upgradeCheckCommand,
  versionsCommand,
  applyCommand,
  assignCommand,
  unassignCommand,
  undoCommand,
  rolloutStatusCommand,
  rolloutPauseCommand,
  rolloutResumeCommand,
  rolloutRetryCommand,
  rolloutExcludeCommand,
  rolloutIncludeCommand,
  rolloutInitCommand,
]
