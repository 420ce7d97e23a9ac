// SPDX-License-Identifier: Apache-2.0
/**
 * Checks what a change of a config makes on the nodes that use it: the config itself, and the
 * parts over it. Pure but for the terminal and the API.
 */

import { isUtf8 } from 'node:buffer'
import type { LocatedReading, Position } from '../../kubelet/yaml-document.ts'
import { mayCompute } from '../../overlay/computed.ts'
import { locateNearest, type Report } from '../../preflight/finding.ts'
import { formatVersion, type KubeletVersion } from '../../preflight/kubelet-version.ts'
import { describeUnreadable } from '../../values/errors.ts'
import { isObject } from '../../values/is-object.ts'
import { Failure, orElse } from '../command.ts'
import { LONGEST_BYTES, type PlaceInFile, readManifestText } from '../manifest-text.ts'
import { openPart } from '../open-part.ts'
import { renderFindings } from '../report.ts'
import { plainText } from '../terminal.ts'
import { readWrapped } from '../wrapped-text.ts'
import type { PluginContext } from './command.ts'
import { type ComputedForecast, forecast, renderForecast } from './computed-values.ts'
import { type ConfigContent, findConfig } from './config-maps.ts'
import { versionsOf } from './diff-text.ts'
import { KEY, type MergedText, mergeText, type Supposed } from './merged-text.ts'
import { listNodes, type NodeState } from './node-state.ts'
import { nameParts } from './reach.ts'
import type { PartOver, Users } from './users.ts'

type Outcome = 'accepted' | 'refused'

interface CheckedChange {
  readonly part: ReadPart
  /** The ConfigMap as it will be. */
  readonly after: Supposed
  /** As it is. undefined: it does not exist. */
  readonly before: Supposed | undefined
  readonly users: Users
}

/** @throws Failure where the config cannot be merged */
export async function checkChange(context: PluginContext, change: CheckedChange): Promise<Outcome> {
  const { part, after, users } = change
  const foreseen = await foresee(context, part, users.nodes)
  if (foreseen !== undefined && foreseen.groups.length === 0 && foreseen.failing.size > 0) return 'refused'
  // Where others alone use it, nodes get what those make of it.
  const isRunAlone = users.assigned.length > 0 || users.parts.length === 0
  const nodes = users.assigned.length > 0 ? users.assigned : users.nodes
  const alone = part.base === undefined ? undefined : await context.yaml.firstOfAny(part.data[KEY] ?? '')
  const subject: Subject = { name: part.shown.name, text: part.shown.text, place: (report) => placed(report, part, alone) }
  let [own, isPartial]: readonly [Outcome, boolean] = ['accepted', false]
  for (const { node, of } of listRepresentatives(foreseen, nodes)) {
    const merged = await mergeText(context, part, after, node?.shown)
    if (!merged.ok) throw new Failure(`${part.shown.name}: ${merged.detail}`)
    isPartial ||= merged.isPartial
    const title = node === undefined ? subject : { ...subject, name: `${part.shown.name}, as on ${plainText(node.name)}` }
    if ((await inspectMerged(context, title, merged, of)) === 'refused') own = 'refused'
  }
  const over: PartOutcome[] = []
  for (const each of users.parts) over.push(await checkPartOver(context, each, change))
  const outcome = decide(own, over, !isRunAlone && users.gap === undefined)
  if (own === 'refused' && outcome === 'accepted') context.terminal.out(`Every node that uses ${part.shown.name} merges a part over it.\n`)
  if (isPartial && outcome === 'accepted') context.terminal.out('Each node checks it again, merged over its own local config.\n')
  if (users.layered.length > 0 && outcome === 'accepted')
    context.terminal.out('Each node that it is a layer on checks it again, laid over what is chosen for that node.\n')
  return outcome
}

/** Prints the values that the config computes on the nodes that use it, or else on all. */
async function foresee(
  context: PluginContext,
  { data, shown }: ReadPart,
  users: readonly NodeState[],
): Promise<ComputedForecast | undefined> {
  const text = data[KEY] ?? ''
  if (!mayCompute(text)) return undefined
  const nodes = users.length > 0 ? users : (await listNodes(context, '')).items
  const foreseen = await forecast(context, shown.name, text, nodes)
  if (foreseen === undefined) return undefined
  const { terminal } = context
  const whose = users.length > 0 ? 'the nodes that use it' : 'all nodes, since none uses it yet'
  const lines = [`${shown.name}: its values on ${whose}:`, ...renderForecast(foreseen, terminal.width ?? 80)]
  terminal.out(lines.map((line) => `${line}\n`).join(''))
  return foreseen
}

