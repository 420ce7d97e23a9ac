// SPDX-License-Identifier: Apache-2.0
/** `upgrade-check`: what a kubelet of another version makes of the configs that nodes use. */

import type { Finding, Report } from '../../../preflight/finding.ts'
import { assembleReport } from '../../../preflight/finding.ts'
import { describeJudgedBy, formatVersion, isPreRelease, type KubeletVersion, parseVersion } from '../../../preflight/kubelet-version.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { describeRef } from '../../../subject/config-source.ts'
import { type CommandLine, EXIT, type ExitCode, Failure, Misuse } from '../../command.ts'
import { dependsOnOthers } from '../../open-part.ts'
import { documentReport, renderFindings } from '../../report.ts'
import { paint, plainText } from '../../terminal.ts'
import { EXIT_OF, listIgnored, showGatesOnce, worstOf } from '../../upgrade-judgement.ts'
import { withoutPlaces } from '../check-config.ts'
import type { PluginCommand, PluginContext } from '../command.ts'
import { getConfig } from '../config-maps.ts'
import { KEY, mergeText } from '../merged-text.ts'
import type { NodeState } from '../node-state.ts'
import { OUTPUT_WITH_YAML, print } from '../options.ts'
import { countNodes, listUsedConfigs, type UsedConfig } from '../users.ts'

export const upgradeCheckCommand: PluginCommand = {
  name: 'upgrade-check',
  group: 'Look',
  summary: 'say what another kubelet makes of the configs of all nodes',
  description:
    'Checks each config that is assigned to nodes, and each layer on them, for kubelet VERSION: what it refuses, what it ignores, and ' +
    'what it reads in another way than each version of kubelet that uses the config now. Lists the nodes once and asks none of them. ' +
    'On a node, kubelet-cfg-agent preflight-upgrade knows more: its local config, what it falls back to, and the new kubelet itself.',
  arguments: [{ placeholder: 'VERSION', required: true }],
  options: [OUTPUT_WITH_YAML],
  exits: {
    [EXIT.fine]: 'every config is accepted',
    [EXIT.failed]: 'a config is refused',
    [EXIT.usage]: 'not all could be checked, or invalid command line',
  },
  examples: [
    ['upgrade-check 1.37', 'before the kubelets of a cluster are upgraded'],
    ["upgrade-check 1.37 -o json | jq '.configs[] | {candidate, kubelet, outcome}'", 'in a script'],
  ],
  execute: upgradeCheck,
}

interface Judged extends UsedConfig {
  readonly name: string
  /** The kubelet that nodes use the config with. undefined: they do not say. */
  readonly kubelet: KubeletVersion | undefined
  readonly report: Report
  /** For excerpts. undefined: the ConfigMap holds another text. */
  readonly text: string | undefined
  /** The local config of each node adds to it. */
  readonly isPartial: boolean
}

async function upgradeCheck(context: PluginContext, { options, args: [given = ''] }: CommandLine): Promise<ExitCode> {
  const version = parseVersion(given)
  if (version === undefined) throw new Misuse(`"${given}" is not a kubelet version: write 1.37 or v1.37.2`)
  const { used, rest, gap } = await listUsedConfigs(context)
  const judged: Judged[] = []
  for (const config of used) judged.push(...(await judge(context, config, version)))
  const invalid = rest.filter(({ asked }) => asked !== undefined)
  const isOpen = gap !== undefined || invalid.length > 0
  const outcomes = [...judged.map(({ report }) => report.outcome), ...(isOpen ? (['unjudged'] as const) : [])]
  const outcome = worstOf(outcomes)
  const document = {
    apiVersion: CONFIG_API_VERSION,
    kind: 'FleetUpgradeReport',
    version: formatVersion(version),
    outcome,
    configs: judged.map(documentJudged),
    nodesWithoutConfigMap: rest.flatMap(({ name, asked }) => (asked === undefined ? [name] : [])),
    nodesWithInvalidSource: invalid.map(({ name }) => name),
    gap: gap ?? null,
  }
  await print(context, options, document, () => `${[...render(context, judged, version), ...describeRest(judged, rest, gap)].join('\n')}\n`)
  return EXIT_OF[outcome]
}

/** Once for each minor of kubelet among its nodes. */
async function judge(context: PluginContext, config: UsedConfig, version: KubeletVersion): Promise<readonly Judged[]> {
  const name = describeRef(config.ref)
  const read = await readConfig(context, config)
  const judged: Judged[] = []
  for (const { kubelet, nodes } of groupByKubelet(config.nodes)) {
    const common = { ...config, nodes, name, kubelet }
    if (!read.ok) {
      const parts = [{ part: 'source', outcome: 'unjudged', detail: read.detail } as const]
      judged.push({ ...common, text: undefined, isPartial: false, report: { outcome: 'unjudged', findings: [], parts } })
      continue
    }
    const { files, key, isWhole, isPartial } = read
    const report = await context.inspect({ name, files, key, isPart: isPartial }, version, kubelet)
    const text = isWhole && Object.hasOwn(files, key) ? files[key] : undefined
    const known = isPartial ? withoutUnset(report) : report
    judged.push({ ...common, text, isPartial, report: isWhole ? known : withoutPlaces(known) })
  }
  return judged
}

/**
 * Fields that a part does not set, the config under it may set: nothing that depends on them is
 * known.
 */
function withoutUnset({ findings, parts }: Report): Report {
  const kept = findings.filter(({ rule }) => rule !== 'meaning/default' && rule !== 'meaning/gate')
  if (!kept.some(dependsOnOthers)) return assembleReport(parts, kept)
  const known = kept.map((finding): Finding => (dependsOnOthers(finding) ? { ...finding, severity: 'warn' } : finding))
  const detail = 'a rule over several fields decides, and the config under this one may set the others'
  const isRefused = known.some(({ severity }) => severity === 'refuse')
  const open = parts.map((part) => (part.part === 'fields' && !isRefused ? ({ ...part, outcome: 'unjudged', detail } as const) : part))
  return assembleReport(open, known)
}

