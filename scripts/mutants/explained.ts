// SPDX-License-Identifier: Apache-2.0
/** Changes that no test can notice, since what the agent does stays the same, and why. */

export interface ExplainedChange {
  readonly file: string
  /** As `npm run mutants` prints it. */
  readonly change: string
  readonly why: string
}

/** The condition is there for the type checker. */
const NARROWS = 'otherwise the property that is compared next is missing, and undefined equals nothing that it is compared with'
const NO_SOURCE = 'a text has neither a source nor a content, so that the list is as good as empty'
const HOLDS_NOTHING = 'the other kind holds nothing: undefined as well'
const EACH_JUDGED = 'a candidate without a verdict has been chosen before'
const LEFT_OUT = 'JSON leaves out what is undefined, and readers take it for missing'
const ASSIGNS_CONFIG_MAP = 'nothing but a ConfigMap is assigned so'
const BOUNDARY = 'the two differ in a single moment of the clock'
const HAS_CONTRACT = 'those that the health record judges are not among these kinds'
const OPEN_IS_DOWN = 'a unit is open only where something tells how it came down'
const NO_PATH = 'what is no checkpoint has the path of none'
const NO_KEY = 'a text has no key'
const NO_UID = 'a text has no UID'
const NOT_A_NUMBER = 'what is compared with undefined, or is a difference to it, is neither more nor less'
const NO_VERSION = 'a ConfigMap that was not found has no version, which is that of no source'
const NO_NAME = 'local has no name, which is that of no ConfigMap'
const HAS_CONTENT = 'a ConfigMap that was found has a content'
const NO_CASE = 'what has no case of its own yields nothing as well'
const STEADY = 'kubelet was found to be steady before that is asked'
const SAME_HAS_RECORD = 'a process that is the same as before has a record'

