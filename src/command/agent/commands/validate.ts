// SPDX-License-Identifier: Apache-2.0
/**
 * `validate`: whether kubelet would accept a config, before it is assigned. Works on any machine
 * with the parts of preflight that apply there, and names the parts that could not check the
 * config. Changes nothing.
 */

import { formatPath } from '../../../kubelet/field-path.ts'
import type { ComputedValue } from '../../../overlay/computed.ts'
import { describeProblem, type Finding, type PartResult, type Report, type Severity } from '../../../preflight/finding.ts'
import type { InspectOptions } from '../../../preflight/inspection.ts'
import { type NodeShown, readNodeShown } from '../../../subject/node-shown.ts'
import { capitalise } from '../../../values/cut.ts'
import { describeUnreadable } from '../../../values/errors.ts'
import { isObject } from '../../../values/is-object.ts'
import { parseJson } from '../../../values/json-shape.ts'
import { checkPlan } from '../../check-plan.ts'
import {
  type CommandLine,
  type CommandOption,
  EXIT,
  type ExitCode,
  Failure,
  type OptionValues,
  outputOption,
  switchOption,
} from '../../command.ts'
import type { PlaceInFile } from '../../manifest-text.ts'
import { type MergedDocument, NOT_MERGED } from '../../merged.ts'
import { openPart } from '../../open-part.ts'
import { documentReport, renderReport } from '../../report.ts'
import { formatJson, plainText } from '../../terminal.ts'
import { EXIT_OF } from '../../upgrade-judgement.ts'
import { loadCandidate } from '../candidate.ts'
import {
  CANDIDATE,
  FROM_VERSION,
  fileOption,
  KUBELET_VERSION,
  readTextOption,
  readVersionOption,
  WITHOUT_OVERLAY,
  wantsOverlay,
} from '../candidate-options.ts'
import type { CommandContext, NodeCommand } from '../command.ts'
import { findLayersHere, isNode, nameLayersIn } from '../config-layers.ts'
import { AGENT_NAME } from '../program.ts'

/** An API server stores no larger object. */
const LONGEST_NODE = 3 << 20

const REPORT_OUTPUT: CommandOption = outputOption(
  'output format: a table for people, JSON for programs, or SARIF for code scanning',
  'table',
  'json',
  'sarif',
)

const NODE_FILE = fileOption('node', 'compute values for the Node in this file, as `kubectl get node NAME -o json` prints it')

export const validateCommand: NodeCommand = {
  name: 'validate',
  takes: 'node',
  group: 'Check configs',
  summary: 'check whether kubelet would accept a config',
  description:
    'Checks a KubeletConfiguration, alone, in the manifest of a ConfigMap, or in a file of another tool, with every check of preflight that applies ' +
    'here, and shows each problem, its place, and what to do. For a config that this node merges, it shows where each field comes ' +
    'from. On a node, this includes its kubelet and its hardware; ' +
    'elsewhere, as in CI, only the fields are checked. If you name a check (--kubelet, --deep) and it cannot run, the ' +
    'config counts as not checked.',
  arguments: [CANDIDATE],
  options: [
    fileOption('kubelet', 'check with this kubelet, for example before an upgrade'),
    KUBELET_VERSION,
    FROM_VERSION,
    NODE_FILE,
    WITHOUT_OVERLAY,
    switchOption('deep', 'also start kubelet in a sandbox, to find what it rejects only then; takes seconds'),
    switchOption('strict', 'refuse fields that kubelet does not know'),
    REPORT_OUTPUT,
  ],
  exits: { [EXIT.fine]: 'accepted', [EXIT.failed]: 'refused', [EXIT.usage]: 'not checked, or invalid arguments, flags or settings' },
  examples: [
    ['validate kubelet.yaml', 'check a file before you create a ConfigMap from it'],
    ['validate configmap/my-node-config', 'check a ConfigMap in kube-system'],
    ['validate --strict --kubelet-version 1.28 -o sarif kubelet.yaml', 'check in CI, without a kubelet'],
    ['validate --kubelet /opt/1.30/kubelet kubelet.yaml', 'check with the next kubelet before an upgrade'],
    ['validate --kubelet-version 1.37 --from 1.36 kubelet.yaml', 'find what the next kubelet reads in another way'],
  ],
  execute: validate,
}

async function validate(here: CommandContext, { args: [candidate = ''], options }: CommandLine): Promise<ExitCode> {
  const { terminal } = here
  const nodeFile = readTextOption(options, NODE_FILE.name)
  const context = nodeFile === undefined ? here : { ...here, evaluate: here.evaluateFor(await readNodeFile(nodeFile, here)) }
  const loaded = await loadCandidate(candidate, context, wantsOverlay(options))
  switch (loaded.kind) {
    case 'failed':
      throw new Failure(loaded.detail)
    case 'refused':
      terminal.out(render(options.output, loaded.name, loaded.text, loaded.report, context, NOT_MERGED))
      return EXIT_OF[loaded.report.outcome]
    case 'loaded': {
      const { config, shown, layers = [], taken, computed, rollout } = loaded
      const node = isNode(await context.unit.observe())
      const inspected = await context.inspect(config, readInspectOptions(options, node))
      const placed = placeFindings(config.isPart === true ? openPart(inspected) : inspected, shown.place)
      const { name, files, key } = config
      const text = Object.hasOwn(files, key) ? (files[key] ?? '') : ''
      const { around, merged } = await findLayersHere({ name, text, own: layers }, node, context)
      const report = checkPlan(nameLayersIn(nameSource(placed, taken), layers, around), rollout, context.wallMs())
      terminal.out(render(options.output, name, shown.text, report, context, merged, computed))
      return EXIT_OF[report.outcome]
    }
  }
}

