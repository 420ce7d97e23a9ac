// SPDX-License-Identifier: Apache-2.0
/**
 * `diff`: the fields that a config would change on this node, and the risk of each change. Changes
 * nothing.
 */

import type { Snapshot } from '../../../decision/snapshot.ts'
import type { Finding } from '../../../preflight/finding.ts'
import type { ConfigChange } from '../../../preflight/inspection.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { accept, type Kind } from '../../../settings/setting-kinds.ts'
import { documentChange, renderChanges } from '../../changes.ts'
import { type CommandLine, EXIT, type ExitCode, Failure, OUTPUT } from '../../command.ts'
import { renderMisread } from '../../merged.ts'
import { documentFinding, renderFindings } from '../../report.ts'
import { formatJson, plainText } from '../../terminal.ts'
import { candidateKind, loadCandidate } from '../candidate.ts'
import { CANDIDATE, KUBELET_VERSION, readTextOption, readVersionOption, WITHOUT_OVERLAY, wantsOverlay } from '../candidate-options.ts'
import type { CommandContext, NodeCommand } from '../command.ts'
import { readDesiredLayers } from '../config-layers.ts'
import { type ConfigText, compareTexts, findDesired, readActiveConfig } from '../config-text.ts'
import { listHappensNow } from '../happens-now.ts'

/** The placeholder makes the shell complete paths, but any candidate can be given. */
const againstKind: Kind<string> = {
  ...candidateKind,
  placeholder: '<path>',
  parse: (text) => (text === '' ? accept(text) : candidateKind.parse(text)),
}

export const diffCommand: NodeCommand = {
  name: 'diff',
  takes: 'node',
  group: 'Check configs',
  summary: 'show what a config would change, and the risk',
  description:
    'Compares the config that runs on this node with another config, field by field: order, notation and comments do not matter. ' +
    "Kubelet's drop-ins (--config-dir) are merged with both, unless --against is given. " +
    'Says which changes have no effect on a registered Node, and, unless --against is given, what kubelet would do at once. ' +
    'Without an argument, the other config is the one that the cluster assigns to this node.',
  arguments: [{ ...CANDIDATE, required: false }],
  options: [
    {
      name: 'against',
      kind: againstKind,
      initial: '',
      help: 'compare with this config (a file, or configmap/NAME) instead of the one that runs',
    },
    KUBELET_VERSION,
    WITHOUT_OVERLAY,
    OUTPUT,
  ],
  exits: {
    [EXIT.fine]: 'no difference',
    [EXIT.failed]: 'the configs differ',
    [EXIT.usage]: 'cannot compare, or invalid arguments, flags or settings',
  },
  examples: [
    ['diff', 'compare with what the cluster assigns to this node'],
    ['diff kubelet.yaml', 'check a file before you create a ConfigMap from it'],
    ['diff --against old.yaml new.yaml', 'compare two files, also on a machine that is not a node'],
  ],
  execute: diff,
}

async function diff(context: CommandContext, { args: [candidate], options }: CommandLine): Promise<ExitCode> {
  const { terminal } = context
  const against = readTextOption(options, 'against')
  const desired = candidate === undefined ? await context.fetchDesired() : undefined
  const snapshot = against === undefined || desired !== undefined ? await context.observe(desired) : undefined
  const before = against === undefined ? findActive(snapshot, context) : await loadText(against, context, wantsOverlay(options))
  const found =
    candidate === undefined
      ? findDesired(desired, snapshot, context)
      : { place: 'assigned' as const, ...(await loadText(candidate, context, wantsOverlay(options))) }
  const after = found.ok && candidate === undefined ? { ...found, layers: await readDesiredLayers(desired, context) } : found
  const compared = await compareTexts(before, after, (from, to) => context.compare(from, to, readVersionOption(options)), context)
  if (!compared.ok) throw new Failure(compared.detail)
  const { from, to, changes } = compared
  const findings = against === undefined ? await listHappensNow(after, readVersionOption(options), context) : []
  if (options.output === 'json') {
    const document = { apiVersion: CONFIG_API_VERSION, kind: 'ConfigDiff', from, to, changes: changes.map(documentChange) }
    terminal.out(formatJson({ ...document, findings: findings.map(documentFinding) }))
  } else {
    const look = { color: terminal.color, width: terminal.width ?? 100 }
    const remarks = ['', ...renderFindings(plainText(to), undefined, findings, look)].slice(0, -1)
    terminal.out([render(from, to, changes, terminal.color), ...remarks.map((line) => `${line}\n`)].join(''))
  }
  const misread = against === undefined ? renderMisread(await context.readMisread()) : []
  if (misread.length > 0) terminal.err(`${misread.join('\n')}\n`)
  return changes.length === 0 ? EXIT.fine : EXIT.failed
}

function render(from: string, to: string, changes: readonly ConfigChange[], color: boolean): string {
  const names = `${plainText(from)} -> ${plainText(to)}`
  if (changes.length === 0) return `${names}: no difference\n`
  const count = changes.length === 1 ? '1 field differs' : `${changes.length} fields differ`
  return `${names}: ${count}\n\n${renderChanges(changes, color).join('\n')}\n`
}

function findActive(snapshot: Snapshot | undefined, context: CommandContext): ConfigText {
  if (snapshot === undefined) return { ok: false, detail: 'this node was not observed' }
  const active = readActiveConfig(snapshot, context)
  return active.ok
    ? active
    : { ok: false, detail: `cannot read the config that runs here: ${active.detail}; give another one with --against` }
}

function withAdvice({ problem, advice }: Finding): string {
  return advice === undefined ? problem : `${problem}: ${advice}`
}

async function loadText(text: string, context: CommandContext, overlaid: boolean): Promise<ConfigText> {
  const loaded = await loadCandidate(text, context, overlaid)
  switch (loaded.kind) {
    case 'failed':
      return { ok: false, detail: loaded.detail }
    case 'refused':
      return { ok: false, detail: `${loaded.name}: ${loaded.report.findings.map(withAdvice).join('; ')}` }
    case 'loaded': {
      const { config, layers = [], taken } = loaded
      const { files, key, isAlone = false } = config
      const name = taken === undefined ? config.name : `${config.name} (${taken})`
      const value = Object.hasOwn(files, key) ? files[key] : undefined
      return value === undefined
        ? { ok: false, detail: `${name}: no such key` }
        : { ok: true, name, text: value, files: isAlone ? 'unknown' : files, layers }
    }
  }
}
