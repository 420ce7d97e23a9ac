/**
 * `validate`: whether kubelet would take a config, before anything is assigned. Works on any machine with the parts of preflight that apply there, and
 * says which could not judge. Changes nothing.
 */
import { choiceKind, switchKind } from '../agent/setting-kinds.ts'
import type { Report } from '../preflight/finding.ts'
import { loadCandidate } from './candidate.ts'
import { type CommandContext, type CommandOption, EXIT, type ExitCode, type NodeCommand, type OptionValues } from './command.ts'
import { CANDIDATE, fileOption, isNode, KUBELET_VERSION, readText, readVersion } from './judging.ts'
import { documentReport } from './report-document.ts'
import { renderReport } from './report-text.ts'
import { renderSarif } from './sarif.ts'
import { plainText } from './terminal.ts'

const REPORT_OUTPUT: CommandOption = {
  name: 'output',
  short: 'o',
  kind: choiceKind('table', 'json', 'sarif'),
  initial: 'table',
  help: 'for people, for programs, or for systems that show findings beside the source',
}

export const validateCommand: NodeCommand = {
  name: 'validate',
  takes: 'node',
  group: 'Judge',
  summary: 'would kubelet take this config?',
  description:
    'Judges a KubeletConfiguration with every part of preflight that applies here, and shows what is wrong, where, and what to do. On a node its ' +
    'kubelet and its hardware count; elsewhere, as for a repository of configs, the fields alone. What was asked for by name ' +
    '(a kubelet, the deep stage) has to judge, or the config counts as not judged.',
  arguments: [CANDIDATE],
  options: [
    fileOption('kubelet', 'judge with this kubelet, as before an upgrade'),
    KUBELET_VERSION,
    {
      name: 'deep',
      kind: switchKind,
      initial: 'false',
      help: 'also start kubelet in a sandbox, for what it rejects only then; takes seconds',
    },
    { name: 'strict', kind: switchKind, initial: 'false', help: 'refuse keys that kubelet does not know' },
    REPORT_OUTPUT,
  ],
  exits: { [EXIT.fine]: 'accepted', [EXIT.failed]: 'refused', [EXIT.usage]: 'cannot judge, or wrong arguments, flags or settings' },
  examples: [
    ['validate kubelet.yaml', 'before it becomes a ConfigMap'],
    ['validate configmap/my-node-config', 'what is in the cluster, in kube-system'],
    ['validate --strict --kubelet-version 1.28 -o sarif kubelet.yaml', 'in CI, without a kubelet'],
    ['validate --kubelet /opt/1.30/kubelet kubelet.yaml', 'before an upgrade'],
  ],
  execute: validate,
}

const EXITS: Readonly<Record<Report['outcome'], ExitCode>> = { accepted: EXIT.fine, refused: EXIT.failed, unjudged: EXIT.usage }

async function validate(
  context: CommandContext,
  options: OptionValues,
  { candidate = '' }: Readonly<Record<string, string | undefined>>,
): Promise<ExitCode> {
  const { terminal } = context
  const loaded = await loadCandidate(candidate, context)
  if (loaded.kind === 'failed') {
    terminal.err(`kubelet-cfg-agent validate: ${plainText(loaded.detail)}\n`)
    return EXIT.usage
  }
  const report =
    loaded.kind === 'refused'
      ? loaded.report
      : await context.inspect(loaded.config, {
          kubelet: readText(options, 'kubelet'),
          version: readVersion(options),
          unknownKeys: options.strict === 'true' ? 'refuse' : undefined,
          deep: options.deep === 'true',
          node: isNode(await context.unit.observe()),
        })
  const name = loaded.kind === 'refused' ? loaded.name : loaded.config.name
  terminal.out(render(options.output, name, loaded.kind === 'loaded' ? loaded.text : undefined, report, context))
  return EXITS[report.outcome]
}

function render(
  output: string | undefined,
  name: string,
  text: string | undefined,
  report: Report,
  { terminal, version }: CommandContext,
): string {
  switch (output) {
    case 'json':
      return `${JSON.stringify(documentReport(name, report), null, 2)}\n`
    case 'sarif':
      return renderSarif(name, report, version)
    default:
      return renderReport(name, text, report, { color: terminal.color, width: terminal.width ?? 100 })
  }
}
