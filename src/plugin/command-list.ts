/** All commands of the plugin, in the order of the help. */
import type { PluginCommand } from './command.ts'
import { getCommand } from './commands/get.ts'

export const PLUGIN_COMMANDS: readonly PluginCommand[] = [getCommand]
