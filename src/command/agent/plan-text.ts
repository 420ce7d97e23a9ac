/** The text that `plan` prints for people. Pure. */
import { formatDuration, SECOND_US } from '../../values/durations.ts'
import { renderChanges } from '../changes-text.ts'
import { type Course, documentPlan, type PlanDocument, type PlanFacts } from './plan-document.ts'
import { type ReportLook, renderFindings, renderParts } from '../report-text.ts'
import { describeAgent, describeDocument, toneOfPhase } from './status-text.ts'
import { alignColumns, type Cell, paint } from '../terminal.ts'

/** @param text the wanted config, whose lines are shown with findings */
export function renderPlan(facts: PlanFacts, text: string | undefined, look: ReportLook): string {
  const plan = documentPlan(facts)
  const { color } = look
  const { trialUs } = facts.snapshot.policy
  const lines = [...alignColumns(listFacts(plan), color), '', ...renderCourse('The agent would', plan, trialUs, color)]
  if (plan.afterResume !== null) lines.push('', ...renderCourse('After resume, it would', plan.afterResume, trialUs, color))
  if (facts.report !== undefined) {
    const { name, report } = facts.report
    lines.push('', heading(`Preflight of ${name}: ${report.outcome}`, color), '')
    lines.push(...renderFindings(name, text, report.findings, look), ...renderParts(report.parts, color))
  }
  lines.push('', ...renderDifference(facts, color))
  return `${lines.join('\n')}\n`
}

function listFacts(plan: PlanDocument): Cell[][] {
  const rows: Cell[][] = [
    ['Node', plan.node],
    ['Agent', describeAgent(plan.agent)],
    ['Kubelet', `${plan.unit.activity}: ${plan.unit.detail}`],
    ['Wanted', ...describeDocument(plan.wanted)],
    ['Assigned', ...describeDocument(plan.assigned)],
    ['Active', ...describeDocument(plan.active)],
    ['Last known good', ...describeDocument(plan.lastKnownGood)],
  ]
  return plan.hold === 'none' ? rows : [...rows, ['Hold', { text: `${plan.hold}, until resume`, tone: 'warning' }]]
}

function renderCourse(who: string, { steps, rest, restart }: Course, trialUs: number, color: boolean): string[] {
  const rows = steps.map(({ detail, afterSeconds }, index): Cell[] => [`${index + 1}`, describeTime(afterSeconds), detail])
  const end: Cell[] = ['', steps.length === 0 ? 'now' : 'then', { text: `${rest.phase}: ${rest.detail}`, tone: toneOfPhase(rest.phase) }]
  return [
    heading(steps.length === 0 ? `${who} do nothing.` : `${who}, if all goes well:`, color),
    ...alignColumns([...rows, end], color),
    describeRestart(restart),
    ...(restart.due && rest.phase === 'in-trial'
      ? [`It becomes last-known-good after ${formatDuration(trialUs)} of healthy running.`]
      : []),
  ]
}

function describeRestart({ due, afterSeconds }: Course['restart']): string {
  if (!due) return 'Kubelet is not restarted.'
  return afterSeconds === null || afterSeconds === 0
    ? 'Kubelet is restarted at once.'
    : `Kubelet is restarted in ${formatDuration(afterSeconds * SECOND_US)}.`
}

function renderDifference({ compared }: PlanFacts, color: boolean): string[] {
  if (!compared.ok) return [paint({ text: `Cannot tell what would change: ${compared.detail}`, tone: 'warning' }, color)]
  if (compared.changes.length === 0) return ['No field changes.']
  return [heading('What changes:', color), ...renderChanges(compared.changes, color)]
}

function describeTime(afterSeconds: number): string {
  return afterSeconds === 0 ? 'now' : `in ${formatDuration(afterSeconds * SECOND_US)}`
}

function heading(text: string, color: boolean): string {
  return paint({ text, tone: 'strong' }, color)
}
