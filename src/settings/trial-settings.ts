/**
 * The settings of the trial: when a config becomes last-known-good, when it is rolled back, and how
 * often kubelet may be restarted. Pure.
 */

import { type Policy, WHEN_REFUSED } from '../decision/policy.ts'
import { HOUR_US, MINUTE_US, SECOND_US } from '../values/durations.ts'
import { RUN_ONLY_LIVE, type SettingTable } from './setting.ts'
import { choiceKind, countKind, durationKind } from './setting-kinds.ts'

export type TrialSettings = Omit<Policy, 'keepCheckpoints' | 'evidence'>

const GROUP = 'Trial and rollback'

export const TRIAL_SETTINGS: SettingTable<TrialSettings> = {
  trialUs: {
    name: 'trial-duration',
    group: GROUP,
    kind: durationKind(SECOND_US, 24 * HOUR_US),
    initial: 10 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'how long kubelet must run healthy without interruption before a config becomes last-known-good',
  },
  startDeadlineUs: {
    name: 'start-deadline',
    group: GROUP,
    kind: durationKind(SECOND_US, HOUR_US),
    initial: 2 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'roll back if kubelet is not healthy this long after it started',
  },
  toleranceUs: {
    name: 'health-tolerance',
    group: GROUP,
    kind: durationKind(SECOND_US, HOUR_US),
    initial: MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'roll back if a kubelet that was healthy stays unhealthy this long',
  },
  crashLimit: {
    name: 'crash-limit',
    group: GROUP,
    kind: countKind(1, 100),
    initial: 3,
    ...RUN_ONLY_LIVE,
    help: 'roll back if kubelet exits unexpectedly this many times',
  },
  spreadUs: {
    name: 'spread',
    group: GROUP,
    kind: durationKind(0, 24 * HOUR_US),
    initial: 2 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'apply a change of a shared ConfigMap or selector at a different time on each node, within this duration; 0s: all at once',
  },
  restartsPerHour: {
    name: 'restarts-per-hour',
    group: GROUP,
    kind: countKind(1, 60),
    initial: 6,
    ...RUN_ONLY_LIVE,
    help: 'maximum number of restarts of a running kubelet per hour; falling back and leaving an ill kubelet are exempt',
  },
  whenRefused: {
    name: 'when-refused',
    group: GROUP,
    kind: choiceKind(...WHEN_REFUSED),
    initial: 'stay',
    ...RUN_ONLY_LIVE,
    help: "what to do if preflight refuses the assigned config: stay keeps the running config and goes on with its trial; last-known-good falls back at once, as kubelet's own dynamic configuration did",
  },
}
