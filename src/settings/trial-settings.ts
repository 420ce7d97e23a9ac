// SPDX-License-Identifier: Apache-2.0
/**
 * The settings of the trial: when a config becomes last-known-good, when it is rolled back, what
 * evidence that takes, and how often kubelet may be restarted. Pure.
 */

import { type Policy, WHEN_REFUSED } from '../decision/snapshot.ts'
import { ALL_REQUIRED, type EvidenceLevel, type EvidencePolicy, OPTIONAL_KINDS, type OptionalKind } from '../evidence/kinds.ts'
import { HOUR_US, MINUTE_US, SECOND_US } from '../values/durations.ts'
import { accept, choiceKind, countKind, durationKind, type Kind, refuse, rowsOf, type SettingTable } from './setting-kinds.ts'

type TrialSettings = Omit<Policy, 'keepCheckpoints'>

const LEVELS: readonly EvidenceLevel[] = ['required', 'watched', 'off']

/** `lease=watched,pods=off`: what is not named is required. */
export const evidenceKind: Kind<EvidencePolicy> = {
  placeholder: '<kind=level,...>',
  optional: true,
  list: true,
  map: true,
  parse(text) {
    const given = new Map<OptionalKind, EvidenceLevel>()
    for (const item of text === '' ? [] : text.split(',')) {
      const [name = '', value = '', ...rest] = item.split('=').map((part) => part.trim())
      const kind = OPTIONAL_KINDS.find((each) => each === name)
      const level = LEVELS.find((each) => each === value)
      if (kind === undefined) return refuse(`"${name}" is not one of ${OPTIONAL_KINDS.join(', ')}`)
      if (level === undefined || rest.length > 0)
        return refuse(`"${item.trim()}" must be ${name}=LEVEL, where LEVEL is one of ${LEVELS.join(', ')}`)
      if (given.has(kind)) return refuse(`names ${kind} twice`)
      given.set(kind, level)
    }
    return accept({ ...ALL_REQUIRED, ...Object.fromEntries(given) })
  },
  show: (policy) =>
    OPTIONAL_KINDS.filter((kind) => policy[kind] !== 'required')
      .map((kind) => `${kind}=${policy[kind]}`)
      .join(','),
}

const { RUN_ONLY_LIVE } = rowsOf('Trial and rollback')

export const TRIAL_SETTINGS: SettingTable<TrialSettings> = {
  trialUs: {
    name: 'trial-duration',
    kind: durationKind(SECOND_US, 24 * HOUR_US),
    initial: 10 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'how long kubelet must run healthy without interruption before a config becomes last-known-good',
  },
  startDeadlineUs: {
    name: 'start-deadline',
    kind: durationKind(SECOND_US, HOUR_US),
    initial: 2 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'roll back if kubelet is not healthy this long after it started',
  },
  toleranceUs: {
    name: 'health-tolerance',
    kind: durationKind(SECOND_US, HOUR_US),
    initial: MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'roll back if a kubelet that was healthy stays unhealthy this long',
  },
  crashLimit: {
    name: 'crash-limit',
    kind: countKind(1, 100),
    initial: 3,
    ...RUN_ONLY_LIVE,
    help: 'roll back if kubelet exits unexpectedly this many times',
  },
  spreadUs: {
    name: 'spread',
    kind: durationKind(0, 24 * HOUR_US),
    initial: 2 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'apply a change of a shared ConfigMap or selector at a different time on each node, within this duration; 0s: all at once',
  },
  restartsPerHour: {
    name: 'restarts-per-hour',
    kind: countKind(1, 60),
    initial: 6,
    ...RUN_ONLY_LIVE,
    help: 'maximum number of restarts of a running kubelet per hour; falling back and leaving an ill kubelet are exempt',
  },
  whenRefused: {
    name: 'when-refused',
    kind: choiceKind(...WHEN_REFUSED),
    initial: 'stay',
    ...RUN_ONLY_LIVE,
    help: "what to do if preflight refuses the assigned config: stay keeps the running config and goes on with its trial; last-known-good falls back at once, as kubelet's own dynamic configuration did",
  },
  evidence: {
    name: 'evidence',
    kind: evidenceKind,
    initial: ALL_REQUIRED,
    initialNote: 'all required',
    ...RUN_ONLY_LIVE,
    help: `what a trial must prove: for each of ${OPTIONAL_KINDS.join(', ')} one of required (a no rolls back), watched (a no is only reported), off (asked only where another kind needs it); for example lease=watched,pods=off`,
  },
}
