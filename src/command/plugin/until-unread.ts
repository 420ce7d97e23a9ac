/** When a command ends that looks on until it is stopped. */
import type { PluginContext } from './command.ts'

export function untilUnread({ signal, terminal }: Pick<PluginContext, 'signal' | 'terminal'>): AbortSignal {
  return terminal.unread === undefined ? signal : AbortSignal.any([signal, terminal.unread])
}
