// SPDX-License-Identifier: Apache-2.0
/**
 * Schedules that once broke an invariant, shortened by `npm run sim -- --seed N --shrink`. Each has
 * its cause as its name.
 */
import type { Behaviour } from './behaviour.ts'
import type { CrashPoint } from './crash.ts'
import type { NodeKind } from './node-kind.ts'
import type { Schedule, Timed, WorldEvent } from './schedule.ts'

/** A pause in seconds since the event before, and the event. */
type Entry = readonly [number, WorldEvent]

const ASSIGN: readonly Entry[] = [
  [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
  [0, { kind: 'assign', name: 'red' }],
]

function schedule(seed: number, ...entries: readonly Entry[]): Schedule {
  return { seed, events: entries.map(([afterSeconds, event]): Timed => ({ afterSeconds, event })) }
}

function withEvidence(seed: number, ...entries: readonly Entry[]): Schedule {
  return { ...schedule(seed, ...entries), node: { evidence: true } }
}

/** With the crash without which nothing is broken, if there is one. */
interface Regression extends Schedule {
  readonly crash?: CrashPoint
}

export const REGRESSIONS: Readonly<Record<string, Regression>> = {
  'a read that fails only for an invariant': schedule(
    7011392,
    ...ASSIGN,
    [2, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 4 }],
    [10, { kind: 'read-error', reads: 15 }],
  ),
  'systemd gives up a local config that an operator had restarted': schedule(
    7017559,
    [0, { kind: 'runtime-down', seconds: 707 }],
    [189, { kind: 'restart-kubelet' }],
  ),
  'the end of a pause changes the condition, as its beginning does': schedule(
    7032725,
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [1, { kind: 'assign', name: 'red' }],
    [1, { kind: 'recreate-node' }],
    [22, { kind: 'pause', seconds: 64 }],
  ),
  'a disk that returns nothing while a config misses its start deadline': schedule(
    7002749,
    ...ASSIGN,
    [5, { kind: 'edit-overlay', behaviour: 'never-healthy' }],
    [54, { kind: 'read-error', reads: 18 }],
  ),
  // The hourly limit of restarts held back the restart that leaves an ill process for a config that
  // is wanted since.
  'ill after the limit: an assignment of another key': schedule(
    7001530,
    ...ASSIGN,
    [3, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
    [36, { kind: 'node-fault', seconds: 827 }],
    [0, { kind: 'switch-key' }],
    [919, { kind: 'switch-key' }],
  ),
  'ill after the limit: an assignment of another ConfigMap': schedule(
    7005632,
    ...ASSIGN,
    [3, { kind: 'edit', name: 'blue', behaviour: 'crash-later' }],
    [0, { kind: 'edit-overlay', behaviour: 'never-healthy' }],
    [49, { kind: 'reset', seconds: 32 }],
    [41, { kind: 'edit-overlay', behaviour: 'loses-health' }],
    [36, { kind: 'switch-key' }],
    [3, { kind: 'assign', name: 'blue' }],
  ),
  'ill after the limit: a reset and its end': schedule(
    7005868,
    ...ASSIGN,
    [2, { kind: 'switch-key' }],
    [2, { kind: 'switch-key' }],
    [1, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
    [35, { kind: 'reset', seconds: 6 }],
    [11, { kind: 'switch-key' }],
  ),
  'ill after the limit: an edit during a fault of the node': schedule(
    7012005,
    ...ASSIGN,
    [1, { kind: 'edit', name: 'red', behaviour: 'fails-after-promotion' }],
    [134, { kind: 'node-fault', seconds: 715 }],
    [0, { kind: 'edit', name: 'red', behaviour: 'crash-at-start' }],
  ),
  'ill after the limit: another overlay during a fault of the node': schedule(
    7015530,
    [0, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
    ...ASSIGN,
    [117, { kind: 'node-fault', seconds: 601 }],
    [59, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
  ),
  'ill after the limit: another key after a fault of the node': schedule(
    7016267,
    ...ASSIGN,
    [4, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
    [0, { kind: 'recreate-node' }],
    [4, { kind: 'assign', name: 'red' }],
    [127, { kind: 'node-fault', seconds: 813 }],
    [822, { kind: 'switch-key' }],
  ),
  'ill after the limit: a good overlay during a fault of the node': schedule(
    7020970,
    ...ASSIGN,
    [0, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
    [113, { kind: 'node-fault', seconds: 482 }],
    [62, { kind: 'edit-overlay', behaviour: 'good' }],
  ),
  'ill after the limit: an overlay that can be read again': schedule(
    7025490,
    ...ASSIGN,
    [5, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
    [145, { kind: 'spoil-overlay', seconds: 504 }],
    [0, { kind: 'node-fault', seconds: 600 }],
  ),
  'ill after the limit: an overlay that can be read again, in a trial': schedule(
    7035146,
    ...ASSIGN,
    [182, { kind: 'edit-overlay', behaviour: 'loses-health' }],
    [0, { kind: 'spoil-overlay', seconds: 693 }],
    [0, { kind: 'node-fault', seconds: 644 }],
  ),
  // A checkpoint that could not be read when the process was first seen was recorded as another
  // content.
  'a checkpoint that cannot be read after a reboot': schedule(
    7003493,
    ...ASSIGN,
    [0, { kind: 'delete-config-map', name: 'blue' }],
    [207, { kind: 'reboot' }],
    [0, { kind: 'read-error', reads: 11 }],
  ),
  'a checkpoint that cannot be read before and after a reboot': schedule(
    7014335,
    ...ASSIGN,
    [205, { kind: 'read-error', reads: 11 }],
    [0, { kind: 'reboot' }],
  ),
  'a checkpoint that cannot be read, twice, and a reboot': schedule(
    7016749,
    ...ASSIGN,
    [0, { kind: 'read-error', reads: 17 }],
    [269, { kind: 'read-error', reads: 14 }],
    [0, { kind: 'reboot' }],
  ),
  'a checkpoint that cannot be read after a power loss': schedule(
    7017587,
    ...ASSIGN,
    [3, { kind: 'assign-nothing-known' }],
    [0, { kind: 'power-loss' }],
    [200, { kind: 'power-loss' }],
    [0, { kind: 'read-error', reads: 14 }],
  ),
  'a checkpoint that cannot be read before and after a power loss': schedule(
    7026029,
    ...ASSIGN,
    [137, { kind: 'read-error', reads: 12 }],
    [0, { kind: 'power-loss' }],
  ),
  'a checkpoint of another version that cannot be read after a power loss': schedule(
    7033419,
    ...ASSIGN,
    [3, { kind: 'assign-nothing-known' }],
    [129, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 4 }],
    [0, { kind: 'read-error', reads: 19 }],
    [0, { kind: 'power-loss' }],
  ),
  'a process that is first seen while the disk does not return its checkpoint': schedule(
    7003493,
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [1, { kind: 'assign', name: 'red' }],
    [13, { kind: 'delete-config-map', name: 'blue' }],
    [8, { kind: 'stop-kubelet', seconds: 94 }],
    [1654, { kind: 'reboot' }],
    [0, { kind: 'read-error', reads: 11 }],
  ),
  'a power loss cuts the loss of the directory short, and leaves a checkpoint without its file': schedule(
    331,
    ...ASSIGN,
    [0, { kind: 'api-down', seconds: 6 }],
    [0, { kind: 'switch-key' }],
    [166, { kind: 'damage-assigned' }],
    [0, { kind: 'edit-overlay', behaviour: 'good' }],
    [0, { kind: 'pause-in-cluster', on: 'Node', name: 'blue', seconds: 148 }],
    [177, { kind: 'rollback' }],
    [1, { kind: 'upgrade-kubelet', restarts: false }],
    [9, { kind: 'lose-state', afterSeconds: 70 }],
    [0, { kind: 'power-loss' }],
  ),
  'kubelet starts slowly, and its TLS port does not answer meanwhile': withEvidence(
    414,
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [2, { kind: 'assign', name: 'red' }],
    [2, { kind: 'edit', name: 'red', behaviour: 'slow-start' }],
  ),
  'a config that did damage comes back in another wording, after all records were reset': withEvidence(
    749,
    [0, { kind: 'assign', name: 'red' }],
    [0, { kind: 'edit', name: 'red', behaviour: 'refuses-pods' }],
    [114, { kind: 'reset', seconds: 36 }],
    [0, { kind: 'reword', name: 'red' }],
  ),
  'the file that named the health port of a kubelet that hangs later is lost': schedule(
    50007389,
    [0, { kind: 'edit', name: 'red', behaviour: 'fails-after-promotion' }],
    [0, { kind: 'assign', name: 'red' }],
    [20, { kind: 'lose-state', afterSeconds: 0 }],
    [0, { kind: 'assign', name: 'blue' }],
  ),
  'a verdict on a config that did damage is lost with the directory': withEvidence(
    781,
    [0, { kind: 'edit', name: 'red', behaviour: 'refuses-pods' }],
    [0, { kind: 'assign', name: 'red' }],
    [1622, { kind: 'lose-state', afterSeconds: 44 }],
  ),
  'a drain ends after the last event, and another config needs one': schedule(
    60016748,
    ...ASSIGN,
    [0, { kind: 'edit-overlay', behaviour: 'needs-drain' }],
    [0, { kind: 'drain', seconds: 12 }],
  ),
  'the directory and the records in /run are lost, and the version that runs comes back with other content': schedule(
    60015860,
    ...ASSIGN,
    [7, { kind: 'lose-state', afterSeconds: 76 }],
    [0, { kind: 'restore-etcd', name: 'red', behaviour: 'good' }],
    [0, { kind: 'lose-runtime' }],
  ),
  'a process that is seen anew goes by the version that starts next, which comes back with other content': schedule(
    60016964,
    ...ASSIGN,
    [4, { kind: 'touch-metadata', name: 'red' }],
    [3, { kind: 'lose-runtime' }],
    [0, { kind: 'restore-etcd', name: 'red', behaviour: 'crash-later' }],
  ),
  'a refused config comes with the version that runs, and nothing is set to start with that version any more': {
    ...schedule(42000405, ...ASSIGN, [10, { kind: 'restore-etcd', name: 'red', behaviour: 'syntax-error' }], [0, { kind: 'edit-local' }]),
    node: { activation: 'file', startLimit: 6 },
  },
  'the directory is lost, and the health port of a config that is never healthy with it': schedule(
    60045191,
    ...ASSIGN,
    [0, { kind: 'edit-overlay', behaviour: 'never-healthy' }],
    [15, { kind: 'lose-state', afterSeconds: 50 }],
    [0, { kind: 'touch-metadata', name: 'red' }],
  ),
  'the version that runs comes back with a config that moves the health port': schedule(
    60047935,
    ...ASSIGN,
    [3, { kind: 'edit-overlay', behaviour: 'syntax-error' }],
    [0, { kind: 'lose-state', afterSeconds: 86 }],
    [0, { kind: 'restore-etcd', name: 'red', behaviour: 'moves-healthz' }],
  ),
  'the file that was replaced is edited before the agent has seen kubelet': {
    ...schedule(
      60054590,
      ...ASSIGN,
      [3, { kind: 'power-loss' }],
      [0, { kind: 'systemctl-fails', fault: 'down', seconds: 954 }],
      [0, { kind: 'edit-local' }],
    ),
    node: { activation: 'file', unit: 'notify', evidence: true },
  },
  'the API server is down while the baseline is taken': withEvidence(
    60060944,
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [1, { kind: 'edit', name: 'red', behaviour: 'not-ready' }],
    [0, { kind: 'assign', name: 'red' }],
    [0, { kind: 'assign', name: 'blue' }],
    [1, { kind: 'edit', name: 'blue', behaviour: 'refuses-pods' }],
    [4, { kind: 'api-down', seconds: 8 }],
  ),
  'the runtime goes down that a config has just moved kubelet to': withEvidence(
    60065572,
    [0, { kind: 'edit', name: 'red', behaviour: 'refuses-pods' }],
    [0, { kind: 'assign', name: 'red' }],
    [0, { kind: 'edit-overlay', behaviour: 'moves-runtime' }],
    [5, { kind: 'remove-overlay' }],
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [17, { kind: 'runtime-down', seconds: 493 }],
  ),
  'a config that did damage comes back in another wording after its checkpoint was pruned': {
    ...schedule(
      60072785,
      [0, { kind: 'assign', name: 'red' }],
      [1, { kind: 'edit', name: 'red', behaviour: 'loses-static-pods' }],
      [204, { kind: 'reword', name: 'red' }],
      [2, { kind: 'assign', name: 'blue' }],
      [0, { kind: 'reword', name: 'red' }],
      [0, { kind: 'edit', name: 'blue', behaviour: 'not-ready' }],
      [1, { kind: 'reword', name: 'blue' }],
      [3, { kind: 'assign', name: 'red' }],
    ),
    node: { activation: 'file', channel: 'selector', evidence: true },
  },
  'the directory is lost, what runs hangs, and what is assigned waits for a drained node': schedule(
    60080210,
    ...ASSIGN,
    [0, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
    [138, { kind: 'edit-overlay', behaviour: 'needs-drain' }],
    [0, { kind: 'lose-state', afterSeconds: 47 }],
    [522, { kind: 'assign-nothing-known' }],
  ),
  'a power loss brings back the record of a directory that was lost, and not its checkpoint': schedule(
    60416182,
    ...ASSIGN,
    [151, { kind: 'disk-full', seconds: 838 }],
    [0, { kind: 'lose-state', afterSeconds: 87 }],
    [134, { kind: 'power-loss' }],
  ),
  'kubelet is upgraded on disk, what runs hangs, and preflight of what is assigned cannot be carried out': schedule(
    60411089,
    ...ASSIGN,
    [0, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
    [60, { kind: 'upgrade-kubelet', restarts: false }],
    [0, { kind: 'preflight-fails', seconds: 900 }],
    [0, { kind: 'remove-overlay' }],
  ),
  'the local config is edited and kubelet exits while systemd does not answer': {
    ...schedule(
      60402417,
      [219, { kind: 'systemctl-fails', fault: 'down', seconds: 200 }],
      [0, { kind: 'edit-local' }],
      [1, { kind: 'kill-kubelet' }],
    ),
    node: { activation: 'file' },
  },
  'a reboot, and the disk does not return the next start when the process is first seen': {
    ...schedule(60503751, ...ASSIGN, [15, { kind: 'reboot' }], [0, { kind: 'read-error', reads: 18 }]),
    node: { activation: 'file', parts: true },
  },
  'a fault of the node that is over before a slow config starts again': schedule(
    61004204,
    [0, { kind: 'edit', name: 'red', behaviour: 'slow-start' }],
    [0, { kind: 'assign', name: 'red' }],
    [12, { kind: 'node-fault', seconds: 8 }],
  ),
  // The process was healthy at last, and the many exits before it counted as an illness. So it did
  // not run on when the state was lost, and nothing was known of what is assigned.
  'a kubelet that is healthy after a fault of the node, when the state is lost': schedule(
    62102665,
    ...ASSIGN,
    [124, { kind: 'node-fault', seconds: 762 }],
    [0, { kind: 'suspend', seconds: 91, halts: false }],
    [282, { kind: 'suspend', seconds: 192, halts: false }],
    [222, { kind: 'lose-state', afterSeconds: 57 }],
  ),
  'the file that kubelet starts with is edited while a config has killed the runtime': {
    ...schedule(62114355, ...ASSIGN, [0, { kind: 'edit-overlay', behaviour: 'kills-runtime' }], [296, { kind: 'edit-local' }]),
    node: { activation: 'file', whenRefused: 'stay', channel: 'annotation' },
  },
  'a config that cannot be checked for long, while another has killed the runtime': {
    ...schedule(
      62141016,
      [0, { kind: 'edit-overlay', behaviour: 'kills-runtime' }],
      ...ASSIGN,
      [13, { kind: 'edit-local' }],
      [0, { kind: 'preflight-fails', seconds: 535 }],
    ),
    node: { evidence: true, whenRefused: 'stay', parts: true },
  },
  // Each exit was charged once systemd had counted it, although the silent runtime excused it: the
  // process between two exits counted as healthy.
  'kubelet without a health port exits while the container runtime is down': {
    ...schedule(
      4,
      [0, { kind: 'edit', name: 'red', behaviour: 'without-healthz' }],
      [0, { kind: 'assign', name: 'red' }],
      [20, { kind: 'runtime-down', seconds: 60 }],
      [1, { kind: 'restart-kubelet' }],
    ),
    node: { journal: true },
  },
  'another wording of what runs, which no record names since those in /run were lost': {
    ...schedule(
      62154170,
      ...ASSIGN,
      [4, { kind: 'systemctl-fails', fault: 'refuses', seconds: 11 }],
      [0, { kind: 'reset', seconds: 49 }],
      [0, { kind: 'lose-runtime' }],
      [0, { kind: 'reword', name: 'red' }],
    ),
    node: { channel: 'selector', standby: true },
  },
  // The record of what is in place of the config file was lost, and so that counted as local.
  'the state is lost while the agent has replaced the config file, and the API server is down': {
    ...schedule(3, ...ASSIGN, [1500, { kind: 'api-down', seconds: 600 }], [5, { kind: 'lose-state', afterSeconds: 5 }]),
    node: { activation: 'file' },
  },
  // Promoted again and again: as a fallback it was lost.
  'what is only in place goes on while a typo is assigned': {
    ...schedule(
      63001652,
      ...ASSIGN,
      [1082, { kind: 'edit', name: 'red', behaviour: 'syntax-error' }],
      [60, { kind: 'lose-state', afterSeconds: 28 }],
    ),
    node: { activation: 'drop-in' },
  },
  // A comment of the config was edited while its checkpoint was lost.
  'a wording that cannot be compared with what is in place': {
    ...schedule(
      63000170,
      ...ASSIGN,
      [700, { kind: 'reword', name: 'red' }],
      [60, { kind: 'api-down', seconds: 60 }],
      [0, { kind: 'lose-state', afterSeconds: 1 }],
      [5, { kind: 'reboot' }],
      [0, { kind: 'reword', name: 'red' }],
    ),
    node: { activation: 'file' },
  },
  // At each exit the condition said Paused, and at each start something else.
  'a paused kubelet exits again and again for its runtime': schedule(
    80050621,
    ...ASSIGN,
    [100, { kind: 'runtime-down', hangs: true, seconds: 650 }],
    [0, { kind: 'pause', seconds: 697 }],
    [0, { kind: 'restart-kubelet' }],
  ),
  'a paused kubelet exits again and again with another version of what is assigned': schedule(
    80050621,
    ...ASSIGN,
    [300, { kind: 'runtime-down', hangs: true, seconds: 650 }],
    [0, { kind: 'pause', seconds: 697 }],
    [0, { kind: 'touch-metadata', name: 'red' }],
    [0, { kind: 'restart-kubelet' }],
  ),
  // Kubelet's last exit without the runtime was taken off its start deadline.
  'the container runtime answers a moment before kubelet exits for it': schedule(
    80049092,
    [0, { kind: 'assign', name: 'red' }],
    [2, { kind: 'edit', name: 'red', behaviour: 'slow-start' }],
    [78, { kind: 'runtime-down', seconds: 89 }],
    [5, { kind: 'upgrade-kubelet' }],
  ),
  // A pause of a ConfigMap stands while the assignment names none.
  'a paused ConfigMap is replaced by an assignment that is not valid': {
    ...schedule(
      80033697,
      ...ASSIGN,
      [0, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
      [3, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 81 }],
      [3, { kind: 'assign-nothing-known' }],
    ),
  },
  // The interval between its starts counted for every config.
  'a reset where systemd had given kubelet up starts local at once': {
    ...schedule(
      85000889,
      ...ASSIGN,
      [159, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [57, { kind: 'edit', name: 'blue', behaviour: 'leaves-state' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'kills-runtime' }],
      [2290, { kind: 'reset', seconds: 33 }],
    ),
    node: { startLimit: 6, channel: 'annotation' },
  },
  // The excuse ended with the wait.
  'a config waits for a silent runtime, and is started without it': {
    ...schedule(
      87008971,
      [0, { kind: 'assign', name: 'red' }],
      [4, { kind: 'edit', name: 'blue', behaviour: 'leaves-state' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [3, { kind: 'runtime-down', hangs: true, seconds: 315 }],
      [35, { kind: 'edit-overlay', behaviour: 'good' }],
      [81, { kind: 'reword', name: 'blue' }],
      [161, { kind: 'runtime-down', hangs: true, seconds: 446 }],
    ),
    node: { parts: true, journal: true, remembersRuntime: true },
  },
  // Kubelet had exited often before.
  'kubelet is replaced on disk a moment after it became healthy': {
    ...schedule(
      89000056,
      [0, { kind: 'edit', name: 'blue', behaviour: 'leaves-state' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      ...ASSIGN,
      [124, { kind: 'edit', name: 'blue', behaviour: 'leaves-state' }],
      [0, { kind: 'assign', name: 'blue' }],
      [96, { kind: 'read-only-disk', seconds: 931 }],
      [897, { kind: 'upgrade-kubelet', restarts: false }],
    ),
    node: { activation: 'drop-in', channel: 'annotation', journal: true },
  },
  'a new agent cannot read at first which wordings are one config': {
    ...schedule(
      91032866,
      ...ASSIGN,
      [1, { kind: 'reword', name: 'red' }],
      [5, { kind: 'restart-agent', afterSeconds: 15 }],
      [0, { kind: 'read-error', reads: 14 }],
    ),
    node: { channel: 'selector', whenRefused: 'last-known-good', journal: true },
  },
  'another wording is assigned while nothing tells what runs': {
    ...schedule(
      119041592,
      ...ASSIGN,
      [5, { kind: 'recreate-node' }],
      [0, { kind: 'reword', name: 'red' }],
      [0, { kind: 'lose-runtime' }],
      [0, { kind: 'systemctl-fails', fault: 'down', seconds: 931 }],
      [3, { kind: 'assign', name: 'red' }],
    ),
    node: { channel: 'selector', standby: true },
  },
  'systemd gives up, unseen, what the agent started after a crash loop of local': {
    ...schedule(
      120006378,
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [5, { kind: 'edit-local', base: 'crash-at-start' }],
      [735, { kind: 'edit-local' }],
      [2, { kind: 'systemctl-fails', fault: 'down', seconds: 769 }],
      [0, { kind: 'recreate-node' }],
    ),
    node: { startLimit: 6, whenRefused: 'last-known-good', parts: true, journal: true, signals: false },
  },
  'a version comes back with other content, and no agent has seen what kubelet was started with': {
    ...schedule(
      123188476,
      [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [0, { kind: 'assign', name: 'red' }],
      [3, { kind: 'power-loss' }],
      [0, { kind: 'lose-state', afterSeconds: 30 }],
      [0, { kind: 'restore-etcd', name: 'red', behaviour: 'good-until-upgrade' }],
    ),
    node: { evidence: true, whenRefused: 'last-known-good', remembersRuntime: true, signals: true },
  },
  // The illness of earlier processes counted against one that had just started.
  'the config file is edited in the moment in which kubelet comes back from a fault of the node': {
    ...schedule(
      2,
      [0, { kind: 'edit', name: 'red', behaviour: 'without-healthz' }],
      [0, { kind: 'assign', name: 'red' }],
      [30, { kind: 'node-fault', seconds: 20 }],
      [22, { kind: 'edit-local' }],
    ),
    node: { activation: 'file', unit: 'notify', signals: true },
  },
  // Each time that a person had deleted it, the node counted as at fault, and the config was
  // forgiven.
  'a config leaves the same again and again, and a person deletes it each time': {
    ...schedule(1, [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }], [0, { kind: 'assign', name: 'red' }]),
    node: { journal: true, startLimit: 6 },
  },
  // Nothing but another local config had it tried again.
  'kubelet fails with local as long as its container runtime is silent': {
    ...schedule(219, ...ASSIGN, [0, { kind: 'runtime-down', hangs: true, seconds: 963 }], [3, { kind: 'unassign' }]),
    node: { channel: 'selector', evidence: true, journal: true, remembersRuntime: true, signals: true },
  },
  'a start fails for another unit, and what tells whose it was is lost': {
    ...schedule(276, ...ASSIGN, [0, { kind: 'dependency-fails', seconds: 160, at: 'exit' }], [4, { kind: 'lose-runtime' }]),
    node: { activation: 'drop-in', unit: 'notify', evidence: true, whenRefused: 'last-known-good' },
  },
  'kubelet says the same before each exit, and is another one at each start': {
    ...schedule(
      179,
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [0, { kind: 'trouble', trouble: 'identity-varies', seconds: 318 }],
    ),
    node: { activation: 'file', restart: 'on-failure', evidence: true, journal: true, signals: true },
  },
  // The local config, which the agent kept beside its own, was not read.
  'a config that replaces the config file names a dead runtime': {
    ...schedule(
      983,
      [0, { kind: 'runtime-down', seconds: 229, hangs: true, kills: 48 }],
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'moves-to-dead-runtime' }],
    ),
    node: { activation: 'file', channel: 'selector', parts: true, remembersRuntime: true, signals: true },
  },
  'kubelet is left down by a unit that it requires while the wanted config waits for a drain': schedule(
    810000266,
    ...ASSIGN,
    [0, { kind: 'edit-overlay', behaviour: 'needs-drain' }],
    [0, { kind: 'dependency-fails', seconds: 12, at: 'exit' }],
    [695, { kind: 'restart-kubelet' }],
  ),
  'the file of the agent is replaced while a fallback runs that a person started': {
    ...schedule(810000581, ...ASSIGN, [1000, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }], [150, { kind: 'edit-local' }]),
    node: { activation: 'file', journal: true },
  },
  // The start deadline began anew with the look that saw the queued start.
  'systemd queues the start of a kubelet that never gets healthy': schedule(
    810000096,
    [0, { kind: 'restart-kubelet' }],
    [0, { kind: 'edit', name: 'red', behaviour: 'never-healthy' }],
    [0, { kind: 'assign', name: 'red' }],
    [25, { kind: 'kill-kubelet' }],
  ),
  'a person starts the fallback whose start systemd had refused to the agent': {
    ...schedule(
      810000053,
      [0, { kind: 'edit', name: 'red', behaviour: 'crash-at-start' }],
      [0, { kind: 'assign', name: 'red' }],
      [10, { kind: 'systemctl-fails', fault: 'refuses', seconds: 148 }],
      [25, { kind: 'restart-kubelet' }],
    ),
    node: { journal: true },
  },
  // The runtime excuses each of them.
  'two configs that take the container runtime down, one the fallback of the other': {
    ...schedule(
      810001835,
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'kills-runtime' }],
      [10, { kind: 'reset', seconds: 13 }],
      [0, { kind: 'edit-local', base: 'unusable', seconds: 55 }],
    ),
    node: { parts: true },
  },
  // A reset on the node takes precedence over a pause of the cluster.
  'a reset while the ConfigMap is paused': schedule(
    810002407,
    [3, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [0, { kind: 'assign', name: 'red' }],
    [3, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 1378 }],
    [3, { kind: 'reset', seconds: 9 }],
  ),
  // A refused edit leaves what runs. While nothing runs, that is not what was put in place since.
  'a person restarts kubelet in vain after systemd had refused that to the agent': {
    ...schedule(
      810008130,
      ...ASSIGN,
      [130, { kind: 'systemctl-fails', fault: 'refuses', seconds: 70 }],
      [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [30, { kind: 'dependency-fails', seconds: 195, at: 'restart' }],
    ),
    node: { signals: true },
  },
  'a person restarts kubelet in vain while the start is due that the agent requested': {
    ...schedule(
      810009720,
      ...ASSIGN,
      [3, { kind: 'restart-kubelet' }],
      [0, { kind: 'rollback' }],
      [0, { kind: 'dependency-fails', seconds: 134, at: 'restart' }],
    ),
    node: { activation: 'drop-in', unit: 'notify', journal: true, signals: true, remembersRuntime: true },
  },
  'a person unmasks and starts, in vain, what the agent had started in vain': {
    ...schedule(
      810007642,
      [0, { kind: 'edit', name: 'red', behaviour: 'loses-lease' }],
      [0, { kind: 'dependency-fails', seconds: 571, at: 'exit' }],
      [0, { kind: 'assign', name: 'red' }],
      [10, { kind: 'stop-kubelet', seconds: 44, bars: 'disabled' }],
      [0, { kind: 'restart-kubelet' }],
    ),
    node: { unit: 'notify', restart: 'on-failure', channel: 'annotation', evidence: true, journal: true },
  },
  'a person starts, in vain, what the agent had started in vain, and what tells whose it was is lost': {
    ...schedule(
      810009396,
      ...ASSIGN,
      [0, { kind: 'dependency-fails', seconds: 588, at: 'exit' }],
      [4, { kind: 'restart-kubelet' }],
      [0, { kind: 'lose-runtime' }],
    ),
    node: { activation: 'drop-in', unit: 'notify', startLimit: 6 },
  },
  'kubelet exits just before the first look after the disk returned nothing': {
    ...schedule(
      810005425,
      [0, { kind: 'reboot' }],
      [4, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [1, { kind: 'edit', name: 'blue', behaviour: 'leaves-state' }],
      [0, { kind: 'assign', name: 'red' }],
      [1, { kind: 'dependency-fails', seconds: 411, at: 'exit' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [2, { kind: 'suspend', seconds: 20536, halts: false }],
      [0, { kind: 'read-error', reads: 16 }],
    ),
    node: { journal: true, signals: true, remembersRuntime: true },
  },
  'last-known-good failed, and is tried again while its ConfigMap is paused': {
    ...schedule(
      810005638,
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'edit-overlay', behaviour: 'fails-after-promotion' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [18, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 1997 }],
    ),
    node: { activation: 'drop-in', restart: 'on-failure', channel: 'label', remembersRuntime: true, signals: true },
  },
  'the pod network is away for longer than the config in its trial and the fallback run': {
    ...schedule(
      810008816,
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'breaks-serving' }],
      [0, { kind: 'edit-overlay', behaviour: 'good' }],
      [610, { kind: 'edit', name: 'red', behaviour: 'breaks-serving' }],
      [23, { kind: 'upgrade-kubelet' }],
      [17, { kind: 'trouble', trouble: 'not-ready', seconds: 486 }],
    ),
    node: { activation: 'drop-in', channel: 'selector', evidence: true, standby: true, parts: true, journal: true, remembersRuntime: true },
  },
  'a fault of the node is over before the disk lets the node fall back': {
    ...schedule(810009124, ...ASSIGN, [147, { kind: 'read-only-disk', seconds: 673 }], [0, { kind: 'node-fault', seconds: 97 }]),
    node: { restart: 'on-failure', channel: 'label', remembersRuntime: true, signals: true },
  },
  'a person starts what the agent had started in vain instead of local, which had failed': {
    ...schedule(
      810006805,
      [3, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [0, { kind: 'assign', name: 'red' }],
      [1, { kind: 'unassign' }],
      [0, { kind: 'runtime-down', seconds: 165, kills: 81 }],
      [220, { kind: 'dependency-fails', seconds: 567, at: 'exit' }],
    ),
    node: { unit: 'notify', startLimit: 6, journal: true, remembersRuntime: true, signals: true },
  },
  'the local config is put back while kubelet is down, and an edit is refused': {
    ...schedule(
      810002947,
      ...ASSIGN,
      [68, { kind: 'edit-overlay', behaviour: 'invalid' }],
      [60, { kind: 'dependency-fails', seconds: 447, at: 'exit' }],
      [0, { kind: 'edit-local' }],
    ),
    node: { activation: 'file', parts: true },
  },
  'a fallback is rolled back before last-known-good is tried again': schedule(
    810010356,
    ...ASSIGN,
    [112, { kind: 'edit', name: 'red', behaviour: 'good-until-upgrade' }],
    [225, { kind: 'upgrade-kubelet' }],
    [75, { kind: 'rollback' }],
  ),
  'last-known-good was rolled back, and an operator has it tried again while its ConfigMap is paused': schedule(
    810010425,
    ...ASSIGN,
    [506, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
    [1622, { kind: 'rollback' }],
    [42, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 1977 }],
    [93, { kind: 'retry' }],
  ),
  'the local config is put back while kubelet is down, and the record of what is assigned is damaged': {
    ...schedule(
      810010629,
      ...ASSIGN,
      [143, { kind: 'edit-local', base: 'unusable', seconds: 222 }],
      [0, { kind: 'runtime-down', seconds: 198, kills: 98 }],
      [129, { kind: 'damage-assigned' }],
      [0, { kind: 'edit-local', base: 'without-healthz' }],
    ),
    node: { activation: 'file', parts: true },
  },
  'last-known-good is rolled back while its ConfigMap is paused, and local has failed': schedule(
    810011321,
    ...ASSIGN,
    [150, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 708 }],
    [0, { kind: 'node-fault', seconds: 140 }],
    [86, { kind: 'rollback' }],
  ),
  'a person restarts kubelet in vain after the agent died before it requested that': {
    ...schedule(
      810011270,
      [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [60, { kind: 'dependency-fails', seconds: 103, at: 'exit' }],
      [1, { kind: 'assign', name: 'red' }],
      [3, { kind: 'restart-kubelet' }],
    ),
    crash: { operation: 58, phase: 'before', powerLoss: false },
  },
  'the container runtime is back a moment before kubelet starts, and no look comes in between': {
    ...schedule(810011417, ...ASSIGN, [150, { kind: 'runtime-down', seconds: 200, kills: 43 }], [6, { kind: 'node-fault', seconds: 500 }]),
    node: { unit: 'notify', startLimit: 6, channel: 'selector', evidence: true, journal: true, remembersRuntime: true, signals: true },
  },
  'a kubelet that has been ill exits, and a unit that it requires fails': schedule(
    810011591,
    ...ASSIGN,
    [0, { kind: 'edit-overlay', behaviour: 'loses-health' }],
    [80, { kind: 'dependency-fails', seconds: 10, at: 'exit' }],
  ),
  'the records in /run are lost while a config is in place that kubelet has not been started with': schedule(
    810011076,
    [0, { kind: 'edit', name: 'red', behaviour: 'moves-to-dead-runtime' }],
    [0, { kind: 'assign', name: 'red' }],
    [20, { kind: 'lose-runtime' }],
    [60, { kind: 'kill-kubelet' }],
  ),
  'the runtime that a config moves kubelet to is down, and kubelet is another one at each start': schedule(
    810011110,
    [0, { kind: 'edit', name: 'red', behaviour: 'moves-runtime' }],
    [0, { kind: 'assign', name: 'red' }],
    [150, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [20, { kind: 'runtime-down', seconds: 60, kills: 10 }],
    [0, { kind: 'trouble', trouble: 'identity-varies', seconds: 207 }],
  ),
  'the config file is edited, and the records in /run are lost before it is put back': {
    ...schedule(810100489, ...ASSIGN, [5, { kind: 'edit-local' }], [0, { kind: 'lose-runtime' }]),
    node: { activation: 'file' },
  },
  'the record of what is assigned is damaged while a node has something to tell in its slot': schedule(
    810012682,
    [1, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [0, { kind: 'assign', name: 'red' }],
    [2, { kind: 'runtime-down', seconds: 242, kills: 70 }],
    [0, { kind: 'edit', name: 'red', behaviour: 'ends-cleanly' }],
    [26, { kind: 'damage-assigned' }],
  ),
  'the config file is edited while kubelet runs the config in it, and the records in /run are lost': {
    ...schedule(810012097, ...ASSIGN, [300, { kind: 'edit-local' }], [60, { kind: 'lose-runtime' }]),
    node: { activation: 'file' },
  },
  'a person stops and starts kubelet while systemd has a start of the agent in its queue': {
    ...schedule(
      810013058,
      [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [7, { kind: 'reboot' }],
      [1, { kind: 'assign', name: 'red' }],
      [0, { kind: 'reword', name: 'red' }],
      [0, { kind: 'edit', name: 'blue', behaviour: 'resets-node' }],
      [57, { kind: 'api-down', seconds: 10 }],
      [1162, { kind: 'read-error', reads: 19 }],
      [45, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [6, { kind: 'reboot' }],
      [0, { kind: 'reword', name: 'blue' }],
      [7, { kind: 'reboot' }],
    ),
    node: { activation: 'drop-in', journal: true },
  },
  'a config resets the node, which another one makes seem at fault, and is refused while it is tried again': schedule(
    810013312,
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [83, { kind: 'assign', name: 'red' }],
    [10, { kind: 'reboot' }],
    [51, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
    [0, { kind: 'reboot' }],
    [28, { kind: 'recreate-node' }],
    [729, { kind: 'edit', name: 'red', behaviour: 'resets-node' }],
    [271, { kind: 'assign', name: 'red' }],
  ),
  'a config that a return to local left resets the node, and everything else fails for a while': schedule(
    810013312,
    ...ASSIGN,
    [600, { kind: 'edit', name: 'red', behaviour: 'resets-node' }],
    [40, { kind: 'recreate-node' }],
    [0, { kind: 'edit', name: 'blue', behaviour: 'crash-at-start' }],
    [1, { kind: 'assign', name: 'blue' }],
    [300, { kind: 'node-fault', seconds: 150 }],
  ),
  // Two exits with the same last words, of which the runtime's silence was the reason.
  'the container runtime answers again after it was silent for longer than that excuses kubelet': {
    ...schedule(
      810013330,
      ...ASSIGN,
      [12, { kind: 'unassign' }],
      [16, { kind: 'runtime-down', hangs: true, seconds: 642 }],
      [0, { kind: 'upgrade-kubelet' }],
    ),
    node: { journal: true },
  },
  'kubelet exits for the third time without its container runtime, which answers again by then': schedule(
    810013330,
    ...ASSIGN,
    [12, { kind: 'unassign' }],
    [16, { kind: 'runtime-down', hangs: true, seconds: 667 }],
    [0, { kind: 'restart-kubelet' }],
  ),
  'a node is reset while it has something to tell in its slot': {
    ...schedule(
      810015657,
      ...ASSIGN,
      [11, { kind: 'edit-local', base: 'moves-healthz' }],
      [0, { kind: 'reword', name: 'red' }],
      [917, { kind: 'edit-local' }],
      [2, { kind: 'edit-local', base: 'unusable', seconds: 263 }],
      [356, { kind: 'edit-local', base: 'kills-runtime' }],
      [43, { kind: 'reset', seconds: 12 }],
    ),
    node: { activation: 'file', unit: 'notify', parts: true, signals: true },
  },
  // The time of the invariant began in that absence, and not with its end.
  'something happens while no agent looks at a config that never gets healthy': schedule(
    810016799,
    [0, { kind: 'edit', name: 'red', behaviour: 'never-healthy' }],
    [1, { kind: 'assign', name: 'red' }],
    [25, { kind: 'restart-agent', afterSeconds: 60 }],
    [1, { kind: 'edit', name: 'blue', behaviour: 'good' }],
  ),
  'a person restarts a masked kubelet, and unmasks and starts it in vain': schedule(
    810036211,
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [100, { kind: 'dependency-fails', seconds: 17, at: 'exit' }],
    [14, { kind: 'stop-kubelet', seconds: 17, bars: 'disabled' }],
    [12, { kind: 'dependency-fails', seconds: 27 }],
    [0, { kind: 'restart-kubelet' }],
    [1, { kind: 'assign', name: 'red' }],
  ),
  'a config takes the container runtime down, and kubelet is another one at each start': schedule(
    810017021,
    [0, { kind: 'edit', name: 'red', behaviour: 'kills-runtime' }],
    [0, { kind: 'assign', name: 'red' }],
    [400, { kind: 'trouble', trouble: 'identity-varies', seconds: 800 }],
  ),
  // Each of its verdicts says nothing of the next kubelet, but for the third.
  'a config takes the container runtime down, is left, and is back on the next kubelet': {
    ...schedule(
      810017021,
      [0, { kind: 'edit', name: 'red', behaviour: 'kills-runtime' }],
      [0, { kind: 'assign', name: 'red' }],
      [10, { kind: 'trouble', trouble: 'identity-varies', seconds: 1800 }],
    ),
    node: { startLimit: 6 },
  },
  'a unit that kubelet requires fails, and is well again before systemd restarts a kubelet that has been ill': schedule(
    810018493,
    [0, { kind: 'edit', name: 'red', behaviour: 'never-healthy' }],
    [0, { kind: 'assign', name: 'red' }],
    [40, { kind: 'dependency-fails', seconds: 8, at: 'exit' }],
  ),
  'a person starts kubelet with local, which goes on while an edit is refused': {
    ...schedule(
      810031929,
      ...ASSIGN,
      [300, { kind: 'edit', name: 'red', behaviour: 'invalid' }],
      [60, { kind: 'edit-local' }],
      [0, { kind: 'restart-kubelet' }],
      [60, { kind: 'runtime-down', seconds: 200, kills: 50 }],
    ),
    node: { activation: 'file' },
  },
  'the container runtime goes down again before a look has found it up': {
    ...schedule(
      810026304,
      ...ASSIGN,
      [300, { kind: 'runtime-down', seconds: 429, kills: 82 }],
      [429, { kind: 'runtime-down', seconds: 469, hangs: true, kills: 59 }],
    ),
    node: { journal: true, remembersRuntime: true },
  },
  'after each of two boots, a person starts kubelet at the same time': {
    ...schedule(
      810025242,
      ...ASSIGN,
      [600, { kind: 'dependency-fails', seconds: 40 }],
      [0, { kind: 'reboot' }],
      [1000, { kind: 'edit', name: 'red', behaviour: 'loses-static-pods' }],
      [0, { kind: 'dependency-fails', seconds: 40 }],
      [0, { kind: 'reboot' }],
    ),
    node: { evidence: true },
  },
  'what is assigned while kubelet is down fails, and pods were evicted since the fallback passed its trial': {
    ...schedule(
      810024850,
      ...ASSIGN,
      [350, { kind: 'upgrade-kubelet' }],
      [400, { kind: 'evict', eviction: 0 }],
      [0, { kind: 'runtime-down', seconds: 90, kills: 1 }],
      [12, { kind: 'edit', name: 'red', behaviour: 'crash-later' }],
      [178, { kind: 'restart-kubelet' }],
    ),
    node: { evidence: true },
  },
  'the container runtime falls silent again at the moment at which it would be back': schedule(
    810026304,
    ...ASSIGN,
    [300, { kind: 'runtime-down', seconds: 429, kills: 82 }],
    [429, { kind: 'runtime-down', seconds: 469, hangs: true }],
  ),
  'an edit is refused, which leaves a healthy kubelet for last-known-good, and everything else has failed': {
    ...schedule(
      810027385,
      [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [5, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 750 }],
      [88, { kind: 'edit', name: 'red', behaviour: 'ends-cleanly' }],
      [171, { kind: 'assign', name: 'red' }],
      [174, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [7, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 361 }],
      [1396, { kind: 'edit', name: 'red', behaviour: 'ends-cleanly' }],
      [335, { kind: 'assign', name: 'blue' }],
      [57, { kind: 'edit', name: 'blue', behaviour: 'leaves-state' }],
      [21, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'blue', seconds: 1667 }],
      [14, { kind: 'edit', name: 'blue', behaviour: 'ends-cleanly' }],
    ),
    node: { channel: 'selector', whenRefused: 'last-known-good' },
  },
  'last-known-good failed before another kubelet was installed, while an edit is paused': schedule(
    810033971,
    [0, { kind: 'edit', name: 'red', behaviour: 'good-until-upgrade' }],
    [0, { kind: 'assign', name: 'red' }],
    [200, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 3000 }],
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [10, { kind: 'upgrade-kubelet' }],
    [200, { kind: 'upgrade-kubelet', restarts: false }],
  ),
  'the config before last-known-good is tried again, while an edit is paused': schedule(
    810035299,
    [0, { kind: 'edit', name: 'red', behaviour: 'fails-after-promotion' }],
    [0, { kind: 'assign', name: 'red' }],
    [200, { kind: 'edit', name: 'red', behaviour: 'fails-after-promotion' }],
    [200, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 5000 }],
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
  ),
  'the config file is edited while kubelet is down, and an edit of the ConfigMap is paused': {
    ...schedule(
      810031315,
      ...ASSIGN,
      [200, { kind: 'pause-in-cluster', on: 'ConfigMap', name: 'red', seconds: 500 }],
      [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [10, { kind: 'kill-kubelet' }],
      [0, { kind: 'edit-local' }],
    ),
    node: { activation: 'file' },
  },
  'a person restarts a kubelet that is masked': schedule(
    840000107,
    ...ASSIGN,
    [300, { kind: 'stop-kubelet', seconds: 600, bars: 'masked' }],
    [5, { kind: 'edit', name: 'red', behaviour: 'never-healthy' }],
    [20, { kind: 'restart-kubelet' }],
  ),
  'a fault of the node ends just after local, to which the node returns, has failed': schedule(
    810039614,
    ...ASSIGN,
    [300, { kind: 'node-fault', seconds: 108 }],
    [0, { kind: 'unassign' }],
    [0, { kind: 'runtime-down', seconds: 80, kills: 2 }],
  ),
  'a kubelet that began without its runtime, and never gets healthy, exits long after that is back': {
    ...schedule(
      810020624,
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'runtime-down', seconds: 237, hangs: true, kills: 57 }],
      [0, { kind: 'edit', name: 'red', behaviour: 'never-healthy' }],
      [55, { kind: 'restart-kubelet' }],
      [0, { kind: 'suspend', seconds: 42211, halts: false }],
    ),
    node: { remembersRuntime: true },
  },
  'a person starts kubelet as late after one boot as after the next': {
    ...schedule(
      810025242,
      ...ASSIGN,
      [500, { kind: 'reboot' }],
      [10, { kind: 'dependency-fails', seconds: 40 }],
      [0, { kind: 'reboot' }],
      [600, { kind: 'edit', name: 'red', behaviour: 'loses-static-pods' }],
      [0, { kind: 'dependency-fails', seconds: 40 }],
      [0, { kind: 'reboot' }],
    ),
    node: { evidence: true },
  },
  'a pod is evicted, and the fallback dies of what a config left': {
    ...schedule(
      810024850,
      [0, { kind: 'runtime-down', seconds: 428, hangs: false, kills: 54 }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
      [0, { kind: 'trouble', trouble: 'identity-varies', seconds: 565 }],
      [199, { kind: 'reword', name: 'red' }],
      [0, { kind: 'edit', name: 'blue', behaviour: 'good' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
      [363, { kind: 'reword', name: 'blue' }],
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'api-down', seconds: 3 }],
      [512, { kind: 'evict', eviction: 2 }],
      [0, { kind: 'restart-agent', afterSeconds: 58 }],
      [0, { kind: 'edit', name: 'blue', behaviour: 'good' }],
      [0, { kind: 'reword', name: 'blue' }],
      [0, { kind: 'runtime-down', seconds: 273, hangs: false, kills: 60 }],
      [0, { kind: 'edit', name: 'red', behaviour: 'leaves-state' }],
    ),
    node: { evidence: true, journal: true },
  },
  'a start of systemd comes to nothing in the pass that first sees what it restarts': {
    ...schedule(
      810035246,
      ...ASSIGN,
      [0, { kind: 'systemctl-fails', fault: 'down', seconds: 138 }],
      [0, { kind: 'runtime-down', seconds: 473, kills: 44 }],
      [57, { kind: 'dependency-fails', seconds: 360 }],
      [7, { kind: 'runtime-down', hangs: true, seconds: 655 }],
      [0, { kind: 'suspend', seconds: 283, halts: false }],
    ),
    node: { remembersRuntime: true },
    crash: { operation: 34, phase: 'after', powerLoss: false },
  },
  'the API server is too busy for a baseline, and the next look of a starved agent is a minute later': {
    ...schedule(
      870000610,
      ...ASSIGN,
      [400, { kind: 'edit', name: 'red', behaviour: 'refuses-pods' }],
      [0, { kind: 'trouble', trouble: 'starved', seconds: 500 }],
      [40, { kind: 'trouble', trouble: 'api-busy', seconds: 60 }],
    ),
    node: { evidence: true },
  },
  'every config has failed, and the node rests on the one that keeps the runtime down': {
    ...schedule(
      810077960,
      [0, { kind: 'assign', name: 'red' }],
      [0, { kind: 'edit', name: 'red', behaviour: 'kills-runtime' }],
      [4, { kind: 'runtime-down', hangs: true, seconds: 878 }],
      [0, { kind: 'recreate-node' }],
    ),
    node: { evidence: true, remembersRuntime: true },
  },
  'a machine goes on hours later, and the last answer was that its Node had not been Ready for long': {
    ...schedule(
      810077822,
      ...ASSIGN,
      [53, { kind: 'dependency-fails', seconds: 51, at: 'exit' }],
      [151, { kind: 'trouble', trouble: 'not-ready', seconds: 505 }],
      [85, { kind: 'trouble', trouble: 'starved', seconds: 513 }],
      [234, { kind: 'suspend', seconds: 30022, halts: false }],
    ),
    node: { evidence: true, parts: true },
  },
  'the records in /run are lost while a kubelet is ill that was healthy': schedule(
    810069656,
    ...ASSIGN,
    [400, { kind: 'edit', name: 'red', behaviour: 'loses-health' }],
    [82, { kind: 'lose-runtime' }],
  ),
  'a local config is written over the one in place, which kubelet runs and hangs with, and the next waits for a drained node': {
    ...schedule(
      810080235,
      ...ASSIGN,
      [400, { kind: 'edit-local', base: 'fails-after-promotion' }],
      [250, { kind: 'edit-local', base: 'needs-drain' }],
      [500, { kind: 'edit', name: 'blue', behaviour: 'good' }],
    ),
    node: { activation: 'file', parts: true },
  },
}

/** A config that has to be left for one that was promoted before, or that is wanted since. */
interface Leaving extends Schedule {
  readonly assigned: Behaviour
  readonly runs: Behaviour
}

const PROMOTED: readonly Entry[] = [
  [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
  [1, { kind: 'assign', name: 'red' }],
]

function leaving(node: Partial<NodeKind>, behaviour: Behaviour): Leaving {
  return { ...schedule(4, ...PROMOTED, [1000, { kind: 'edit', name: 'red', behaviour }]), node, assigned: behaviour, runs: 'good' }
}

function* listLeavings(): Generator<readonly [string, Leaving]> {
  for (const journal of [true, false]) {
    for (const activation of ['env', 'file', 'drop-in'] as const) {
      const about = `${activation}, ${journal ? 'with' : 'without'} a journal`
      const left = leaving({ activation, journal }, 'leaves-state')
      const wanted: Timed = { afterSeconds: 100, event: { kind: 'edit', name: 'red', behaviour: 'slow-start' } }
      yield [`what a config left kills its fallbacks until a person deletes it: ${about}`, left]
      yield [
        `a good config is wanted while what another left kills it: ${about}`,
        { ...left, events: [...left.events, wanted], assigned: 'slow-start', runs: 'slow-start' },
      ]
    }
  }
  for (const behaviour of ['loses-lease', 'not-ready', 'breaks-serving', 'loses-static-pods', 'refuses-pods'] as const)
    yield [`evidence: a config that ${behaviour} is rolled back`, leaving({ evidence: true }, behaviour)]
  for (const activation of ['env', 'file', 'drop-in'] as const)
    yield [`a config with which the machine resets is left for last-known-good: ${activation}`, leaving({ activation }, 'resets-node')]
}

export const LEAVINGS: Readonly<Record<string, Leaving>> = Object.fromEntries(listLeavings())
