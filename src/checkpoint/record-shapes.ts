/** The shapes of the records that are stored as JSON, in `meta/` and in /run. Pure. */
import type { ConfigMapSource, ConfigSource } from '../decision/config-source.ts'
import type { ChannelState, ClusterPause, LayeredField } from '../decision/desired.ts'
import type { ExcusedExits, HealthPort, HealthRecord, KubeletExit, ProcessHealth, SeenProcess } from '../decision/health.ts'
import type { LeftRecord, ObservationRecord, RestartRecord, SpreadRecord, TrialBoot, TrialBoots } from '../decision/records.ts'
import type { RolloutKnowledge, StagedContent, Staging } from '../decision/staging-state.ts'
import type { TrialKey } from '../decision/trial-key.ts'
import type { Progress } from '../rollout/progress.ts'
import type { Observation, RolloutPosition } from '../rollout/silence.ts'
import type { RolloutTurn, WhenFailed } from '../rollout/view.ts'
import type { Check } from '../values/json-shape.ts'
import { either, isFlag, isNumber, isText, listOf, mapOf, oneOf, optional, shape } from '../values/json-shape.ts'
import { checkSource } from './layout.ts'

const isConfigMapSource: Check<ConfigMapSource> = shape<ConfigMapSource>({
  namespace: isText,
  name: isText,
  kubeletConfigKey: isText,
  uid: isText,
  resourceVersion: isText,
  overlay: optional(isText),
})
export const isConfigSource: Check<ConfigSource> = either(oneOf('local'), isConfigMapSource)

const isHealthPort: Check<HealthPort> = either(oneOf('none'), shape<Exclude<HealthPort, 'none'>>({ host: isText, port: isNumber }))

/** Its names become paths. */
const isSafeSource: Check<ConfigMapSource> = (value): value is ConfigMapSource => isConfigMapSource(value) && checkSource(value).ok

export const isLeft: Check<LeftRecord> = shape<LeftRecord>({ sources: listOf(isSafeSource), localConfig: optional(isText) })

export const isProven: Check<{ readonly key: TrialKey }> = shape<{ readonly key: TrialKey }>({ key: isText })

export const isTrialBoots: Check<TrialBoots> = shape<TrialBoots>({
  content: isText,
  boots: listOf(shape<TrialBoot>({ bootId: isText, atWallMs: isNumber, paused: optional(isFlag) })),
})

export const isChannelState: Check<ChannelState> = shape<ChannelState>({
  channel: optional(oneOf('config-source', 'label', 'annotation', 'selector', 'default')),
  paused: optional(shape<ClusterPause>({ on: oneOf('Node', 'ConfigMap'), by: isText })),
  problem: optional(isText),
  nodeHash: optional(isText),
  layers: optional(listOf(isText)),
  fields: optional(listOf(shape<LayeredField>({ path: listOf(isText), layer: isText, removed: optional(isFlag) }))),
})

export const isHealthRecord: Check<HealthRecord> = shape<HealthRecord>({
  bootId: isText,
  subject: isText,
  subjectSinceUs: isNumber,
  contentSinceUs: optional(isNumber),
  starts: isNumber,
  started: isFlag,
  startedSinceUs: optional(isNumber),
  invocationId: isText,
  wasHealthy: isFlag,
  everHealthy: isFlag,
  healthySinceUs: optional(isNumber),
  unhealthySinceUs: optional(isNumber),
  strangerHadPort: optional(isFlag),
  lastSampleUs: isNumber,
  lateLooks: optional(isNumber),
  lastLateUs: optional(isNumber),
  restartsAtUs: optional(isNumber),
  excused: isFlag,
  beganExcused: optional(isFlag),
  runtimeDownSinceUs: optional(isNumber),
  exits: isNumber,
  pausedExits: optional(isNumber),
  excusedExits: optional(shape<ExcusedExits>({ count: isNumber, sinceUs: isNumber })),
  lastNRestarts: isNumber,
  firstNRestarts: optional(isNumber),
  takenDownOf: optional(isText),
  exitSeenOf: optional(isText),
  lastProcess: optional(
    shape<SeenProcess>({
      invocationId: isText,
      content: isText,
      kubeletIdentity: isText,
      source: optional(isConfigSource),
      healthPort: optional(isHealthPort),
    }),
  ),
  process: optional(
    shape<ProcessHealth>({
      key: isText,
      invocationId: isText,
      startedAtUs: isNumber,
      wasHealthy: isFlag,
      healthySinceUs: optional(isNumber),
      unhealthySinceUs: optional(isNumber),
      exits: isNumber,
      startedByOthers: optional(isFlag),
    }),
  ),
  recentExits: optional(
    listOf(
      shape<KubeletExit>({
        key: isText,
        invocationId: isText,
        startedAtUs: optional(isNumber),
        atUs: isNumber,
        awayUs: optional(isNumber),
        words: optional(isText),
        killedBy: optional(isText),
      }),
    ),
  ),
  restartedFrom: optional(isText),
  restartDueUntilUs: optional(isNumber),
  startedByOthers: optional(isFlag),
  triedAgainUs: optional(isNumber),
  lastDetail: isText,
})

