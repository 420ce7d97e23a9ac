/** `diff`: what a config would change on this node, field by field, and what each change costs. Changes nothing. */

import type { ConfigMapRef } from '../decision/config-source.ts'
import type { ConfigMapView, Desired } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { decodeConfig, type KubeletConfig } from '../kubelet/decode.ts'
import { loadParser } from '../kubelet/load-parser.ts'
import type { ConfigChange } from '../preflight/inspection.ts'
import { CONFIG_API_VERSION } from '../settings/resolve-settings.ts'
import { accept, type Kind } from '../settings/setting-kinds.ts'
import { type ConfigText, readActiveConfig, readConfigOf } from './active-config.ts'
import { candidateKind, loadCandidate, nameOverlaid } from './candidate.ts'
import { CANDIDATE, KUBELET_VERSION, readText, readVersion, WITHOUT_OVERLAY, wantsOverlay } from './candidate-options.ts'
import { documentChange, renderChanges } from './changes-text.ts'
import { type ArgumentValues, type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from './command.ts'
import { plainText } from './terminal.ts'

/** A path for the shell's completion, though it may be anything that can be compared. */
const againstKind: Kind<string> = {
  ...candidateKind,
  placeholder: '<path>',
  parse: (text) => (text === '' ? accept(text) : candidateKind.parse(text)),
}

export const diffCommand: NodeCommand = {
  name: 'diff',
  takes: 'node',
  group: 'Judge',
  summary: 'what a config would change, and at what risk',
  description:
    'Compares the config that runs on this node with another one, field by field and not line by line: order, spelling and comments do not count. ' +
    'Without an argument the other one is what the cluster assigns to this node.',
  arguments: [{ ...CANDIDATE, required: false }],
  options: [
    { name: 'against', kind: againstKind, initial: '', help: 'compare with this (a file, or configmap/NAME) and not with what runs' },
    KUBELET_VERSION,
    WITHOUT_OVERLAY,
    OUTPUT,
  ],
  exits: { [EXIT.fine]: 'no difference', [EXIT.failed]: 'they differ', [EXIT.usage]: 'cannot tell, or wrong arguments, flags or settings' },
  examples: [
    ['diff', 'what the cluster has for this node'],
    ['diff kubelet.yaml', 'before it becomes a ConfigMap'],
    ['diff --against old.yaml new.yaml', 'anywhere, without a node'],
  ],
  execute: diff,
}

async function diff(context: CommandContext, options: OptionValues, { candidate }: ArgumentValues): Promise<ExitCode> {
  const { terminal } = context
  const against = readText(options, 'against')
  const desired = candidate === undefined ? await context.askDesired() : undefined
  const snapshot = against === undefined || desired !== undefined ? await context.observe(desired) : undefined
  const before = against === undefined ? findActive(snapshot, context) : await loadText(against, context, wantsOverlay(options))
  const after =
    candidate === undefined ? findDesired(desired, snapshot, context) : await loadText(candidate, context, wantsOverlay(options))
  const compared = await compareTexts(before, after, (from, to) => context.compare(from, to, readVersion(options)))
  if (!compared.ok) {
    terminal.err(`kubelet-cfg-agent diff: ${plainText(compared.detail)}\n`)
    return EXIT.usage
  }
  const { from, to, changes } = compared
  if (options.output === 'json') {
    const document = { apiVersion: CONFIG_API_VERSION, kind: 'ConfigDiff', from, to, changes: changes.map(documentChange) }
    terminal.out(`${JSON.stringify(document, null, 2)}\n`)
  } else terminal.out(render(from, to, changes, terminal.color))
  return changes.length === 0 ? EXIT.fine : EXIT.failed
}

function render(from: string, to: string, changes: readonly ConfigChange[], color: boolean): string {
  const names = `${plainText(from)} -> ${plainText(to)}`
  if (changes.length === 0) return `${names}: no difference\n`
  const count = changes.length === 1 ? '1 field differs' : `${changes.length} fields differ`
  return `${names}: ${count}\n\n${renderChanges(changes, color).join('\n')}\n`
}

function findActive(snapshot: Snapshot | undefined, context: CommandContext): ConfigText {
  if (snapshot === undefined) return { ok: false, detail: 'this node was not looked at' }
  const active = readActiveConfig(snapshot, context)
  return active.ok
    ? active
    : { ok: false, detail: `the config that runs here cannot be read: ${active.detail}; name another with --against` }
}

/** What the cluster wants of this node. */
export function findDesired(
  desired: Desired | undefined,
  snapshot: Snapshot | undefined,
  context: Pick<CommandContext, 'checkpoints' | 'files'>,
): ConfigText {
  if (desired?.kind === 'local' && snapshot?.unit.kind === 'known') return readConfigOf('local', snapshot, snapshot.unit, context)
  if (desired?.kind !== 'config-map') {
    const why = desired?.kind === 'unknown' || desired?.kind === 'invalid' ? `: ${desired.detail}` : ''
    return { ok: false, detail: `what is assigned to this node cannot be told${why}` }
  }
  const { ref, object } = desired
  const name = nameDesired(ref, object)
  if (object.kind !== 'found') return { ok: false, detail: `${name}: ${object.kind === 'unavailable' ? object.detail : 'not asked yet'}` }
  const data = object.rendered?.data ?? object.data
  const text = Object.hasOwn(data, ref.kubeletConfigKey) ? data[ref.kubeletConfigKey] : undefined
  return text === undefined ? { ok: false, detail: `${name}: there is no such key` } : { ok: true, name, text }
}

export function nameDesired(ref: ConfigMapRef, object: ConfigMapView): string {
  const name = `configmap/${ref.namespace}/${ref.name}:${ref.kubeletConfigKey}`
  return object.kind === 'found' && object.rendered !== undefined ? nameOverlaid(name, object.rendered.overlay) : name
}

async function loadText(named: string, context: CommandContext, overlaid: boolean): Promise<ConfigText> {
  const loaded = await loadCandidate(named, context, overlaid)
  switch (loaded.kind) {
    case 'failed':
      return { ok: false, detail: loaded.detail }
    case 'refused':
      return { ok: false, detail: `${loaded.name}: ${loaded.report.findings.map(({ problem }) => problem).join('; ')}` }
    case 'loaded': {
      const { name, files, key } = loaded.config
      const text = Object.hasOwn(files, key) ? files[key] : undefined
      return text === undefined ? { ok: false, detail: `${name}: there is no such key` } : { ok: true, name, text }
    }
  }
}

export type Compared =
  | { readonly ok: true; readonly from: string; readonly to: string; readonly changes: readonly ConfigChange[] }
  | { readonly ok: false; readonly detail: string }

export async function compareTexts(
  before: ConfigText,
  after: ConfigText,
  compare: (from: KubeletConfig, to: KubeletConfig) => Promise<readonly ConfigChange[]>,
): Promise<Compared> {
  if (!before.ok) return before
  if (!after.ok) return after
  const from = decodeConfig(before.text, await loadParser(before.text))
  if (!from.ok) return { ok: false, detail: `${before.name}: ${from.detail}` }
  const to = decodeConfig(after.text, await loadParser(after.text))
  if (!to.ok) return { ok: false, detail: `${after.name}: ${to.detail}` }
  return { ok: true, from: before.name, to: after.name, changes: await compare(from.config, to.config) }
}
