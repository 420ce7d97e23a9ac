/** Asks every part about one candidate and adds up what they say. Pure but for what the parts do: a list of them is passed in. */

import type { Finding, PartResult, Report } from './finding.ts'
import { type Answer, heedKubelet } from './heed-kubelet.ts'
import type { Inspect, InspectedConfig, InspectOptions, InspectPart, PartInput, Recipient } from './inspection.ts'
import { listKeys } from './quick-check.ts'
import { readDocument } from './read-document.ts'
import { assembleReport } from './report.ts'

/** @param address finds out whom a config is for */
export function inspectWith(
  parts: readonly InspectPart[],
  address: (config: InspectedConfig, options: InspectOptions) => Promise<Recipient>,
): Inspect {
  return async (config, options) => {
    const { files, key } = config
    const text = Object.hasOwn(files, key) ? files[key] : undefined
    if (text === undefined) return refuseUnread('source/missing-key', `there is no key ${key}; there is ${listKeys(files)}`)
    const read = await readDocument(text)
    if (!read.ok) return refuseUnread('fields/load', withoutPlace(read.detail, read.position), read.position)
    const subject = { ...(await address(config, options)), config, document: read.document, options }
    const quick = await ask(
      parts.filter(({ slow }) => !slow),
      subject,
    )
    const slow =
      isRefused(quick) || isBlind(quick)
        ? NOTHING
        : await ask(
            parts.filter((part) => part.slow),
            subject,
          )
    const results = [...quick.results, ...slow.results]
    const demanded = listDemanded(options)
    for (const part of demanded) {
      if (!results.some((result) => result.part === part))
        results.push({ part, outcome: 'unjudged', detail: 'it was asked for, and cannot judge here' })
    }
    return assembleReport(results, [...quick.findings, ...slow.findings], demanded)
  }
}

interface Answers {
  readonly results: readonly PartResult[]
  readonly findings: readonly Finding[]
}
const NOTHING: Answers = { results: [], findings: [] }

async function ask(parts: readonly InspectPart[], subject: PartInput): Promise<Answers> {
  const asked = await Promise.all(
    parts.map(async (part): Promise<Answer[]> => {
      const report = await part.run(subject)
      return report === undefined ? [] : [{ part: part.name, report }]
    }),
  )
  const answers = heedKubelet(asked.flat())
  const results = answers.map(({ part, report }) => ({ part, outcome: report.outcome, detail: report.detail }))
  return { results, findings: answers.flatMap(({ report }) => report.findings) }
}

function isRefused({ results, findings }: Answers): boolean {
  return results.some(({ outcome }) => outcome === 'refused') || findings.some(({ severity }) => severity === 'refuse')
}

/** A kubelet that cannot be asked to load a config cannot be asked to start with it either. */
function isBlind({ results }: Answers): boolean {
  return results.some(({ part, outcome }) => part === 'kubelet' && outcome === 'unjudged')
}

/** The report on what no part gets to see. */
export function refuseUnread(rule: string, problem: string, position?: Finding['position'], advice?: string): Report {
  const finding: Finding = { rule, severity: 'refuse', reason: 'load', path: [], position, problem, advice }
  return assembleReport([{ part: 'source', outcome: 'refused', detail: problem }], [finding])
}

/** The place has a place of its own in a report. */
function withoutPlace(detail: string, position: Finding['position']): string {
  return position === undefined ? detail : detail.replace(` at line ${position.line}, column ${position.column}`, '')
}

/** Who names a kubelet, or asks for the long look, wants to know what came of it. */
function listDemanded({ kubelet, deep }: InspectOptions): string[] {
  return [...(kubelet === undefined ? [] : ['kubelet']), ...(deep === 'demanded' ? ['kubelet-start'] : [])]
}
