// SPDX-License-Identifier: Apache-2.0
/** Two configs of the cluster compared field by field, as text for people. */
import { decodeText } from '../../kubelet/decode.ts'
import { decides, type FieldPath, formatPath } from '../../kubelet/field-path.ts'
import { type Beside, nameContents } from '../../preflight/change/named-files.ts'
import type { ConfigChange } from '../../preflight/inspection.ts'
import { type KubeletVersion, parseVersion } from '../../preflight/kubelet-version.ts'
import type { NodeShown } from '../../subject/node-shown.ts'
import { documentChange, NODE_OWN, renderChanges } from '../changes.ts'
import { Failure } from '../command.ts'
import { foldText, plainText } from '../terminal.ts'
import type { PluginContext } from './command.ts'
import type { ConfigContent } from './config-maps.ts'
import { mergeText } from './merged-text.ts'
import type { NodeState } from './node-state.ts'

/** `node`: that values are computed from. */
type Titled = ConfigContent & { readonly title: string; readonly node?: NodeShown | undefined }

interface Comparison {
  readonly isSame: boolean
  readonly lines: readonly string[]
  /** As `-o json` prints them. */
  readonly changes: readonly object[]
}

/** @throws Failure where one of them cannot be merged or decoded */
export async function compareContents(
  context: PluginContext,
  before: Titled,
  after: Titled,
  version: KubeletVersion | undefined,
): Promise<Comparison> {
  return compareDecoded(context, await demandDecoded(context, before), await demandDecoded(context, after), version)
}

/**
 * Compares two contents for information. The content to be replaced (`before`) may be one that
 * cannot be decoded: the text then says so.
 *
 * @throws Failure where `after` cannot be merged or decoded
 */
export async function diffContents(
  context: PluginContext,
  before: Titled,
  after: Titled,
  version: KubeletVersion | undefined,
): Promise<readonly string[]> {
  const to = await demandDecoded(context, after)
  const from = await decode(context, before)
  if (!from.ok) return [`What ${before.title} holds cannot be compared: ${from.detail}`]
  return (await compareDecoded(context, from, to, version)).lines
}

async function compareDecoded(
  context: PluginContext,
  from: Decoded,
  to: Decoded,
  version: KubeletVersion | undefined,
): Promise<Comparison> {
  const changes = await context.compare(...nameContents(from, to), version)
  if (changes.length === 0) {
    const isOpen = from.isPartial || to.isPartial
    const local =
      'The texts differ, and no field differs over the defaults of kubelet: what changes is up to the local config of each node.'
    return { isSame: true, changes: [], lines: [isOpen ? local : 'No field that kubelet reads differs.'] }
  }
  const judged = changes.map((change): Judged => {
    const [isOpenBefore, isOpenAfter] = [from.leavesToNode(change.path), to.leavesToNode(change.path)]
    return { change, leftToNode: [...(isOpenBefore ? (['before'] as const) : []), ...(isOpenAfter ? (['after'] as const) : [])] }
  })
  const width = context.terminal.width ?? 80
  const shown = judged.filter(({ leftToNode }) => leftToNode.length < 2).map(showLeft)
  const open = judged.filter(({ leftToNode }) => leftToNode.length === 2).map(({ change }) => formatPath(change.path))
  const rest =
    'Neither sets these, and what they become is up to the local config of each node, since a default of kubelet may no longer count: '
  const notes = open.length === 0 ? [] : ['', ...foldText(plainText(rest + open.join(', ')), width)]
  return {
    isSame: false,
    lines: [...renderChanges(shown, context.terminal.color, width), ...notes],
    changes: judged.map(documentJudged),
  }
}

interface Judged {
  readonly change: ConfigChange
  /** The sides whose value is that of the local config of each node. */
  readonly leftToNode: readonly ('before' | 'after')[]
}

function showLeft({ change, leftToNode }: Judged): ConfigChange {
  const left = Object.fromEntries(leftToNode.map((side) => [side, NODE_OWN]))
  // Whether the field changes at all is up to the node.
  return leftToNode.length === 0 ? change : { ...change, ...left, effect: undefined }
}

function documentJudged({ change, leftToNode }: Judged): object {
  const left = Object.fromEntries(leftToNode.map((side) => [side, undefined]))
  return { ...documentChange({ ...change, ...left }), leftToNode }
}

interface Decoded extends Beside {
  readonly ok: true
  readonly isPartial: boolean
  /** The value of this field is that of each node's local config. */
  leavesToNode(path: FieldPath): boolean
}

type Decoding = Decoded | { readonly ok: false; readonly detail: string }

async function demandDecoded(context: PluginContext, content: Titled): Promise<Decoded> {
  const decoding = await decode(context, content)
  if (!decoding.ok) throw new Failure(`${content.title}: ${decoding.detail}`)
  return decoding
}

async function decode(context: PluginContext, content: Titled): Promise<Decoding> {
  const merged = await mergeText(context, content, undefined, content.node)
  if (!merged.ok) return merged
  const decoded = await decodeText(merged.text, context.yaml)
  if (!decoded.ok) return { ok: false, detail: plainText(decoded.detail) }
  const { isPartial } = merged
  const parsed = isPartial ? await context.yaml.first(merged.text) : undefined
  const own = parsed?.ok === true ? parsed.value : undefined
  return {
    ok: true,
    config: decoded.config,
    files: merged.data,
    isPartial,
    leavesToNode: (path) => isPartial && !decides(own, path),
  }
}

/** The versions of kubelet among these nodes, by their minor, the oldest first. */
export function versionsOf(nodes: readonly NodeState[]): readonly KubeletVersion[] {
  const found = new Map<number, KubeletVersion>()
  for (const { kubeletVersion } of nodes) {
    const version = parseVersion(kubeletVersion)
    if (version !== undefined && !found.has(version.minor)) found.set(version.minor, version)
  }
  return [...found.values()].sort((a, b) => a.minor - b.minor)
}