export const EXPLAINED: readonly ExplainedChange[] = [
  ...explain('src/decision/promote.ts', [
    [
      "nextStart.held.content !== target.content -> false in if (nextStart.kind !== 'known' || nextStart.held.content !== target.content) return undefined",
      'the health record is about what kubelet starts with next, so that nothing else passes a trial; and one source has one content',
    ],
    ["running.kind !== 'known' -> false in if (running.kind !== 'known' || running.key !== target.key) return undefined", NARROWS],
    [
      'content !== undefined -> true in const hasFailed = content !== undefined && findByKey(snapshot.verdicts, trialKey(content, identityOfKey(target.key))) !== undefined',
      'there is no verdict on the content undefined',
    ],
    [
      '[] -> ["Stryker was here"] in function isDamaged({ damagedFallbacks = [] }: Snapshot, name: FallbackName): boolean {',
      'the text is the name of no record',
    ],
  ]),
  ...explain('src/decision/fallback-rules.ts', [
    [
      'target.verdict?.key -> target.verdict.key in { healthy: target.verdict?.key ?? target.key, keep: blamed === undefined ? [] : [{ ...blamed, leavesState: true }] },',
      'where the node is at fault, each config has a verdict',
    ],
    [
      "running.kind !== 'known' || health === undefined -> false in if (running.kind !== 'known' || health === undefined) return false",
      STEADY,
    ],
    [
      "running.kind !== 'known' || health === undefined -> running.kind !== 'known' && health === undefined in if (running.kind !== 'known' || health === undefined) return false",
      STEADY,
    ],
    ["running.kind !== 'known' -> false in if (running.kind !== 'known' || health === undefined) return false", STEADY],
    ["health === undefined -> false in if (running.kind !== 'known' || health === undefined) return false", STEADY],
    ["false -> true in if (running.kind !== 'known' || health === undefined) return false", STEADY],
    [
      '[] -> ["Stryker was here"] in return candidates.flatMap(({ verdict }) => verdict ?? [])',
      'a text has no state, so that it is neither provisional nor open',
    ],
    ['wanted?.verdict -> wanted.verdict in const verdict = wanted?.verdict', 'where there is a target, there is a candidate'],
    [
      'verdict === undefined -> false in return verdict === undefined || diedOfLeavings(verdict) || verdict.bootId !== target.verdict.bootId ? undefined : verdict',
      'where the target has a verdict, each candidate has one',
    ],
    [
      'measureHealth(snapshot, target.key)?.elapsedUs -> measureHealth(snapshot, target.key).elapsedUs in const healthyUs = measureHealth(snapshot, target.key)?.elapsedUs ?? 0',
      STEADY,
    ],
  ]),
  ...explain('src/decision/activation-states.ts', [
    [
      'accepted.get(target.key)?.drain -> accepted.get(target.key).drain in const drain = accepted.get(target.key)?.drain ?? []',
      'only what was accepted waits for a drained node',
    ],
    [
      '[] -> ["Stryker was here"] in const drain = accepted.get(target.key)?.drain ?? []',
      'only what was accepted waits for a drained node',
    ],
    [
      "turn.kind === 'go' -> false in if (turn.kind === 'go' || turn.isOfFacts === true) return turn",
      'a turn that lets the node go is the answer either way',
    ],
    [
      "'go' -> \"\" in if (turn.kind === 'go' || turn.isOfFacts === true) return turn",
      'a turn that lets the node go is the answer either way',
    ],
  ]),
  ...explain('src/decision/rollout-turn.ts', [
    [
      'confirmedAtUs !== undefined -> true in const isFresh = confirmedAtUs !== undefined && now.monotonicUs - confirmedAtUs <= TURN_COUNTS_US',
      NOT_A_NUMBER,
    ],
    [
      "snapshot.rollout?.turn -> snapshot.rollout.turn in return { turn, isBeingConfirmed: turn !== UNREAD && snapshot.rollout?.turn.kind === 'go' }",
      'where nothing is known of the rollout, its record has not been read',
    ],
    [
      "assigned.kind !== 'source' -> false in if (assigned.kind !== 'source' || content !== assignedContent || content === lastKnownGood.content) return false",
      'without a record of what is assigned, no content is',
    ],
    ["running.kind === 'known' -> true in const runsIt = running.kind === 'known' && running.content === content", HOLDS_NOTHING],
    [
      "running.kind !== 'known' -> false in if (running.kind !== 'known' || assigned.kind !== 'source' || rollout === undefined) return false",
      NARROWS,
    ],
    [
      "turn.kind === 'go' -> true in return config === staging.config && hash === staged.hash && turn.kind === 'go' && turn.asks === 'proof'",
      'no other turn asks for a proof',
    ],
    [
      "desired.object.kind !== 'found' -> false in if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return false",
      NO_VERSION,
    ],
  ]),
  ...explain('src/decision/held-sources.ts', [
    [
      "running.kind !== 'known' -> false in if (running.kind !== 'known' || running.lost || last?.source === undefined || last.content !== running.content) return undefined",
      NARROWS,
    ],
    [
      "snapshot.unit.process.kind !== 'checkpoint' -> false in if (recorded !== undefined || snapshot.unit.kind !== 'known' || snapshot.unit.process.kind !== 'checkpoint') return recorded",
      'a process that names no checkpoint names no UID either',
    ],
    [
      "'local' -> \"\" in const others = [resolveDesired(snapshot.desired) ?? 'local', ...[...snapshot.verdicts.values()].map(({ source }) => source)]",
      NO_UID,
    ],
    ...["others.filter((source) => source !== 'local') -> others", "source !== 'local' -> true", '\'local\' -> ""'].map(
      (change) => [`${change} in return [...namedSources(snapshot), ...others.filter((source) => source !== 'local')]`, NO_UID] as const,
    ),
  ]),
  ...explain('src/decision/rollout-subject.ts', [
    [
      "desired.object.kind !== 'found' -> false in if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || assigned.kind !== 'source') return undefined",
      'without a content, nothing equals that of the rollout',
    ],
    [
      "running.kind === 'known' -> true in const runs = running.kind === 'known' && (running.content === staged.content || isOfHash(staging, running.content, staged.hash))",
      NARROWS,
    ],
    [
      'label !== undefined -> true in const value = label !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined',
      'without a label, the value is not read',
    ],
    [
      'label === undefined -> false in return label === undefined || value === undefined ? {} : { zone: { label, value } }',
      'without a label, there is no value',
    ],
    [
      'createdMs !== undefined -> true in return createdMs !== undefined && plan !== undefined && Math.abs(now.wallMs - createdMs) * 1000 < Math.max(plan.spreadUs, YOUNG_US)',
      NOT_A_NUMBER,
    ],
  ]),
  ...explain('src/decision/rollout-hash.ts', [
    [
      "{ base: undefined, text: undefined } -> {} in if (object.kind !== 'found') return { base: undefined, text: undefined }",
      'what is missing is hashed as null, as what is undefined is',
    ],
    ['a < b -> a <= b in others.sort(([a], [b]) => (a < b ? -1 : 1))', 'no two keys are equal'],
  ]),
  ...explain('src/decision/follow-assignment.ts', [
    [
      "snapshot.assigned.kind === 'source' -> true in const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined",
      HOLDS_NOTHING,
    ],
    ["'unknown' -> \"\" in case 'unknown':", NO_CASE],
    ["'invalid' -> \"\" in case 'invalid':", NO_CASE],
    [
      "desired.object.kind !== 'found' -> false in if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || assigned.kind !== 'source') return undefined",
      NO_VERSION,
    ],
    ["assigned !== 'local' -> true in if (assigned !== 'local' && sameRef(assigned, source)) return true", NO_NAME],
    ["'local' -> \"\" in if (assigned !== 'local' && sameRef(assigned, source)) return true", NO_NAME],
    [
      'desiredContent === undefined -> false in if (storedContent === desiredContent || desiredContent === undefined) return assign',
      HAS_CONTENT,
    ],
    [
      "running.kind === 'known' -> true in if (storedContent === undefined && running.kind === 'known' && running.content === desiredContent) return assign",
      HOLDS_NOTHING,
    ],
    [
      "assigned.kind !== 'source' -> false in if (assigned.kind !== 'source' || assigned.absent !== true || damagedFallbacks.length > 0) return undefined",
      'a record that is damaged is not absent',
    ],
    [
      "running.kind === 'known' -> true in running.kind === 'known' && running.content === LOCAL.content && nextStart.kind === 'known' && nextStart.held.source === 'local'",
      HOLDS_NOTHING,
    ],
  ]),
  ...explain('src/decision/staging.ts', [
    [
      "source === 'local' -> false in return source === 'local' ? undefined : stagings.find(({ config }) => config === configOf(source))",
      NO_NAME,
    ],
    ["'local' -> \"\" in return source === 'local' ? undefined : stagings.find(({ config }) => config === configOf(source))", NO_NAME],
    ['desiredContent === undefined -> false in if (record === undefined || desiredContent === undefined) return undefined', HAS_CONTENT],
    ["running.kind === 'known' -> true in const runsIt = running.kind === 'known' && running.content === desiredContent", HOLDS_NOTHING],
    [
      '[] -> ["Stryker was here"] in const contents = findStaging(snapshot, source)?.contents ?? []',
      'a text has no hash, and one that is undefined counts for nothing',
    ],
    [
      'before === undefined -> false in if (before === undefined || !isAssignedAlready(snapshot, source) || latestContent(before)?.hash !== hash) return false',
      'a config that is assigned already has not switched, unless that was recorded before',
    ],
    [
      "assigned.source !== 'local' -> true in return assigned.kind === 'source' && assigned.source !== 'local' && configOf(assigned.source) === configOf(source)",
      NO_NAME,
    ],
    [
      "'local' -> \"\" in return assigned.kind === 'source' && assigned.source !== 'local' && configOf(assigned.source) === configOf(source)",
      NO_NAME,
    ],
    [
      "other !== 'local' -> true in const isOfConfig = (other: ConfigSource) => other !== 'local' && configOf(other) === configOf(source)",
      NO_NAME,
    ],
    ["'local' -> \"\" in const isOfConfig = (other: ConfigSource) => other !== 'local' && configOf(other) === configOf(source)", NO_NAME],
    [
      "assigned.kind === 'source' -> true in const isFirst = assigned.kind === 'source' && assigned.source === 'local' && recordedChannelState?.nodeHash === undefined",
      HOLDS_NOTHING,
    ],
  ]),
  ...explain('src/decision/refuge.ts', [
    [
      'content !== undefined -> true in return hangs || target.fallback || (content !== undefined && isOfFailure(findVerdict(snapshot, content, unit)))',
      'there is no verdict on the content undefined',
    ],
    ["running.kind === 'known' -> true in return running.kind === 'known' && running.content === target.content", NARROWS],
  ]),
  ...explain('src/decision/rename-kubelet.ts', [
    [
      "unit.kind === 'unknown' -> false in if (record === undefined || unit.kind === 'unknown' || unit.formerIdentity === undefined) return record",
      NARROWS,
    ],
    [
      "'unknown' -> \"\" in if (record === undefined || unit.kind === 'unknown' || unit.formerIdentity === undefined) return record",
      NARROWS,
    ],
  ]),
  ...explain('src/decision/condemn-failure.ts', [
    ['dueUntilUs !== undefined -> true in const isDue = dueUntilUs !== undefined && snapshot.now.monotonicUs < dueUntilUs', NOT_A_NUMBER],
    ['evidence !== undefined -> true in ...(evidence !== undefined && { evidence }),', LEFT_OUT],
    [
      'Math.abs(now.wallMs - atWallMs) * 1000 < AS_OTHERS_US -> Math.abs(now.wallMs - atWallMs) * 1000 <= AS_OTHERS_US in const isRecent = ({ atWallMs }: Verdict) => Math.abs(now.wallMs - atWallMs) * 1000 < AS_OTHERS_US',
      BOUNDARY,
    ],
    [
      'triedAgainUs !== undefined -> true in const wasLately = triedAgainUs !== undefined && snapshot.now.monotonicUs - triedAgainUs < AGAIN_AFTER_US',
      'a difference to undefined is NaN, which is less than nothing',
    ],
    [
      'snapshot.now.monotonicUs - triedAgainUs < AGAIN_AFTER_US -> snapshot.now.monotonicUs - triedAgainUs <= AGAIN_AFTER_US in const wasLately = triedAgainUs !== undefined && snapshot.now.monotonicUs - triedAgainUs < AGAIN_AFTER_US',
      BOUNDARY,
    ],
  ]),
  ...explain('src/decision/acceptance.ts', [
    [
      "wanted === undefined -> false in if (basis === undefined || wanted === undefined || wanted.verdict?.state !== 'refused') return undefined",
      'where there is a target, there is a candidate',
    ],
  ]),
  ...explain('src/decision/left.ts', [
    ["assigned.kind === 'source' -> true in return assigned.kind === 'source' && assigned.source === 'local'", NARROWS],
    ["running.kind === 'known' -> true in return running.kind === 'known' && running.content === LOCAL_CONTENT", NARROWS],
    ['[] -> ["Stryker was here"] in export function listLeft({ left = [] }: Pick<Snapshot, \'left\'>): readonly HeldSource[] {', NO_SOURCE],
    ["nextStart.kind === 'known' -> true in const next = nextStart.kind === 'known' ? nextStart.held : undefined", HOLDS_NOTHING],
    [
      '[] -> ["Stryker was here"] in const current = runsLocal(snapshot) ? [] : [findRunning(snapshot), next, lastKnownGood, previous]',
      NO_SOURCE,
    ],
  ]),
  ...explain(
    'src/decision/effects-of-answer.ts',
    ["source === 'local' -> false", '\'local\' -> ""'].map(
      (change) =>
        [
          `${change} in const rendered = source === 'local' || source.overlay === undefined ? '' : ', as this node merges it'`,
          'a text has no overlay',
        ] as const,
    ),
  ),
  ...explain('src/decision/effects-of-staging.ts', [
    [
      'latest?.hash -> latest.hash in const known = before.contents.find(({ hash, content }) => hash === latest?.hash && content === latest.content)',
      'what was just assigned has a content',
    ],
    [
      'latest !== undefined -> true in return latest !== undefined && known !== undefined && retryOf(latest) > retryOf(known) ? latest : undefined',
      'what was just assigned has a content',
    ],
    [
      "assignedContent === undefined -> false in if (assigned.kind !== 'source' || assignedContent === undefined || findStaging(snapshot, assigned.source) === undefined) return []",
      'no key is of the content undefined',
    ],
    [
      "assignedContent === undefined -> false in if (!isNamed(assigned, target) || assignedContent === undefined || (running.kind === 'known' && running.content === assignedContent))",
      'no rollout has the content undefined',
    ],
    [
      "running.kind === 'known' -> true in if (!isNamed(assigned, target) || assignedContent === undefined || (running.kind === 'known' && running.content === assignedContent))",
      NARROWS,
    ],
  ]),
  ...explain('src/decision/effects-of-assign.ts', [
    [
      "snapshot.assigned.kind === 'source' -> true in const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined",
      HOLDS_NOTHING,
    ],
    ...["before !== 'local' -> true", '\'local\' -> ""'].map(
      (change) =>
        [`${change} in if (before !== undefined && before !== 'local' && sameRef(before, source)) {`, 'a text names no ConfigMap'] as const,
    ),
    ["localConfig !== undefined -> true in put('left', { sources: left, ...(localConfig !== undefined && { localConfig }) }),", LEFT_OUT],
    [
      'factsSinceUs !== undefined -> true in const since = { ...(shared ? { sinceUs: now.monotonicUs } : own), ...(factsSinceUs !== undefined && { factsSinceUs }) }',
      LEFT_OUT,
    ],
    [
      "desired.kind === 'config-map' -> true in ...(desired.kind === 'config-map' && desired.object.kind === 'found' ? stage(snapshot, source, desired.object) : []),",
      ASSIGNS_CONFIG_MAP,
    ],
    ...[
      "const { mergedFrom, factsSinceUs } = desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object : {}",
      "return desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object.factsSinceUs : undefined",
    ].flatMap((line) =>
      [
        "desired.kind === 'config-map' && desired.object.kind === 'found' -> true",
        "desired.kind === 'config-map' && desired.object.kind === 'found' -> desired.kind === 'config-map' || desired.object.kind === 'found'",
        "desired.kind === 'config-map' -> true",
        "desired.object.kind === 'found' -> true",
      ].map((change) => [`${change} in ${line}`, `${ASSIGNS_CONFIG_MAP}, and one that is not found has neither`] as const),
    ),
  ]),
  ...explain('src/decision/restart-limit.ts', [
    [
      'oldest !== undefined -> true in return oldest !== undefined && spent.length >= policy.restartsPerHour ? oldest.atUs + HOUR_US : undefined',
      'the limit is at least one restart',
    ],
    [
      'now.monotonicUs - record.atUs < HOUR_US -> now.monotonicUs - record.atUs <= HOUR_US in const spent = listCounted(thisBoot, unit).filter((record) => now.monotonicUs - record.atUs < HOUR_US)',
      BOUNDARY,
    ],
    [
      "unit.kind === 'known' -> true in const present = unit.kind === 'known' ? unit.invocationId : undefined",
      'a unit that is unknown has no invocation: undefined as well',
    ],
  ]),
  ...explain('src/decision/restarts.ts', [
    [
      "running.kind === 'known' -> true in if (running.kind === 'known' && running.content === target.content && !isOutdated(snapshot, unit, target)) return NOT_DUE",
      NARROWS,
    ],
    ["running.kind === 'known' -> true in const isOfKubelet = running.kind === 'known' && running.content === content", NARROWS],
    [
      "running.kind === 'known' -> true in const isAnswered = running.kind === 'known' && running.startedAtUs - last.atUs > policy.startDeadlineUs",
      NOT_A_NUMBER,
    ],
    [
      'last === undefined -> false in if (last === undefined || last.outcome !== undefined) return undefined',
      'what was cut short was requested',
    ],
    ...['auto-restart', 'exited', 'left-down', 'failed'].map(
      (activity) => [`'${activity}' -> "" in case '${activity}':`, 'a state that is not listed is no obstacle either'] as const,
    ),
    ["case 'failed': -> case 'failed': in case 'failed':", 'a state that is not listed is no obstacle either'],
    [
      "running.kind !== 'known' -> false in if (running.kind !== 'known' || running.key === target.key || findNodePause(snapshot) !== undefined) return false",
      'this is asked of a kubelet that runs only',
    ],
    [
      'nowUs - record.atUs < HOUR_US -> nowUs - record.atUs <= HOUR_US in const starts = taken.filter((record) => record.failed && !record.fallback && nowUs - record.atUs < HOUR_US)',
      BOUNDARY,
    ],
    [
      'health === undefined -> false in if (health === undefined || last === undefined) return restarts.length === 0 && !hasCondemned(snapshot)',
      'without a record there is no process in it',
    ],
    ...[
      'if (lastProcess?.invocationId === invocationBefore) return true',
      'return process !== undefined && process.invocationId === lastProcess?.invocationId && process.startedAtUs < atUs',
    ].map((line) => [`lastProcess?.invocationId -> lastProcess.invocationId in ${line}`, 'what ran last is known there'] as const),
    [
      'process.startedAtUs < atUs -> process.startedAtUs <= atUs in return process !== undefined && process.invocationId === lastProcess?.invocationId && process.startedAtUs < atUs',
      BOUNDARY,
    ],
  ]),
  ...explain('src/decision/trial.ts', [
    [
      "running.kind === 'known' -> true in return running.kind === 'known' && running.key === key && health?.subject === key ? measureHealth(snapshot, key) : undefined",
      NARROWS,
    ],
    [
      "running.kind !== 'known' -> false in if (running.kind !== 'known' || running.content !== contentOfKey(key) || health === undefined) return undefined",
      NARROWS,
    ],
    [
      "running.kind === 'known' -> true in if (running.kind === 'known' && running.content === target.content && running.key !== target.key) {",
      NARROWS,
    ],
    ['failure !== undefined -> true in if (failure !== undefined) return failure', 'there is a single rule'],
    [
      '[] -> ["Stryker was here"] in const later = trialBoots?.content === contentOfKey(key) ? trialBoots.boots.slice(1) : []',
      'a text has no time, so that it is not recent',
    ],
    [
      'Math.abs(now.wallMs - atWallMs) * 1000 < windowUs(policy) -> Math.abs(now.wallMs - atWallMs) * 1000 <= windowUs(policy) in const isRecent = (atWallMs: number) => Math.abs(now.wallMs - atWallMs) * 1000 < windowUs(policy)',
      BOUNDARY,
    ],
  ]),
  ...explain('src/decision/resting.ts', [
    [
      "trial.kind === 'running' -> true in return wait(snapshot, phase, text, trial.kind === 'running' ? trial.endsAtUs : undefined)",
      'no other trial that is waited for has an end',
    ],
  ]),
  ...explain('src/decision/worth-keeping.ts', [
    ["running.kind === 'known' -> true in const verdict = running.kind === 'known' ? verdicts.get(running.key) : undefined", HOLDS_NOTHING],
    [
      "running.kind !== 'known' -> false in if (running.kind !== 'known' || healthOfRunning(snapshot)?.healthySinceUs === undefined) return false",
      'what does not run has no health',
    ],
    ...['isOfFailure(verdicts.get(running.key))', 'isOfFailure(findVerdict(snapshot, running.content, unit))'].map(
      (verdict) =>
        [`running.kind === 'known' -> true in return running.kind === 'known' && ${verdict}`, 'no verdict is on what is missing'] as const,
    ),
  ]),
  ...explain('src/decision/find-pause.ts', [
    ["'local' -> \"\" in case 'local':", 'a hold that is not listed pauses nothing either'],
    ...["case 'unknown': -> case 'unknown':", '\'unknown\' -> ""'].map(
      (change) => [`${change} in case 'unknown':`, 'what is not known has not been seen either'] as const,
    ),
    [
      "desired.object.kind === 'unavailable' -> true in return desired.object.kind === 'found' || (desired.object.kind === 'unavailable' && desired.object.reason === 'not-found')",
      NARROWS,
    ],
  ]),
  ...explain('src/decision/prune.ts', [
    ...[
      'snapshot.checkpoints.length <= policy.keepCheckpoints -> false',
      'snapshot.checkpoints.length <= policy.keepCheckpoints -> snapshot.checkpoints.length < policy.keepCheckpoints',
    ].map(
      (change) =>
        [
          `${change} in if (snapshot.checkpoints.length <= policy.keepCheckpoints) return []`,
          'of no more than are kept, none is too old',
        ] as const,
    ),
    ...["unit.process.kind === 'checkpoint' -> true", '[] -> ["Stryker was here"]'].map(
      (change) => [`${change} in const inProcess = unit.process.kind === 'checkpoint' ? [unit.process] : []`, NO_PATH] as const,
    ),
    [
      'pathOf(a) < pathOf(b) -> pathOf(a) <= pathOf(b) in const newestFirst = [...snapshot.checkpoints].sort((a, b) => b.savedAtMs - a.savedAtMs || (pathOf(a) < pathOf(b) ? 1 : -1))',
      'no two checkpoints have one path',
    ],
    ...["source === 'local' -> false", '\'local\' -> ""', '[] -> ["Stryker was here"]'].map(
      (change) => [`${change} in return source === undefined || source === 'local' ? [] : [source]`, NO_PATH] as const,
    ),
    ...["source !== 'local' -> true", '\'local\' -> ""', '[] -> ["Stryker was here"]'].map(
      (change) =>
        [
          `${change} in return [...verdicts.values()].flatMap(({ damage, source }) => (damage === 'one-way' && source !== 'local' ? [source] : []))`,
          NO_PATH,
        ] as const,
    ),
    [
      `overlay === undefined -> false in return overlay === undefined ? \`\${uid}/\${resourceVersion}\` : \`\${uid}/\${resourceVersion}/\${overlay}\``,
      'a path of another form tells the same apart',
    ],
  ]),
  ...explain('src/decision/wait.ts', [
    ["turn.kind === 'wait-until' -> true in return turn.kind === 'wait-until' ? turn.atUs : undefined", 'no other turn has such a time'],
    [
      "healthyUs > policy.trialUs -> healthyUs >= policy.trialUs in if (phase !== 'in-trial' && healthyUs > policy.trialUs) return SETTLED_US",
      BOUNDARY,
    ],
    [
      "now.monotonicUs - running.startedAtUs < policy.startDeadlineUs -> now.monotonicUs - running.startedAtUs <= policy.startDeadlineUs in const young = running.kind !== 'known' || now.monotonicUs - running.startedAtUs < policy.startDeadlineUs",
      BOUNDARY,
    ],
    [
      'spread.factsSinceUs === undefined -> false in const heldAtUs = spread.factsSinceUs === undefined ? now.monotonicUs : spread.factsSinceUs + FACTS_HOLD_US',
      NOT_A_NUMBER,
    ],
  ]),
  ...explain('src/decision/why-down.ts', [
    [
      'unit.down?.barred -> unit.down.barred in return isOpen(unit) && (findOwn(unit, past) !== undefined || (unit.down?.barred === undefined && hasSystemdStarted(unit, past)))',
      OPEN_IS_DOWN,
    ],
    ...['down === undefined -> false', '\'stopped\' -> ""'].map(
      (change) => [`${change} in if (down === undefined) return 'stopped'`, OPEN_IS_DOWN] as const,
    ),
    [
      "failedUs !== undefined -> true in return unit.activity === 'left-down' && own !== undefined && failedUs !== undefined && failedUs >= own.atUs",
      NOT_A_NUMBER,
    ],
    [
      "own.atUs >= inactiveEnterUs -> own.atUs > inactiveEnterUs in if (own?.outcome?.ok === true && own.atUs >= inactiveEnterUs) return 'stopped'",
      BOUNDARY,
    ],
    [
      "dependencyFailedUs >= inactiveEnterUs -> dependencyFailedUs > inactiveEnterUs in if (hasSystemdStarted(unit, past) && dependencyFailedUs >= inactiveEnterUs) return 'left-down'",
      BOUNDARY,
    ],
    ...[
      `unit.down?.barred -> unit.down.barred in const unmask = unit.down?.barred === 'masked' ? \`systemctl unmask \${name} && \` : ''`,
      `down?.barred -> down.barred in if (down?.barred === 'masked') return \`\${name} is masked\``,
      `down?.barred -> down.barred in if (down?.barred === 'disabled') return \`kubelet is stopped, and \${name} is disabled\``,
    ].map((change) => [change, 'the name that is said is part of it'] as const),
  ]),
  ...explain('src/evidence/schedule.ts', [
    ...["unit.kind === 'unknown' -> false", '\'unknown\' -> ""'].flatMap((change) =>
      [
        "if (unit.kind === 'unknown' || unit.activity !== 'running' || running.kind !== 'known') return undefined",
        "if (running.kind !== 'known' || unit.kind === 'unknown' || unit.activity !== 'running') return { kind: 'readable' }",
      ].map((line) => [`${change} in ${line}`, 'a unit that is unknown has no activity, which is not running'] as const),
    ),
    [
      '[] -> ["Stryker was here"] in function listUnreached({ unread = [] }: Baseline, policy: EvidencePolicy): readonly UnreadQuestion[] {',
      'a text is no answer of a kind',
    ],
    [
      'baseline === undefined -> false in const problems = baseline === undefined ? [] : listProblems(baseline, policy.evidence)',
      'nothing is required then, and nothing of the baseline is read',
    ],
    ...['question === undefined -> false', '[] -> ["Stryker was here"]'].map(
      (change) => [`${change} in if (question === undefined) return []`, 'each of these kinds has a question'] as const,
    ),
  ]),
  ...explain('src/evidence/lease.ts', [
    ['renewedUs !== undefined -> true in const isSlow = renewedUs !== undefined && atUs - renewedUs >= CONTROLLER_WAITS_US', NOT_A_NUMBER],
  ]),
  ...explain('src/evidence/ready.ts', [
    ['reportedAtMs === undefined -> false in if (reportedAtMs === undefined) return false', NOT_A_NUMBER],
    [
      'referenceMs !== undefined -> true in if (serverMs === undefined) return referenceMs !== undefined && reportedAtMs > referenceMs',
      NOT_A_NUMBER,
    ],
    [
      'process.runtime?.wasSilent -> process.runtime.wasSilent in if (lastUs < (runtime.sinceUs ?? 0) + RUNTIME_BACK_US && process.runtime?.wasSilent === true)',
      'a runtime that answers was asked',
    ],
    [
      'unknownUs !== undefined -> true in return unknownUs !== undefined && lastUs - unknownUs < UNKNOWN_AGAIN_US && isSlowLately(node, lease)',
      NOT_A_NUMBER,
    ],
    ...['transitionMs', 'notReadyByMs'].map(
      (time) =>
        [
          `${time} !== undefined -> true in return ready === 'False' && transitionMs !== undefined && notReadyByMs !== undefined && transitionMs < notReadyByMs`,
          NOT_A_NUMBER,
        ] as const,
    ),
  ]),
  ...explain('src/evidence/serving.ts', [
    [
      "answer.kind === 'no-tls' -> true in const isSilent = answer.kind === 'no-tls' && answer.isSilent === true ? true : undefined",
      NARROWS,
    ],
    ["answer.kind === 'answered' -> true in const valid = answer.kind === 'answered' ? answer.valid : undefined", HOLDS_NOTHING],
    [
      'before?.user -> before.user in const isDemoted = isKnownUser(before) && before?.user !== ANONYMOUS && serving.user === ANONYMOUS',
      'a user that is known was seen',
    ],
    [
      'baseline?.ofPromoted -> baseline.ofPromoted in const isKnown = before !== undefined && baseline?.ofPromoted === true',
      'what was before is of the baseline',
    ],
    ['status !== undefined -> true in return isSilent === true || (status !== undefined && status >= 500)', NOT_A_NUMBER],
    ['serverUpSinceUs !== undefined -> true in return serverUpSinceUs !== undefined && lastUs - serverUpSinceUs >= SLACK_US', NOT_A_NUMBER],
  ]),
  ...explain('src/evidence/ask-runtime.ts', [
    [
      "files.stat(path, 'follow')?.kind -> files.stat(path, 'follow').kind in if (files.stat(path, 'follow')?.kind === 'file') return [path]",
      'a path that is not there has no entries either',
    ],
    ['[] -> ["Stryker was here"] in const names = files.list(path) ?? []', 'there is no such file'],
    ['[] -> ["Stryker was here"] in return []', 'there is no such file'],
    [
      "facts?.kind -> facts.kind in if (facts?.kind !== 'file' || facts.size > MANIFEST_BYTES) return undefined",
      'what cannot be read is left out',
    ],
    ['{ -> {} in } catch {', 'what cannot be read is left out, and nothing is returned of it'],
    ['bytes === undefined -> false in if (bytes === undefined) return undefined', 'what cannot be read is left out'],
    [
      '[] -> ["Stryker was here"] in return [...new Set(names.slice(0, MOST_NAMES).flatMap(([, name]) => name ?? []))]',
      'each match has the name',
    ],
    ...[
      "/^ */.exec(lines[start + 1] ?? '')?.[0] -> /^ */.exec(lines[start + 1] ?? '')[0]",
      '/^ */ -> / */',
      '\'\' -> "Stryker was here!"',
    ].map(
      (change) =>
        [
          `${change} in const indent = /^ */.exec(lines[start + 1] ?? '')?.[0] ?? ''`,
          'each line begins with spaces, if only with none',
        ] as const,
    ),
    [
      `end < 0 -> end <= 0 in const fields = lines.slice(start + 1, end < 0 ? undefined : end).filter((line) => line.startsWith(\`\${indent}name:\`))`,
      'the end comes after a line',
    ],
    ["'' -> \"Stryker was here!\" in return fields.length === 1 ? findNames(fields[0] ?? '')[0] : undefined", 'there is one field'],
  ]),
  ...explain('src/evidence/ask-cluster.ts', [
    ['[] -> ["Stryker was here"] in const conditions = (Array.isArray(list) ? list : []).filter(isObject)', 'a text is no condition'],
    [
      '[] -> ["Stryker was here"] in const entries = Array.isArray(managedFields) ? managedFields.filter(isObject) : []',
      'a text names no manager',
    ],
  ]),
  ...explain('src/evidence/static-pods.ts', [
    [
      '[] -> ["Stryker was here"] in const nothing = { missing: [], replaced: [], excused: [] }',
      'where there is no answer, no pod is missing in any case',
    ],
    ['[] -> ["Stryker was here"] in const idle = baseline?.staticPods && (baseline.idle ?? [])', 'a text is no file'],
    ...['isNewer', 'others'].map(
      (name) =>
        [
          `manifest?.${name} -> manifest.${name} in return manifest?.isNewer === true || manifest?.others !== undefined`,
          'a manifest that is the same as before is known',
        ] as const,
    ),
  ]),
  ...explain('src/evidence/pods.ts', [
    ...[
      "{ reasons: ['OutOf*'], fields: [] },",
      "{ reasons: ['UnexpectedAdmissionError'], fields: [] },",
      "{ reasons: ['NodeAffinity'], fields: [] },",
    ].map((row) => [`[] -> ["Stryker was here"] in ${row}`, 'the text is the name of no field'] as const),
    ...['baseline.podsAtWallMs', 'startedAtMs'].map(
      (time) =>
        [
          `${time} === undefined -> false in if (baseline.podsAtMs === undefined || baseline.podsAtWallMs === undefined || startedAtMs === undefined) return false`,
          NOT_A_NUMBER,
        ] as const,
    ),
    [
      "cause.kind === 'config' -> true in const [field] = pressure.map(({ cause }) => (cause.kind === 'config' ? cause.field : undefined))",
      'another cause has no field',
    ],
    ['[] -> ["Stryker was here"] in const { lost = [], sinceUs } = pods ?? {}', 'a text has no field, and the rest is for what was read'],
    [
      "'' -> \"Stryker was here!\" in function listSome([first = '', ...others]: readonly string[]): string {",
      'nothing is listed where there is nothing',
    ],
  ]),
  ...explain('src/evidence/worker.ts', [
    ['false -> true in #hasChanged = false', 'the first answer about a process is a change in any case'],
  ]),
  ...explain('src/evidence/baseline.ts', [
    ['[] -> ["Stryker was here"] in ...ALL_CONTRACTS.flatMap(({ ofBoot = [] }) => ofBoot),', 'the text is the name of no field'],
    ["running.kind !== 'known' -> false in if (running.kind !== 'known' || runsPromoted(facts)) return undefined", NARROWS],
  ]),
  ...explain('src/evidence/record.ts', [
    ...[
      "process === undefined || running.kind !== 'known' -> false",
      "process === undefined || running.kind !== 'known' -> process === undefined && running.kind !== 'known'",
      'process === undefined -> false',
      "running.kind !== 'known' -> false",
    ].map(
      (change) =>
        [
          `${change} in if (process === undefined || running.kind !== 'known' || about !== running.invocationId) continue`,
          'what is not known has no invocation that an answer could be about',
        ] as const,
    ),
    [
      'startedAtUs - last.atUs <= fold.startDeadlineUs -> startedAtUs - last.atUs < fold.startDeadlineUs in return startedAtUs >= last.atUs && startedAtUs - last.atUs <= fold.startDeadlineUs',
      BOUNDARY,
    ],
    [
      "answer.kind === 'refused' -> true in const isUnauthorized = answer.kind === 'refused' && answer.isUnauthorized === true",
      'no other answer says so',
    ],
  ]),
  ...explain('src/evidence/judge.ts', [
    [
      "running.kind !== 'known' -> false in if (running.kind !== 'known' || process === undefined || evidence?.bootId !== now.bootId) return undefined",
      'the invocation that is compared next is missing',
    ],
    [
      "evidence?.bootId -> evidence.bootId in if (running.kind !== 'known' || process === undefined || evidence?.bootId !== now.bootId) return undefined",
      'there is evidence where it is of a process',
    ],
    [
      "running.kind !== 'known' -> false in if (found === undefined || running.kind !== 'known' || contentOfKey(found.candidate) !== running.content) return found",
      'what is viewed runs',
    ],
    [
      "running.kind !== 'known' -> false in if (running.kind !== 'known' || target === undefined || running.content === target.content) return isObserved(snapshot)",
      'what does not run has no source, and is not observed',
    ],
    [
      'byMs < wallMsAt(0, now) -> byMs <= wallMsAt(0, now) in return times.length === 0 || byMs < wallMsAt(0, now) ? undefined : byMs',
      BOUNDARY,
    ],
    ['contractOf(kind)?.isOneWay -> contractOf(kind).isOneWay in return contractOf(kind)?.isOneWay !== undefined', HAS_CONTRACT],
    [
      'contractOf(kind)?.contact -> contractOf(kind).contact in const showing = required.filter(({ kind }) => contractOf(kind)?.contact !== undefined)',
      HAS_CONTRACT,
    ],
    ...[
      'contractOf(kind)?.contact?.(process) -> contractOf(kind)?.contact(process)',
      'contractOf(kind)?.contact -> contractOf(kind).contact',
    ].map(
      (change) =>
        [
          `${change} in if (showing.some(({ kind, answer }) => answer === 'yes' || contractOf(kind)?.contact?.(process).isMade === true)) return []`,
          'these are the kinds that have it',
        ] as const,
    ),
    [
      '[] -> ["Stryker was here"] in const contacts = ALL_CONTRACTS.flatMap(({ contact }) => (contact === undefined ? [] : [contact(process)]))',
      'a text is neither knowable nor asked',
    ],
    ["running.kind !== 'known' -> false in if (running.kind !== 'known') return false", NARROWS],
    ["false -> true in if (running.kind !== 'known') return false", 'nothing is uncompared while no process is known'],
    [
      "running.kind === 'known' -> true in const trial = running.kind === 'known' ? measureHealth(snapshot, running.key) : undefined",
      'the trial of a key that is missing is not measured: undefined as well',
    ],
  ]),
  ...explain('src/decision/target.ts', [
    [
      "unit.kind === 'known' -> true in return unit.kind === 'known' && isPutBack(snapshot, unit) ? lastKnownGood : nextStart.held",
      'without a unit nothing is asked but whether local is wanted, and then it is not',
    ],
    ...[
      'content === undefined -> false in if (content === undefined || content === lastKnownGood.content) return content !== undefined',
      'content !== undefined -> true in if (content === undefined || content === lastKnownGood.content) return content !== undefined',
    ].map((change) => [change, 'what has no content is no candidate'] as const),
    [
      'situation.unit !== undefined -> true in return situation.unit !== undefined && situation.target !== undefined',
      'without a unit there is no target',
    ],
    ["nextStart.kind !== 'known' -> false in if (nextStart.kind !== 'known') return undefined", HOLDS_NOTHING],
    [
      "nextStart.kind !== 'known' -> false in return nextStart.kind !== 'known' || isPutBack(snapshot, unit) ? undefined : nextStart.held",
      HOLDS_NOTHING,
    ],
    [
      "nextStart.kind !== 'known' -> false in if (running.kind === 'unknown' || nextStart.kind !== 'known' || nextStart.held.source !== 'local') return false",
      'this is asked where the next start is known',
    ],
    [
      'goingOn === first -> false in const candidates = goingOn === first ? others : listCandidates(snapshot, unit, awaitingTurn, goingOn)',
      'the list would be made again, and be the same',
    ],
    [
      'source === undefined -> false in if (source === undefined || content === undefined) return undefined',
      'what has no source has no content either',
    ],
    ['[] -> ["Stryker was here"] in const own = goingOn === undefined ? [] : [goingOn]', NO_SOURCE],
    [
      "verdict?.state -> verdict.state in const provisional = candidates.filter(({ verdict }) => verdict?.state === 'provisional' && !isOfResets(verdict))",
      EACH_JUDGED,
    ],
    [
      "running.kind !== 'known' -> false in if (running.kind !== 'known' || running.key !== key || (verdict !== undefined && !isSeenByHealth(verdict.reason))) return false",
      NARROWS,
    ],
    [
      "verdict !== undefined -> true in if (running.kind !== 'known' || running.key !== key || (verdict !== undefined && !isSeenByHealth(verdict.reason))) return false",
      EACH_JUDGED,
    ],
  ]),
  ...explain('src/health/fold.ts', [
    ["sample.running.kind === 'known' -> true in runsSubject: sample.running.kind === 'known' && sample.running.key === subject,", NARROWS],
  ]),
  ...explain('src/health/excuse.ts', [
    [
      'known?.runtimeDownSinceUs -> known.runtimeDownSinceUs in const sinceUs = interval.gap ? nowUs : (known?.runtimeDownSinceUs ?? nowUs)',
      'where there is no gap, there was a look before',
    ],
  ]),
  ...explain('src/health/looks.ts', [
    [
      'true -> false in if (known === undefined) return { lastUs: undefined, nowUs, gap: true, lateLooks: 0, lastLateUs: undefined, countedUs: 0 }',
      'before the first look there is no health, no illness and no exit for a gap to end',
    ],
    [
      'restartsAtUs > lastSampleUs -> restartsAtUs >= lastSampleUs in const fromUs = restartsAtUs > lastSampleUs ? lastSampleUs : Math.max(lastSampleUs, restartWait?.sinceUs ?? nowUs)',
      BOUNDARY,
    ],
    [
      'lastUs === undefined -> false in return beforeUs === undefined || lastUs === undefined ? nowUs : nowUs - (lastUs - beforeUs) - countedUs',
      'what was ill before was seen by a look before',
    ],
  ]),
  ...explain('src/health/process.ts', [
    [
      "'excused' -> \"\" in const condition = isExcused ? 'excused' : classifyAbsent(fold, isSame && before.unhealthySinceUs !== undefined)",
      'neither is healthy, ill or unclear',
    ],
    [
      "running.kind === 'known' -> true in return running.kind === 'known' && process?.invocationId === running.invocationId ? process : undefined",
      'without a process, the answer is undefined as well',
    ],
    [
      'process.unhealthySinceUs !== undefined -> true in if (process.unhealthySinceUs !== undefined && nowUs - process.unhealthySinceUs > policy.toleranceUs) return true',
      'a difference to undefined is NaN, which is more than nothing',
    ],
  ]),
  ...explain('src/health/illness.ts', [
    [
      'before?.healthySinceUs -> before.healthySinceUs in const healthyBeforeUs = interval.gap || !isSame ? undefined : before?.healthySinceUs',
      SAME_HAS_RECORD,
    ],
    ['before?.wasHealthy -> before.wasHealthy in wasHealthy: isHealthy || (isSame && before?.wasHealthy === true),', SAME_HAS_RECORD],
    [
      'same?.strangerHadPort -> same.strangerHadPort in const hadStranger = isStrangers(sample.healthz) || (illBeforeUs !== undefined && same?.strangerHadPort === true)',
      'an illness of before is that of the record',
    ],
  ]),
  ...explain('src/health/last-words.ts', [
    [
      'words !== undefined -> true in return killedBy === undefined ? words !== undefined && OF_NODE.test(words) : SENT_BY_OTHERS.includes(killedBy)',
      'the name of nothing is none of these words',
    ],
    [
      'words === undefined -> false in if (words === undefined || killedBy !== undefined) return undefined',
      'the name of nothing contains no address',
    ],
    [
      '[] -> ["Stryker was here"] in const [, host, port] = /\\blisten tcp[46]? (\\S*):(\\d{1,5}): bind: address already in use/.exec(words) ?? []',
      'the text stands where the whole match would, which is not read',
    ],
    ['[] -> ["Stryker was here"] in export function areLatestAlike({ recentExits = [], subject }: ExitRecord): boolean {', NO_KEY],
    [
      'after.startedAtUs === undefined -> false in if (before?.words === undefined || after?.words === undefined || after.startedAtUs === undefined) return false',
      NOT_A_NUMBER,
    ],
    ['startedAtUs !== undefined -> true in return startedAtUs !== undefined && atUs - startedAtUs < MINUTE_US', NOT_A_NUMBER],
  ]),
  ...explain('src/health/exits.ts', [
    [
      'false -> true in if (known === undefined) return { unseen: 0, seen: false, isCounted: false }',
      'the first look ends a gap, in which no exit is charged',
    ],
    [
      'former && ofFormer -> former || ofFormer in const logged = former && ofFormer && aged ? { ...aged, recentExits: logExits(aged, fold, former.key, ofFormer) } : aged',
      'there are both or neither',
    ],
    [
      "[] -> [\"Stryker was here\"] in { exits, recentExits = [], subject }: Pick<Starts & Exits, 'exits' | 'recentExits' | 'subject'>,",
      NO_KEY,
    ],
    [
      '[] -> ["Stryker was here"] in function listRecent({ recentExits = [], subject }: Log, nowUs: number): readonly KubeletExit[] {',
      NO_KEY,
    ],
    [
      'record.healthySinceUs !== undefined -> true in const isOver = record.healthySinceUs !== undefined && (recent.at(-1)?.atUs ?? 0) < record.healthySinceUs',
      NOT_A_NUMBER,
    ],
    [
      'startedAtUs !== undefined -> true in const late = listRecent(record, nowUs).filter(({ startedAtUs, atUs }) => startedAtUs !== undefined && atUs - startedAtUs >= trialUs)',
      NOT_A_NUMBER,
    ],
    [
      'known === undefined -> false in if (known === undefined || last === undefined) return false',
      'without a record there is no process in it',
    ],
    ['false -> true in if (known === undefined || last === undefined) return false', 'without a process there is nothing to charge'],
    [
      'lackedRuntimeUs !== undefined -> true in const markOf = (sinceUs: number) => (lackedRuntimeUs !== undefined && sinceUs <= lackedRuntimeUs ? { lackedRuntime: true } : {})',
      NOT_A_NUMBER,
    ],
  ]),
]

function explain(file: string, rows: readonly (readonly [change: string, why: string])[]): readonly ExplainedChange[] {
  return rows.map(([change, why]) => ({ file, change, why }))
}
