/** The settings of the trial: when a config becomes last-known-good, when it is rolled back, and how often kubelet may be restarted. Pure. */

import type { Policy } from '../decision/policy.ts'
import { HOUR_US, MINUTE_US, SECOND_US } from '../values/durations.ts'
import { RUN_ONLY_LIVE, type SettingTable } from './setting.ts'
import { countKind, durationKind } from './setting-kinds.ts'

export type TrialSettings = Omit<Policy, 'keepCheckpoints'>

const GROUP = 'Trial and rollback'

export const TRIAL_SETTINGS: SettingTable<TrialSettings> = {
  trialUs: {
    name: 'trial-duration',
    group: GROUP,
    kind: durationKind(SECOND_US, 24 * HOUR_US),
    initial: 10 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'uninterrupted healthy running time after which a config becomes last-known-good',
  },
  startDeadlineUs: {
    name: 'start-deadline',
    group: GROUP,
    kind: durationKind(SECOND_US, HOUR_US),
    initial: 2 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'kubelet that is not healthy this long after its start is rolled back',
  },
  toleranceUs: {
    name: 'health-tolerance',
    group: GROUP,
    kind: durationKind(SECOND_US, HOUR_US),
    initial: MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'kubelet that was healthy and is not for this long is rolled back',
  },
  crashLimit: {
    name: 'crash-limit',
    group: GROUP,
    kind: countKind(1, 100),
    initial: 3,
    ...RUN_ONLY_LIVE,
    help: 'kubelet that exits this many times unasked is rolled back',
  },
  spreadUs: {
    name: 'spread',
    group: GROUP,
    kind: durationKind(0, 24 * HOUR_US),
    initial: 2 * MINUTE_US,
    ...RUN_ONLY_LIVE,
    help: 'nodes take an in-place edit at different moments within this time; 0s: all at once',
  },
  restartsPerHour: {
    name: 'restarts-per-hour',
    group: GROUP,
    kind: countKind(1, 60),
    initial: 6,
    ...RUN_ONLY_LIVE,
    help: 'at most so many restarts of a kubelet that runs; falling back is exempt',
  },
}