export const isRestartRecord: Check<RestartRecord> = shape<RestartRecord>({
  bootId: isText,
  atUs: isNumber,
  target: isText,
  fallback: isFlag,
  exempt: optional(isFlag),
  invocationBefore: isText,
  failed: isFlag,
  outcome: optional(shape<NonNullable<RestartRecord['outcome']>>({ ok: isFlag, detail: isText })),
})

export const isSpreadRecord: Check<SpreadRecord> = shape<SpreadRecord>({ bootId: isText, source: isConfigSource, sinceUs: isNumber })

const isWhenFailed: Check<WhenFailed> = oneOf('in-rollout', 'late')

export const isStagings: Check<readonly Staging[]> = listOf(
  shape<Staging>({
    config: isText,
    record: isText,
    arrival: oneOf('there', 'joined', 'switched'),
    assignment: optional(isNumber),
    sawUnfinished: optional(isFlag),
    waves: optional(listOf(isNumber)),
    contents: listOf(
      shape<StagedContent>({
        hash: isText,
        content: isText,
        retry: optional(isNumber),
        proved: optional(isFlag),
        promoted: optional(isFlag),
        promotedOn: optional(isText),
        failed: optional(isWhenFailed),
        started: optional(isFlag),
        requested: optional(isFlag),
        ownEdit: optional(isFlag),
      }),
    ),
  }),
)

const isPosition: Check<RolloutPosition> = shape<RolloutPosition>({
  configUid: isText,
  hash: isText,
  retry: isNumber,
  generation: isNumber,
  stage: isNumber,
})

export const isObservationRecord: Check<ObservationRecord> = shape<ObservationRecord>({
  bootId: isText,
  observation: shape<Observation>({
    recordUid: isText,
    assignment: optional(isNumber),
    contactUs: isNumber,
    changedUs: isNumber,
    resourceVersion: isText,
    firstPosition: isPosition,
    position: isPosition,
    positionSinceUs: isNumber,
    letGoUs: optional(isNumber),
    lostUs: optional(isNumber),
    claims: mapOf(shape<Observation['claims'][string]>({ generationAndStage: isText, sinceContactUs: isNumber })),
  }),
})

const isProgress: Check<Progress> = shape<Progress>({
  generation: isNumber,
  stage: isNumber,
  lastStage: isNumber,
  openPercent: isNumber,
  proofs: isNumber,
  needed: isNumber,
  claimed: listOf(isText),
  silent: listOf(isText),
  vetoes: listOf(shape<Progress['vetoes'][number]>({ node: isText, reason: isText })),
  finished: isFlag,
  halted: isFlag,
})

type TurnOf<K extends RolloutTurn['kind']> = Extract<RolloutTurn, { kind: K }>

const isTurn: Check<RolloutTurn> = either(
  either(
    shape<TurnOf<'go'>>({ kind: oneOf('go'), detail: isText, asks: optional(oneOf('proof')), unready: optional(isText) }),
    shape<TurnOf<'wait-until'>>({ kind: oneOf('wait-until'), atUs: isNumber, detail: isText }),
  ),
  either(
    shape<TurnOf<'wait'>>({ kind: oneOf('wait'), detail: isText, asks: optional(oneOf('evidence')) }),
    either(
      shape<TurnOf<'halted'>>({ kind: oneOf('halted'), detail: isText }),
      shape<TurnOf<'failed'>>({ kind: oneOf('failed'), detail: isText }),
    ),
  ),
)

export const isRolloutKnowledge: Check<RolloutKnowledge> = shape<RolloutKnowledge>({
  config: isText,
  hash: isText,
  turn: isTurn,
  confirmedAtUs: optional(isNumber),
  failed: optional(isWhenFailed),
  progress: optional(isProgress),
})
