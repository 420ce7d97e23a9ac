/**
 * Whether the rollouts of parts begin after an edit of their base, which leaves the parts
 * themselves as they are. Pure but for the API.
 */
import type { PluginContext } from './command.ts'
import { Failure } from './failure.ts'
import { isDisputed } from './rollout-state.ts'
import type { PartOver } from './users.ts'

/** `touch`: when the part itself becomes another version. */
export type Beginning = 'begins' | 'touch' | 'unknown'

/** @param parts those without a rollout are left out */
export async function judgeBeginnings(context: PluginContext, parts: readonly PartOver[]): Promise<ReadonlyMap<PartOver, Beginning>> {
  const beginnings = new Map<PartOver, Beginning>()
  for (const part of parts) if (part.isStaged) beginnings.set(part, await judge(context, part))
  return beginnings
}

async function judge(context: PluginContext, { namespace, name }: PartOver): Promise<Beginning> {
  try {
    return (await isDisputed({ ...context, namespace }, name)) ? 'touch' : 'begins'
  } catch (error) {
    if (error instanceof Failure) return 'unknown'
    throw error
  }
}