/** @throws Failure */
async function readNodeFile(path: string, { readInput }: CommandContext): Promise<NodeShown> {
  const reading = await readInput(path, LONGEST_NODE)
  if (reading.kind === 'unreadable') throw new Failure(`${path} ${describeUnreadable(reading.code)}`)
  if (reading.kind === 'too-large') throw new Failure(`${path} has more than ${LONGEST_NODE} bytes`)
  const node = parseJson(reading.bytes, isObject)
  const shown = node?.kind === 'Node' ? readNodeShown(node) : undefined
  if (shown === undefined) throw new Failure(`${path} is no Node as JSON: make it with kubectl get node NAME -o json`)
  return shown
}

function readInspectOptions(options: OptionValues, node: boolean): InspectOptions {
  return {
    kubelet: readTextOption(options, 'kubelet'),
    version: readVersionOption(options),
    from: readVersionOption(options, FROM_VERSION),
    unknownKeys: options.strict === 'true' ? 'refuse' : undefined,
    deep: options.deep === 'true' ? 'demanded' : 'no',
    node,
  }
}

/** Moves the places of findings from the config to the file that the user gave. */
function placeFindings(report: Report, place: PlaceInFile): Report {
  const findings = report.findings.map((finding) => ({ ...finding, position: finding.position && place(finding.position, finding.path) }))
  return { ...report, findings }
}

/** A text that is not all a config is not what was checked. */
function nameSource(report: Report, taken: string | undefined): Report {
  if (taken === undefined) return report
  return { ...report, parts: [{ part: 'file', outcome: 'accepted', detail: `taken from ${taken}` }, ...report.parts] }
}

function render(
  output: string | undefined,
  name: string,
  text: string | undefined,
  report: Report,
  { terminal, version }: CommandContext,
  merged: MergedDocument,
  computed?: readonly ComputedValue[],
): string {
  switch (output) {
    case 'json':
      return formatJson({ ...documentReport(name, report, merged), ...(computed && { computed }) })
    case 'sarif':
      return renderSarif(name, report, version)
    default:
      return `${renderComputed(computed)}${renderReport(name, text, report, { color: terminal.color, width: terminal.width ?? 100 }, merged)}`
  }
}

function renderComputed(computed: readonly ComputedValue[] | undefined): string {
  if (computed === undefined) return ''
  if (computed.length === 0) return `Its values are computed on each node, and left out here: give a Node with --${NODE_FILE.name}.\n\n`
  return `Computed from the Node:\n${computed.map(({ field, value }) => `  ${plainText(`${field}: ${JSON.stringify(value)}`)}\n`).join('')}\n`
}

const SARIF_SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

const LEVELS: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = { refuse: 'error', warn: 'warning', info: 'note' }

export function renderSarif(name: string, report: Report, version: string): string {
  const ruleIds = [...new Set(report.findings.map(({ rule }) => rule))].sort()
  const unjudged = report.parts.filter(({ outcome }) => outcome === 'unjudged' || outcome === 'cannot-start')
  const run = {
    tool: { driver: { name: AGENT_NAME, semanticVersion: version, rules: ruleIds.map((id) => describeRule(id, report.findings)) } },
    // A part that could not check the config has not run.
    invocations: [{ executionSuccessful: report.outcome !== 'unjudged', toolExecutionNotifications: unjudged.map(notify) }],
    columnKind: 'utf16CodeUnits',
    results: report.findings.map((finding) => describeResult(name, finding, ruleIds.indexOf(finding.rule))),
    properties: { outcome: report.outcome },
  }
  return formatJson({ $schema: SARIF_SCHEMA, version: '2.1.0', runs: [run] })
}

function describeRule(id: string, findings: readonly Finding[]) {
  const worst = findings.some((finding) => finding.rule === id && finding.severity === 'refuse')
    ? 'refuse'
    : (findings.find((finding) => finding.rule === id)?.severity ?? 'warn')
  const [part = '', what = ''] = id.split('/')
  return {
    id,
    name: id.replace(/(^|[-/])([a-z])/g, (_, _before, letter: string) => letter.toUpperCase()).replace(/[^A-Za-z0-9]/g, ''),
    shortDescription: { text: `${part}: ${what.replaceAll('-', ' ')}`.trim() },
    defaultConfiguration: { level: LEVELS[worst] },
  }
}

function describeResult(name: string, finding: Finding, ruleIndex: number) {
  const { rule, severity, path, position, advice, layer } = finding
  const problem = describeProblem(finding)
  return {
    ruleId: rule,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: advice === undefined ? problem : `${problem}. ${capitalise(advice)}.` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(name) },
          region: { startLine: position?.line ?? 1, startColumn: position?.column ?? 1 },
        },
        ...(path.length === 0 ? {} : { logicalLocations: [{ fullyQualifiedName: formatPath(path), kind: 'member' }] }),
      },
    ],
    // Of a config that this node merges, the place is in the result.
    ...(layer !== undefined && { properties: { layer } }),
  }
}

function notify({ part, detail }: PartResult) {
  return { level: 'note', message: { text: `${part} did not check the config: ${detail}` } }
}

/**
 * Relative to the working directory, which code-scanning systems take as the root of the
 * repository.
 */
function toUri(name: string): string {
  const path = name
    .split('/')
    .map(encodeURIComponent)
    .join('/')
    .replace(/^(\.\/)+/, '')
  return name.startsWith('/') ? `file://${path}` : path
}
