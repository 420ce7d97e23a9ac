/**
 * Schedules that once broke an invariant, shortened by `npm run sim -- --seed N --shrink`. Each has
 * its cause as its name.
 */
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

export const REGRESSIONS: Readonly<Record<string, Schedule>> = {
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
  'a process that is first seen while the disk does not return its checkpoint': schedule(
    7003493,
    [0, { kind: 'edit', name: 'red', behaviour: 'good' }],
    [1, { kind: 'assign', name: 'red' }],
    [13, { kind: 'delete-config-map', name: 'blue' }],
    [8, { kind: 'stop-kubelet', seconds: 94 }],
    [1654, { kind: 'reboot' }],
    [0, { kind: 'read-error', reads: 11 }],
  ),
}
