/**
 * Runs every part of preflight on one candidate and combines the results. Pure except for the
 * parts.
 */

import { BASE_ANNOTATION } from '../decision/channels.ts'
import { NO_KIND } from '../kubelet/decode.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import { listKeys } from './decode-candidate.ts'
import { mergeDocument, nameDropIn } from './drop-ins/check-drop-ins.ts'
import type { Finding, PartResult } from './finding.ts'
import type { Inspect, InspectedConfig, InspectOptions, InspectPart, PartInput, Recipient } from './inspection.ts'
import { readDocument } from './read-document.ts'
import { type NamedReport, reconcileWithKubelet } from './reconcile.ts'
import { refuseUnread } from './refuse-unread.ts'
import { assembleReport } from './report.ts'

const OF_A_PART = `if it is a part, which holds only what differs, give it as the manifest of a ConfigMap with the annotation ${BASE_ANNOTATION}`

/**
 * @param findRecipient finds the target of a config
 * @param signal ends the parsing of its text
 */
export function inspectWith(
  parts: readonly InspectPart[],
  findRecipient: (config: InspectedConfig, options: InspectOptions) => Promise<Recipient>,
  yaml: YamlReader,
  signal?: AbortSignal,
): Inspect {
  return async (config, options) => {
    const { files, key } = config
    const text = Object.hasOwn(files, key) ? files[key] : undefined
    if (text === undefined) return refuseUnread('source/missing-key', `there is no key ${key} (keys: ${listKeys(files)})`)
    const read = await readDocument(text, yaml, signal)
    const isDoubtful = !read.ok && read.unjudged === true && config.localPath !== undefined
    const taken = isDoubtful ? await readDocument(text, { first: (any) => yaml.firstOfAny(any, signal) }) : read
    // Kubelet starts with its local config, judged or not, and can itself say whether it could.
    const doubts: PartResult[] = isDoubtful ? [{ part: 'source', outcome: 'unjudged', detail: read.detail }] : []
    if (isDoubtful && !taken.ok) return assembleReport(doubts, [])
    if (!taken.ok) {
      const { detail, position } = taken
      const advice = detail === NO_KIND ? OF_A_PART : undefined
      return refuseUnread('fields/load', withoutPosition(detail, position), position, advice)
    }
    const recipient = await findRecipient(config, options)
    const { dropIns } = recipient
    const assigned = taken.document
    const document = mergeDocument(assigned, dropIns, recipient.version)
    const able = isDoubtful ? parts.filter(({ name }) => isKubelets(name)) : parts
    const { quick, slow } = await runAll(able, { ...recipient, config, assigned, document, options, yaml })
    const results = [...doubts, ...quick.results, ...slow.results]
    const demanded = listDemanded(options)
    for (const part of demanded) {
      if (!results.some((result) => result.part === part))
        results.push({ part, outcome: 'unjudged', detail: 'requested, but not possible here' })
    }
    const findings = [...quick.findings, ...slow.findings].map((finding) => nameDropIn(finding, assigned, dropIns))
    return assembleReport(results, findings, demanded)
  }
}

interface Results {
  readonly results: readonly PartResult[]
  readonly findings: readonly Finding[]
}
const NOTHING: Results = { results: [], findings: [] }

/** All side by side. The slow ones are ended when another one refuses the config. */
async function runAll(
  parts: readonly InspectPart[],
  subject: Omit<PartInput, 'signal'>,
): Promise<{ readonly quick: Results; readonly slow: Results }> {
  const stopper = new AbortController()
  const input = { ...subject, signal: stopper.signal }
  const running = { quick: runParts(choose(parts, { slow: false }), input), slow: runParts(choose(parts, { slow: true }), input) }
  try {
    const quick = await running.quick
    if (isRefused(quick) || isKubeletUnavailable(quick)) stopper.abort()
    // Also one that was ended: it leaves nothing behind.
    const slow = await running.slow
    return { quick, slow: stopper.signal.aborted ? NOTHING : slow }
  } finally {
    stopper.abort()
    await Promise.allSettled(Object.values(running))
  }
}

function choose(parts: readonly InspectPart[], { slow }: Pick<InspectPart, 'slow'>): InspectPart[] {
  return parts.filter((part) => part.slow === slow)
}

async function runParts(parts: readonly InspectPart[], input: PartInput): Promise<Results> {
  const reports = await Promise.all(
    parts.map(async (part): Promise<NamedReport[]> => {
      const report = await part.run(input)
      return report === undefined ? [] : [{ part: part.name, report }]
    }),
  )
  const reconciled = reconcileWithKubelet(reports.flat())
  const results = reconciled.map(({ part, report: { outcome, detail, changed } }) => ({
    part,
    outcome,
    detail,
    ...(changed && { changed }),
  }))
  return { results, findings: reconciled.flatMap(({ report }) => report.findings) }
}

function isRefused({ results, findings }: Results): boolean {
  return results.some(({ outcome }) => outcome === 'refused') || findings.some(({ severity }) => severity === 'refuse')
}

/** If kubelet could not run the load stage, it cannot run the start stage either. */
function isKubeletUnavailable({ results }: Results): boolean {
  return results.some(({ part, outcome }) => part === 'kubelet' && (outcome === 'unjudged' || outcome === 'cannot-start'))
}

/** A report shows the position separately. */
function withoutPosition(detail: string, position: Finding['position']): string {
  return position === undefined ? detail : detail.replace(` at line ${position.line}, column ${position.column}`, '')
}

function isKubelets(part: string): boolean {
  return part === 'kubelet' || part === 'kubelet-start'
}

/** Parts that the user requested with an option: the report always mentions them. */
function listDemanded({ kubelet, deep, from }: InspectOptions): string[] {
  const meaning = from === undefined || from === 'running' ? [] : ['meaning']
  return [...meaning, ...(kubelet === undefined ? [] : ['kubelet']), ...(deep === 'demanded' ? ['kubelet-start'] : [])]
}
