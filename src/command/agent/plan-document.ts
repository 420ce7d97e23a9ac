/**
 * The document that `plan -o json` prints: what is wanted, the result of preflight, what would
 * change, and the steps that the agent would take. Fields are added, never renamed or removed.
 * Pure.
 */
import type { Desired } from '../../decision/desired.ts'
import { resolveDesired } from '../../decision/desired.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import type { Phase, Step } from '../../decision/step.ts'
import type { Report } from '../../preflight/finding.ts'
import { findLastKnownGood } from '../../report/last-known-good.ts'
import { describeStatus } from '../../report/status.ts'
import { CONFIG_API_VERSION } from '../../settings/resolve-settings.ts'
import { type ChangeDocument, documentChange } from '../changes-document.ts'
import type { AgentPresence } from '../command.ts'
import type { Compared } from './compare-texts.ts'
import {
  type AgentDocument,
  documentActive,
  documentAgent,
  documentAssigned,
  documentHeld,
  documentSource,
  documentUnit,
  type SourceDocument,
  seconds,
  type UnitDocument,
} from './document-parts.ts'
import { describeStep } from './explain.ts'
import type { ForeseenStep, Foresight } from './foresee.ts'
import { documentReport, type ReportDocument } from '../report-document.ts'

/** The steps if everything goes well. A running agent starts at once. */
export interface Course {
  readonly steps: readonly StepDocument[]
  /** Where the agent would then wait. */
  readonly rest: { readonly phase: Phase; readonly detail: string }
  readonly restart: { readonly due: boolean; readonly afterSeconds: number | null }
}

export interface PlanDocument extends Course {
  readonly apiVersion: typeof CONFIG_API_VERSION
  readonly kind: 'Plan'
  readonly node: string
  readonly agent: AgentDocument
  readonly unit: UnitDocument
  readonly hold: 'none' | 'paused' | 'local'
  /** What the cluster, or the directory of manifests, assigns to this node now. */
  readonly wanted: SourceDocument
  readonly assigned: SourceDocument
  readonly active: SourceDocument
  readonly lastKnownGood: SourceDocument
  /**
   * If the node is paused or held on its local config: the course after resume. null: it is not
   * held.
   */
  readonly afterResume: Course | null
  /** Of what is wanted. null: nothing to check. */
  readonly preflight: ReportDocument | null
  /** From what runs to what is wanted. null: unknown, and `changesDetail` says why. */
  readonly changes: readonly ChangeDocument[] | null
  readonly changesDetail: string | null
}

export interface StepDocument {
  /**
   * `assign`, `preflight`, `activate`, `restart` and so on; `wait` for a wait that ends by itself.
   */
  readonly step: Step['kind']
  readonly detail: string
  /** From now. */
  readonly afterSeconds: number
}

export interface PlanFacts {
  readonly snapshot: Snapshot
  readonly agent: AgentPresence
  readonly foresight: Foresight
  readonly afterResume: Foresight | undefined
  readonly report: { readonly name: string; readonly report: Report } | undefined
  readonly compared: Compared
}

export function documentPlan({ snapshot, agent, foresight, afterResume, report, compared }: PlanFacts): PlanDocument {
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'Plan',
    node: snapshot.nodeName,
    agent: documentAgent(agent),
    unit: documentUnit(snapshot),
    hold: snapshot.requests.hold,
    wanted: documentDesired(snapshot.desired),
    assigned: documentAssigned(snapshot),
    active: documentActive(snapshot, describeStatus(snapshot, undefined).active),
    lastKnownGood: documentHeld(findLastKnownGood(snapshot)),
    ...documentCourse(foresight),
    afterResume: afterResume === undefined ? null : documentCourse(afterResume),
    preflight: report === undefined ? null : documentReport(report.name, report.report),
    changes: compared.ok ? compared.changes.map(documentChange) : null,
    changesDetail: compared.ok ? null : compared.detail,
  }
}

function documentCourse({ steps, rest, end }: Foresight): Course {
  const restart = steps.find(({ step }) => step.kind === 'restart')
  return {
    steps: steps.map((foreseen) => documentStep(foreseen, end)),
    rest: { phase: rest.phase, detail: rest.detail },
    restart: { due: restart !== undefined, afterSeconds: restart === undefined ? null : seconds(restart.afterUs) },
  }
}

function documentStep({ step, afterUs }: ForeseenStep, end: Snapshot): StepDocument {
  return { step: step.kind, detail: describeForeseen(step, end), afterSeconds: seconds(afterUs) }
}

function describeForeseen(step: Step, { verdicts, accepted }: Snapshot): string {
  if (step.kind === 'wait') return step.detail
  if (step.kind !== 'preflight') return describeStep(step)
  const answer = verdicts.has(step.key) ? 'refused' : accepted.has(step.key) ? 'accepted' : 'not possible'
  return `${describeStep(step)}: ${answer}`
}

function documentDesired(desired: Desired): SourceDocument {
  const source = resolveDesired(desired)
  if (source !== undefined) return documentSource(source)
  switch (desired.kind) {
    case 'unknown':
    case 'invalid':
      return { kind: 'unknown', detail: desired.detail }
    case 'local':
      return { kind: 'local' }
    case 'config-map': {
      const { ref, object } = desired
      const why = object.kind === 'unavailable' ? object.detail : 'not read yet'
      return { kind: 'unknown', detail: `${ref.namespace}/${ref.name}:${ref.kubeletConfigKey}: ${why}` }
    }
  }
}
