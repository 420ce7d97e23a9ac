/** `diff`: what a config would change on this node, field by field, and what each change costs. Changes nothing. */

import type { Snapshot } from '../../decision/snapshot.ts'
import type { ConfigChange } from '../../preflight/inspection.ts'
import { CONFIG_API_VERSION } from '../../settings/resolve-settings.ts'
import { accept, type Kind } from '../../settings/setting-kinds.ts'
import { type ConfigText, readActiveConfig } from '../active-config.ts'
import { candidateKind, loadCandidate } from '../candidate.ts'
import { CANDIDATE, KUBELET_VERSION, readTextOption, readVersionOption, WITHOUT_OVERLAY, wantsOverlay } from '../candidate-options.ts'
import { documentChange, renderChanges } from '../changes-text.ts'
import { type ArgumentValues, type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from '../command.ts'
import { compareTexts } from '../compare-texts.ts'
import { findDesired } from '../desired-config.ts'
import { formatJson } from '../format-json.ts'
import { plainText } from '../terminal.ts'

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
  const against = readTextOption(options, 'against')
  const desired = candidate === undefined ? await context.askDesired() : undefined
  const snapshot = against === undefined || desired !== undefined ? await context.observe(desired) : undefined
  const before = against === undefined ? findActive(snapshot, context) : await loadText(against, context, wantsOverlay(options))
  const after =
    candidate === undefined ? findDesired(desired, snapshot, context) : await loadText(candidate, context, wantsOverlay(options))
  const compared = await compareTexts(before, after, (from, to) => context.compare(from, to, readVersionOption(options)))
  if (!compared.ok) {
    terminal.err(`kubelet-cfg-agent diff: ${plainText(compared.detail)}\n`)
    return EXIT.usage
  }
  const { from, to, changes } = compared
  if (options.output === 'json') {
    const document = { apiVersion: CONFIG_API_VERSION, kind: 'ConfigDiff', from, to, changes: changes.map(documentChange) }
    terminal.out(formatJson(document))
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
