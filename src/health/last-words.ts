// SPDX-License-Identifier: Apache-2.0
/**
 * The last words of kubelet before it exited: why it did, and whether it exits again and again for
 * the same reason. Pure.
 */
import { MINUTE_US } from '../values/durations.ts'
import type { Exits, KubeletExit } from './exits.ts'
import type { Starts } from './starts.ts'

type ExitRecord = Pick<Exits & Starts, 'recentExits' | 'subject'>

/**
 * The parts of a message that differ from start to start: times and durations, process IDs, ports,
 * addresses in memory, identifiers. Numbers that come from the config are equal in both anyway.
 */
const CHANGING =
  /\b\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?|(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+\b|\b0x[0-9a-f]+|[0-9a-f]*\d[0-9a-f]*/gi

/**
 * Words that kubelet may have with any config: of an address that another process has, and which
 * any account of the node can take while kubelet is restarted; of a disk that is full or fails; of
 * no memory, files or threads left; of an API server that takes no writes, for which kubelet waits
 * 140 s (`initializeCSINode`, pkg/volume/csi).
 */
const OF_NODE =
  /address already in use|no space left on device|input\/output error|cannot allocate memory|too many open files|resource temporarily unavailable|failed to create new OS thread|failed to initialize CSINode/i
/** Kubelet does not send them to itself. The kernel does where memory runs out. */
const SENT_BY_OTHERS = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']

/** Whether the node, or somebody else, may be why kubelet exited last. A config may be, too. */
export function mayBeNodes(record: ExitRecord): boolean {
  const { words, killedBy } = lastOfSubject(record) ?? {}
  return killedBy === undefined ? words !== undefined && OF_NODE.test(words) : SENT_BY_OTHERS.includes(killedBy)
}

/**
 * The address where kubelet could not listen. undefined: it did not say, or exited for something
 * else.
 */
export function findTakenAddress(record: ExitRecord): TakenAddress | undefined {
  const { words, killedBy } = lastOfSubject(record) ?? {}
  if (words === undefined || killedBy !== undefined) return undefined
  const [, host, port] = /\blisten tcp[46]? (\S*):(\d{1,5}): bind: address already in use/.exec(words) ?? []
  // Go writes `[::]`, and nothing for all addresses.
  return host === undefined || Number(port) > 65535 ? undefined : { host: host.replace(/[[\]]/g, '') || '0.0.0.0', port: Number(port) }
}

interface TakenAddress {
  readonly host: string
  readonly port: number
}

function lastOfSubject({ recentExits, subject }: ExitRecord): KubeletExit | undefined {
  return recentExits?.findLast(({ key }) => key === subject)
}

export function isSameCause(before: string, after: string): boolean {
  return withoutChanging(before) === withoutChanging(after)
}

function withoutChanging(words: string): string {
  return words.replace(CHANGING, '#')
}

/** Adds what is known of the last exit to what happened. */
export function withLastWords(what: string, record: ExitRecord): string {
  const { words, killedBy } = lastOfSubject(record) ?? {}
  return `${what}${killedBy === undefined ? '' : `, killed by ${killedBy}`}${words === undefined ? '' : `: ${words}`}`
}

/**
 * Whether the subject's two latest exits were alike: with the same last words, each within a minute
 * of its start, and one start right after the other exit, or after the time that systemd waited
 * then. That is a crash loop. The words of a process before a signal ended it do not explain its
 * end, and without its runtime, kubelet has the same last words whatever its config.
 */
export function areLatestAlike({ recentExits = [], subject }: ExitRecord): boolean {
  const [before, after] = recentExits.filter(({ key }) => key === subject).slice(-2)
  if (before?.words === undefined || after?.words === undefined || after.startedAtUs === undefined) return false
  if (before.killedBy !== undefined || after.killedBy !== undefined) return false
  if (before.lackedRuntime === true || after.lackedRuntime === true) return false
  const isNext = after.startedAtUs - Math.max(before.atUs, before.restartsAtUs ?? 0) < MINUTE_US
  return isNext && isAtStart(before) && isAtStart(after) && isSameCause(before.words, after.words)
}

function isAtStart({ startedAtUs, atUs }: KubeletExit): boolean {
  return startedAtUs !== undefined && atUs - startedAtUs < MINUTE_US
}