/** The results of more groups of nodes are not checked here. */
const MOST_CHECKED = 5

/**
 * One node of each group, and whose versions of kubelet count. A config that computes nothing has
 * no groups.
 */
function listRepresentatives(
  foreseen: ComputedForecast | undefined,
  nodes: readonly NodeState[],
): readonly { readonly node?: NodeState; readonly of: readonly NodeState[] }[] {
  const groups = foreseen?.groups.slice(0, MOST_CHECKED) ?? []
  return groups.length === 0 ? [{ of: nodes }] : groups.map(({ nodes: [first, ...others] }) => ({ node: first, of: [first, ...others] }))
}

/** `left`: the change does not decide whether it is refused. */
type PartOutcome = Outcome | 'left'

/** @param isOnlyBase all nodes that use it have a part over it */
function decide(own: Outcome, over: readonly PartOutcome[], isOnlyBase: boolean): Outcome {
  if (over.includes('refused')) return 'refused'
  return own === 'refused' && isOnlyBase && over.every((each) => each === 'accepted') ? 'accepted' : own
}

async function checkPartOver(context: PluginContext, over: PartOver, { after, before }: CheckedChange): Promise<PartOutcome> {
  const { terminal } = context
  const there: PluginContext = { ...context, namespace: over.namespace }
  const title = `ConfigMap ${nameParts([over])}, over this base`
  const unchecked = (detail: string) => {
    terminal.out(`${title}: not checked here, but by each node: ${detail}\n`)
    return 'left' as const
  }
  if (over.kubeletConfigKey !== KEY) return unchecked(`it is assigned by its key ${over.kubeletConfigKey}`)
  const content = await orElse(findConfig(there, over.name), ({ message }) => message)
  if (typeof content === 'string') return unchecked(content)
  if (content === undefined) return unchecked('it does not exist')
  const subject: Subject = { name: title, text: undefined, place: withoutPlaces }
  const merged = await mergeText(there, content, after)
  if (merged.ok && (await inspectMerged(there, subject, merged, over.nodes)) === 'accepted') return 'accepted'
  const was = await mergeText(there, content, before)
  if (!merged.ok && !was.ok) return unchecked(merged.detail)
  if (!merged.ok) terminal.out(`${title}: refused: ${merged.detail}\n`)
  const wasRefused = !was.ok || (await inspectMerged(silenced(there), subject, was, over.nodes)) === 'refused'
  if (!wasRefused) return 'refused'
  terminal.out('It is refused over what the base holds now too, so that does not stop this change.\n')
  return 'left'
}

interface Subject {
  readonly name: string
  /** For excerpts. */
  readonly text: string | undefined
  place(report: Report): Report
}

/** With the rules of each version of kubelet among the nodes. */
async function inspectMerged(
  context: PluginContext,
  { name, text, place }: Subject,
  { data, isPartial: isPart }: Extract<MergedText, { ok: true }>,
  nodes: readonly NodeState[],
): Promise<Outcome> {
  const { terminal } = context
  const versions = versionsOf(nodes)
  const look = { color: terminal.color, width: terminal.width ?? 80 }
  let outcome: Outcome = 'accepted'
  for (const version of versions.length === 0 ? [undefined] : versions) {
    const inspected = await context.inspect({ name, files: data, key: KEY, isPart }, version)
    const report = isPart ? openPart(inspected) : inspected
    const whose = version === undefined ? 'the rules of every kubelet' : `the rules of kubelet ${formatVersion(version)}`
    const unchecked = report.parts.find(({ part, outcome }) => part === 'fields' && outcome === 'unjudged')
    const says = report.outcome === 'unjudged' ? `not checked by ${whose}: ${unchecked?.detail}` : `${report.outcome} by ${whose}`
    const lines = [...renderFindings(name, text, place(report).findings, look), `${name}: ${says}`]
    terminal.out(lines.map((line) => `${line}\n`).join(''))
    if (report.outcome === 'refused') outcome = 'refused'
  }
  return outcome
}

/**
 * The values of a ConfigMap that kubelet takes, and does something else with than they say. None
 * where the ConfigMap cannot be merged.
 */
