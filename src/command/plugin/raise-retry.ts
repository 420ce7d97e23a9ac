/** Raises `retry` in the text of a plan, and leaves the rest of the text as it is. Pure. */
import { parsePlan } from '../../rollout/plan.ts'
import { Failure } from './failure.ts'

/**
 * The record may stand at a higher `retry` than the plan, as when GitOps put an earlier plan back.
 * Nodes begin again only above both.
 *
 * @param text undefined: there is no annotation
 * @param recorded `retry` in the state of the record
 * @throws Failure where the plan cannot be used
 */
export function raiseRetry(text: string | undefined, recorded: number): { readonly text: string; readonly retry: number } {
  const parsed = parsePlan(text)
  if (!parsed.ok) throw new Failure(parsed.problem)
  const retry = Math.max(parsed.plan.retry, recorded) + 1
  const raised = write(text ?? '', retry)
  const again = parsePlan(raised)
  if (!again.ok || again.plan.retry !== retry) throw new Failure(`retry: ${retry} does not fit into the plan: set the annotation by hand`)
  return { text: raised, retry }
}

function write(text: string, retry: number): string {
  const setting = `retry: ${retry}`
  if (text.trim() === '') return setting
  if (/retry: *\d+/.test(text)) return text.replace(/retry: *\d+/, setting)
  return text.includes('\n') ? `${text.replace(/\n+$/, '')}\n${setting}` : `${text}, ${setting}`
}
