// SPDX-License-Identifier: Apache-2.0
/**
 * `preflight-upgrade`: before kubelet is replaced, what the new one makes of every config that this
 * node holds. Changes nothing.
 */
import type { Report } from '../../../preflight/finding.ts'
import { refuseUnread } from '../../../preflight/finding.ts'
import type { InspectOptions } from '../../../preflight/inspection.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { type CommandLine, EXIT, type ExitCode, Failure, type OptionValues, OUTPUT, switchOption } from '../../command.ts'
import { documentReport, renderReport } from '../../report.ts'
import { formatJson, paint, plainText, type Terminal } from '../../terminal.ts'
import {
  EXIT_OF,
  type JudgedConfig,
  judgeUpgrade,
  listIgnored,
  showGatesOnce,
  type UpgradeJudgement,
  withoutChanges,
} from '../../upgrade-judgement.ts'
import { fileOption, KUBELET_VERSION, readTextOption, readVersionOption } from '../candidate-options.ts'
import type { CommandContext, NodeCommand } from '../command.ts'
import { type HeldConfig, listHeldConfigs } from '../held-configs.ts'

export const preflightUpgradeCommand: NodeCommand = {
  name: 'preflight-upgrade',
  takes: 'node',
  group: 'Check configs',
  summary: "check this node's configs against another kubelet, before an upgrade",
  description:
    'Checks every config that this node holds (assigned, active, last-known-good, previous, what a return to local left, local) against another kubelet: ' +
    'which it would refuse, which fields and feature gates it ignores or no longer knows, and what it reads in another way than the kubelet that runs. Name its binary, which then ' +
    "judges itself, or its version. Without either, the kubelet on disk counts. The agent's change policy does not apply.",
  options: [
    fileOption('kubelet', 'check with this kubelet: the new binary'),
    KUBELET_VERSION,
    switchOption('deep', 'also start kubelet in a sandbox, to find what it rejects only then; takes seconds for each config'),
    OUTPUT,
  ],
  exits: {
    [EXIT.fine]: 'every config is accepted',
    [EXIT.failed]: 'a config is refused',
    [EXIT.usage]: 'not all could be checked, or invalid arguments, flags or settings',
  },
  examples: [
    ['preflight-upgrade --kubelet /opt/1.36/kubelet', 'check with the new binary'],
    ['preflight-upgrade --kubelet /opt/1.36/kubelet --deep', 'start it too, in a sandbox'],
    ['preflight-upgrade --kubelet-version 1.36', 'check with the rules for a version, without its binary'],
  ],
  execute: preflightUpgrade,
}

async function preflightUpgrade(context: CommandContext, { options }: CommandLine): Promise<ExitCode> {
  const { terminal } = context
  const snapshot = await context.observe()
  const { unit } = snapshot
  if (unit.kind !== 'known' || unit.activity === 'not-found') {
    const detail = unit.kind === 'known' ? 'this machine has no kubelet' : unit.detail
    throw new Failure(`${detail}: check single configs with validate`)
  }
  const configs: JudgedConfig[] = []
  // One after another: each may start a kubelet.
  for (const held of listHeldConfigs(snapshot, unit, context)) configs.push(await judge(held, context, options))
  if (configs.length === 0) throw new Failure('this kubelet has no config file, and none is assigned')
  const judgement = judgeUpgrade(configs)
  terminal.out(options.output === 'json' ? formatJson(documentUpgrade(judgement)) : render(judgement, terminal))
  return EXIT_OF[judgement.outcome]
}

async function judge({ name, roles, config }: HeldConfig, context: CommandContext, options: OptionValues): Promise<JudgedConfig> {
  if (!config.ok) {
    const report: Report = { outcome: 'unjudged', findings: [], parts: [{ part: 'source', outcome: 'unjudged', detail: config.detail }] }
    return { name, roles, text: undefined, report }
  }
  const { files, key, localPath } = config
  if (!Object.hasOwn(files, key)) return { name, roles, text: undefined, report: refuseUnread('source/missing-key', `no key ${key}`) }
  const asked = readInspectOptions(options)
  const report = await context.inspect({ name, files, key, localPath }, asked)
  const demanded = [...(asked.kubelet === undefined ? [] : ['kubelet']), ...(asked.deep === 'demanded' ? ['kubelet-start'] : [])]
  return { name, roles, text: files[key], report: withoutChanges(report, demanded) }
}

function readInspectOptions(options: OptionValues): InspectOptions {
  return {
    kubelet: readTextOption(options, 'kubelet'),
    version: readVersionOption(options),
    from: 'running',
    unknownKeys: 'warn',
    deep: options.deep === 'true' ? 'demanded' : 'no',
    node: true,
  }
}

function documentUpgrade({ outcome, configs, fallback }: UpgradeJudgement): object {
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'UpgradeReport',
    outcome,
    fallback: fallback ?? null,
    configs: configs.map(({ name, roles, report }) => ({ roles, ignores: listIgnored(report), ...documentReport(name, report) })),
  }
}

function render(judgement: UpgradeJudgement, { color, width = 100 }: Terminal): string {
  const shown = showGatesOnce()
  const blocks = judgement.configs.map(({ name, roles, text, report }) => {
    const head = paint({ text: `${plainText(name)} (${roles.join(', ')})`, tone: 'strong' }, color)
    return `${head}\n${renderReport(name, text, shown(report), { color, width })}`
  })
  return `${blocks.join('\n')}\n${summarize(judgement).join('\n')}\n`
}

function summarize({ configs, fallback }: UpgradeJudgement): string[] {
  const namesOf = (outcome: Report['outcome']) =>
    configs.filter(({ report }) => report.outcome === outcome).map(({ name }) => plainText(name))
  const [refused, unjudged, accepted] = [namesOf('refused'), namesOf('unjudged'), namesOf('accepted')]
  const isAsked = configs.every(({ report }) => report.parts.every(({ part, outcome }) => part !== 'kubelet' || outcome !== 'unjudged'))
  if (accepted.length === configs.length)
    return [
      isAsked ? 'This kubelet accepts every config of this node.' : 'The rules accept every config of this node. No kubelet was asked.',
    ]
  return [
    ...(refused.length === 0 ? [] : [`This kubelet refuses ${refused.join(', ')}.`]),
    ...(unjudged.length === 0 ? [] : [`Not checked: ${unjudged.join(', ')}.`]),
    ...(fallback === undefined ? [] : [`The agent would fall back to ${plainText(fallback)}.`]),
    ...(accepted.length === 0 && unjudged.length === 0 ? ['Nothing that this node could fall back to is accepted.'] : []),
  ]
}
