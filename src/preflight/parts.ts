/**
 * The parts of preflight, each behind the one interface that a report is put together from: the rules about fields, this node, what changes, and kubelet itself. The
 * rules are elsewhere; what has to be found out for them is passed in.
 */
import { isFieldName } from '../kubelet/fields.ts'
import { compareConfigs } from './change/compare.ts'
import { collectFlags } from './change/kubelet-flags.ts'
import { findOverridden } from './change/overridden.ts'
import { checkFields } from './check-fields.ts'
import { formatPath } from './field-path.ts'
import { type FieldPath, type Finding, type Position, REQUIRE_DRAIN } from './finding.ts'
import type { InspectPart, PartReport, Subject } from './inspection.ts'
import type { Judge, JudgeStage } from './kubelet/judgement.ts'
import { formatVersion } from './kubelet-version.ts'
import { checkNode, findNeeds } from './node/check-node.ts'
import type { NodeOptions } from './node/node-view.ts'
import type { SurroundingNeeds, Surroundings } from './node/surroundings.ts'
import { type ChangePolicy, checkPolicy } from './policy/check-policy.ts'

export interface PartSources {
  surroundings(needs: SurroundingNeeds): Promise<Surroundings>
  policy(): ChangePolicy
  readonly judge: Judge
  /** Calls off what takes long. */
  readonly signal: AbortSignal
}

export function listParts(sources: PartSources): readonly InspectPart[] {
  return [
    { name: 'fields', slow: false, judge: async (subject) => judgeFields(subject) },
    { name: 'node', slow: false, judge: (subject) => judgeNode(subject, sources) },
    { name: 'change', slow: false, judge: async (subject) => judgeChange(subject, sources.policy()) },
    { name: 'kubelet', slow: false, judge: (subject) => askKubelet(subject, sources, 'load') },
    {
      name: 'kubelet-start',
      slow: true,
      judge: async (subject) => (subject.options.deep ? askKubelet(subject, sources, 'deep') : undefined),
    },
  ]
}

function judgeFields({ document, version, unknownKeys }: Subject): PartReport {
  const count = Object.keys(document.config).filter((name) => name !== 'apiVersion' && name !== 'kind').length
  const whose = version === undefined ? 'every kubelet' : `kubelet ${formatVersion(version)}`
  return conclude(
    checkFields(document, { version, unknownKeys }),
    `${count} ${count === 1 ? 'field' : 'fields'} held against the rules of ${whose}`,
  )
}

async function judgeNode({ document, node, version, config }: Subject, { surroundings }: PartSources): Promise<PartReport | undefined> {
  if (node === undefined) return undefined
  const { flags, folder, running, kubeletPid } = node
  const options: NodeOptions = { version, flags: collectFlags(flags), folder, files: Object.keys(config.files), running, kubeletPid }
  const found = await surroundings(findNeeds(document.config, options))
  return conclude(checkNode(document.config, document, found, options), 'held against this node')
}

function judgeChange({ document, node, version }: Subject, policy: ChangePolicy): PartReport | undefined {
  if (node === undefined) return undefined
  if (node.running === undefined) return { outcome: 'unjudged', detail: 'what runs now cannot be read', findings: [] }
  const changes = compareConfigs(node.running, document.config, version)
  const { findings, requiresDrain } = checkPolicy(changes, policy, document)
  const overridden = findOverridden(changes, collectFlags(node.flags), document)
  const drain = requiresDrain.map(
    (path): Finding => ({
      rule: REQUIRE_DRAIN,
      severity: 'info',
      reason: 'validate',
      path,
      position: document.locate(path),
      problem: `${formatPath(path)} changes on a drained node only`,
      advice: 'drain the node, and it is activated',
    }),
  )
  return conclude([...findings, ...overridden, ...drain], `${changes.length} ${changes.length === 1 ? 'field changes' : 'fields change'}`)
}

async function askKubelet(subject: Subject, { judge, signal }: PartSources, stage: JudgeStage): Promise<PartReport> {
  const { kubelet, config, document, options, version } = subject
  if (kubelet === undefined) {
    const detail =
      options.version !== undefined && version !== undefined ? `no kubelet ${formatVersion(version)} is at hand` : 'no kubelet is at hand'
    return { outcome: 'unjudged', detail, findings: [] }
  }
  const judgement = await judge.judge({ ...kubelet, files: config.files, key: config.key, stage, signal })
  switch (judgement.kind) {
    case 'accepted':
    case 'unjudged':
      return { outcome: judgement.kind, detail: judgement.detail, findings: [] }
    case 'refused': {
      const path = findNamed(judgement.words)
      const position: Position | undefined = path.length === 0 ? undefined : document.locate(path)
      const finding: Finding = {
        rule: stage === 'load' ? 'kubelet/load' : 'kubelet/start',
        severity: 'refuse',
        reason: judgement.reason,
        path,
        position,
        problem: judgement.words,
        advice: undefined,
      }
      return { outcome: 'refused', detail: `${kubelet.binary} would not start with it`, findings: [finding] }
    }
  }
}

/** The first field that kubelet's words name. */
function findNamed(words: string): FieldPath {
  const name = [...words.matchAll(/[A-Za-z]{4,}/g)].map(([word]) => word).find((word) => isFieldName(word) && /[A-Z]/.test(word))
  return name === undefined ? [] : [name]
}

function conclude(findings: readonly Finding[], detail: string): PartReport {
  return { outcome: findings.some(({ severity }) => severity === 'refuse') ? 'refused' : 'accepted', detail, findings }
}