/** A layer is judged alone: what it lies over is a config of its own. */
async function readConfig(context: PluginContext, { ref, isLayer }: UsedConfig) {
  const there: PluginContext = { ...context, namespace: ref.namespace }
  try {
    const { data, base = isLayer ? 'local' : undefined } = await getConfig(there, ref.name)
    if (base === undefined) return { ok: true, files: data, key: ref.kubeletConfigKey, isWhole: true, isPartial: false } as const
    if (ref.kubeletConfigKey !== KEY) return { ok: false, detail: `of a part only the key ${KEY} is merged here` } as const
    const merged = await mergeText(there, { data, base })
    return merged.ok ? ({ ok: true, files: merged.data, key: KEY, isWhole: false, isPartial: merged.isPartial } as const) : merged
  } catch (error) {
    if (error instanceof Failure) return { ok: false, detail: error.message } as const
    throw error
  }
}

function groupByKubelet(nodes: readonly NodeState[]) {
  const groups = new Map<string, { readonly kubelet: KubeletVersion | undefined; readonly nodes: NodeState[] }>()
  for (const node of nodes) {
    const kubelet = parseVersion(node.kubeletVersion)
    const key = `${kubelet?.major}.${kubelet?.minor}`
    const group = groups.get(key) ?? { kubelet, nodes: [] }
    group.nodes.push(node)
    groups.set(key, group)
  }
  return [...groups.values()].sort((a, b) => (a.kubelet?.minor ?? 0) - (b.kubelet?.minor ?? 0))
}

/** With the patch where all of these nodes have the same. undefined: they do not say. */
function nameKubelet({ kubelet, nodes }: Pick<Judged, 'kubelet' | 'nodes'>): string | undefined {
  if (kubelet === undefined) return undefined
  const isSame = nodes.every(({ kubeletVersion }) => parseVersion(kubeletVersion)?.patch === kubelet.patch)
  return isSame ? formatVersion(kubelet) : `${kubelet.major}.${kubelet.minor}`
}

function documentJudged({ name, ref, isLayer, isPartial, kubelet, nodes, report }: Judged): object {
  return {
    ...documentReport(name, report),
    configMap: ref,
    isLayer,
    isPartial,
    kubelet: nameKubelet({ kubelet, nodes }) ?? null,
    nodes: nodes.map((node) => node.name),
    ignores: listIgnored(report),
  }
}

const SAYS = { accepted: 'accepted', refused: 'refused', unjudged: 'not checked' } as const

function render({ terminal }: PluginContext, judged: readonly Judged[], version: KubeletVersion): readonly string[] {
  const { color, width = 80 } = terminal
  const shown = showGatesOnce()
  return judged.flatMap(({ name, isLayer, kubelet, nodes, report, text }) => {
    const whose = nameKubelet({ kubelet, nodes })
    const now = whose === undefined ? 'a kubelet of unknown version' : `kubelet ${whose}`
    const head = `${plainText(name)}${isLayer ? ', a layer,' : ''} on ${countNodes(nodes.length)} with ${now}`
    const unjudged = report.parts.find(({ outcome }) => outcome === 'unjudged')
    const detail = report.outcome === 'unjudged' ? unjudged?.detail : isPreRelease(version) ? describeJudgedBy(version) : undefined
    const why = detail === undefined ? '' : `: ${plainText(detail)}`
    const gap = report.outcome === 'unjudged' ? undefined : describeGap(report, kubelet)
    return [
      paint({ text: head, tone: 'strong' }, color),
      ...renderFindings(name, text, shown(report).findings, { color, width }),
      `${SAYS[report.outcome]} by the rules of kubelet ${formatVersion(version)}${why}`,
      ...(gap === undefined ? [] : [`not compared with what it means to these nodes now: ${gap}`]),
      '',
    ]
  })
}

/** Why a changed meaning would not be seen. undefined: it would. */
function describeGap({ parts }: Report, kubelet: KubeletVersion | undefined): string | undefined {
  if (kubelet === undefined) return "their kubelet's version is not known"
  return parts.find(({ part, outcome }) => part === 'meaning' && outcome === 'unjudged')?.detail
}

function describeRest(judged: readonly Judged[], rest: readonly NodeState[], gap: string | undefined): readonly string[] {
  const there = 'kubelet-cfg-agent preflight-upgrade checks it there'
  const unassigned = rest.filter(({ asked }) => asked === undefined)
  const isBare = ({ ready, agentVersion }: NodeState) => ready === undefined && agentVersion === ''
  const [bare, local] = [unassigned.filter(isBare), unassigned.filter((node) => !isBare(node))]
  const sentences = [
    judged.length === 0 ? 'No ConfigMap is assigned to a node.' : undefined,
    judged.some(({ isPartial, isLayer }) => isPartial && !isLayer)
      ? `A part over the local config of each node was checked alone: ${there}.`
      : undefined,
    ...rest.map(({ name, asked }) =>
      asked !== undefined && 'problem' in asked ? `Not checked: what Node ${name} asks for is not valid: ${asked.problem}.` : undefined,
    ),
    local.length === 0
      ? undefined
      : `To ${countNodes(local.length)} no ConfigMap is assigned, and the local config is known there alone: ${there}.`,
    bare.length === 0 ? undefined : `From ${countNodes(bare.length)} no agent has reported: the config there is not known.`,
    gap === undefined ? undefined : `It is not known whether there are layers too: ${plainText(gap)}`,
  ]
  return sentences.filter((sentence) => sentence !== undefined)
}
