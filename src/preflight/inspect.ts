/** Asks every part about one candidate and adds up what they say. Pure but for what the parts do: a list of them is passed in. */
import type { Finding, PartResult, Report } from './finding.ts'
import type { Inspect, InspectOptions, InspectPart } from './inspection.ts'
import { assembleReport } from './report.ts'

export function inspectWith(parts: readonly InspectPart[]): Inspect {
  return async (config, options) => {
    const { files, key } = config
    const text = Object.hasOwn(files, key) ? files[key] : undefined
    if (text === undefined) return refuseUnread('source/missing-key', `there is no key ${key}; there is ${listKeys(Object.keys(files))}`)
    const results: PartResult[] = []
    const findings: Finding[] = []
    const answers = await Promise.all(parts.map(async ({ name, judge }) => ({ name, report: await judge(text, config, options) })))
    for (const { name, report } of answers) {
      if (report === undefined) continue
      results.push({ part: name, outcome: report.outcome, detail: report.detail })
      findings.push(...report.findings)
    }
    const demanded = listDemanded(options)
    for (const name of demanded) {
      if (!results.some(({ part }) => part === name))
        results.push({ part: name, outcome: 'unjudged', detail: 'it was asked for, and cannot judge here' })
    }
    return assembleReport(results, findings, demanded)
  }
}

/** The report on what no part gets to see. */
export function refuseUnread(rule: string, problem: string, position?: Finding['position'], advice?: string): Report {
  const finding: Finding = { rule, severity: 'refuse', reason: 'load', path: [], position, problem, advice }
  return assembleReport([{ part: 'source', outcome: 'refused', detail: problem }], [finding])
}

/** Who names a kubelet, or asks for the long look, wants to know what came of it. */
function listDemanded({ kubelet, deep }: InspectOptions): string[] {
  return [...(kubelet === undefined ? [] : ['kubelet']), ...(deep ? ['kubelet-start'] : [])]
}

function listKeys(keys: readonly string[]): string {
  return keys.length === 0 ? 'none' : keys.join(', ').slice(0, 200)
}