export async function renderOtherwise(
  context: PluginContext,
  name: string,
  content: ConfigContent,
  version: KubeletVersion | undefined,
): Promise<readonly string[]> {
  const merged = await mergeText(context, content)
  if (!merged.ok) return []
  const { data: files, isPartial: isPart } = merged
  const report = withoutPlaces(await context.inspect({ name, files, key: KEY, isPart }, version))
  const { color, width = 80 } = context.terminal
  const findings = report.findings.filter(({ rule }) => rule.startsWith('otherwise/'))
  return renderFindings(name, undefined, findings, { color, width })
}

/**
 * A place in a merged text is no place in the file: there, only what the part itself sets has one.
 * @param alone the part. undefined: it is a whole config
 */
function placed(report: Report, { shown }: ReadPart, alone: LocatedReading | undefined): Report {
  const findings = report.findings.map((finding) => {
    const { path, position } = finding
    const own = alone === undefined ? position : alone.ok ? locateNearest(alone, path) : undefined
    return { ...finding, position: own && shown.place(own, path) }
  })
  return { ...report, findings }
}

export function withoutPlaces(report: Report): Report {
  return { ...report, findings: report.findings.map((finding) => ({ ...finding, position: undefined })) }
}

function silenced(context: PluginContext): PluginContext {
  return { ...context, terminal: { ...context.terminal, out: () => {} } }
}

interface ReadPart extends ConfigContent {
  /** As the person sees it, for messages with places. */
  readonly shown: { readonly name: string; readonly text: string; readonly place: PlaceInFile }
}

/**
 * @param of the ConfigMap that it is for
 * @param base of `--base`; empty: not given
 * @param before of the ConfigMap that exists. undefined: it does not
 * @throws Failure
 */
export async function readPart(
  context: PluginContext,
  path: string,
  { of, base, before }: { readonly of: string; readonly base: string; readonly before: ConfigContent | undefined },
): Promise<ReadPart> {
  const name = path === '-' ? '<stdin>' : path
  const reading = await context.readInput(path === '-' ? undefined : path, LONGEST_BYTES)
  if (reading.kind === 'unreadable') throw new Failure(`${name} ${describeUnreadable(reading.code)}`)
  if (reading.kind === 'too-large') throw new Failure(`${name} has more than ${LONGEST_BYTES} bytes, the limit of a ConfigMap`)
  if (!isUtf8(reading.bytes)) throw new Failure(`${name} is not valid UTF-8`)
  const text = reading.bytes.toString('utf8')
  const manifest = await readManifestText(text, context.yaml)
  if (manifest.kind === 'unclear') throw new Failure(`${name}: ${manifest.detail}`)
  if (manifest.kind === 'found') {
    const { data, key, place } = manifest
    if (key !== KEY) throw new Failure(`${name}: its ConfigMap has no key ${KEY}`)
    return { data, base: base || manifest.base?.text, shown: { name, text, place } }
  }
  const wrapped = await readWrapped(text, context.yaml)
  if (wrapped.kind === 'named') {
    const { problem, position, advice } = wrapped
    throw new Failure(`${name}${position === undefined ? '' : `, line ${position.line}`}: ${problem}: ${advice}`)
  }
  const own = wrapped.kind === 'taken' ? wrapped : { text, isPart: undefined, place: (position: Position) => position }
  if (wrapped.kind === 'taken') context.terminal.out(`${name}: only what is in ${wrapped.from} is taken.\n`)
  return {
    // The other keys may be files that the config names.
    data: { ...before?.data, [KEY]: own.text },
    base: base || (await guessBase(context, { name, text: own.text, isPart: own.isPart, before, of })),
    shown: { name, text, place: own.place },
  }
}

/** A file without a manifest has no annotation: a config names its kind, and a part need not. */
async function guessBase(
  { yaml, namespace }: PluginContext,
  {
    name,
    text,
    isPart,
    before,
    of,
  }: {
    readonly name: string
    readonly text: string
    /** undefined: its kind tells. */
    readonly isPart: boolean | undefined
    readonly before: ConfigContent | undefined
    readonly of: string
  },
): Promise<string | undefined> {
  if (before?.base !== undefined) return before.base
  const parsed = await yaml.first(text)
  const isWhole = !parsed.ok || !isObject(parsed.value) || parsed.value.kind !== undefined
  if (!(isPart ?? !isWhole)) return undefined
  // A forgotten kind must not put each node's local config under the rest.
  const [why, instead] =
    isPart === undefined ? ['has no kind, so it is a part', 'add apiVersion and kind'] : ['holds a part', 'give a whole config']
  if (before !== undefined)
    throw new Failure(`${name} ${why}, and ${namespace}/${of} holds a whole config: give --base to make it a part, or ${instead}`)
  return 'local'
}
