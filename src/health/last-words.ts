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
 * Whether another process had an address that kubelet listens at. Any account of the node can take
 * one while kubelet is restarted.
 */
export function wasAddressTaken(record: ExitRecord): boolean {
  return findAddressError(record) !== undefined
}

function findAddressError(record: ExitRecord): string | undefined {
  const last = lastOfSubject(record)
  return last?.killedBy === undefined && last?.words?.includes('address already in use') === true ? last.words : undefined
}

/**
 * The address where kubelet could not listen. undefined: it did not say, or exited for something
 * else.
 */
export function findTakenAddress(record: ExitRecord): TakenAddress | undefined {
  const words = findAddressError(record)
  if (words === undefined) return undefined
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
 * of its start, and one start right after the other exit. That is a crash loop. The words of a
 * process before a signal ended it do not explain its end, and without its runtime, kubelet has the
 * same last words whatever its config.
 */
export function areLatestAlike({ recentExits = [], subject }: ExitRecord): boolean {
  const [before, after] = recentExits.filter(({ key }) => key === subject).slice(-2)
  if (before?.words === undefined || after?.words === undefined || after.startedAtUs === undefined) return false
  if (before.killedBy !== undefined || after.killedBy !== undefined) return false
  if (before.lackedRuntime === true || after.lackedRuntime === true) return false
  const isNext = after.startedAtUs - before.atUs < MINUTE_US
  return isNext && isAtStart(before) && isAtStart(after) && isSameCause(before.words, after.words)
}

function isAtStart({ startedAtUs, atUs }: KubeletExit): boolean {
  return startedAtUs !== undefined && atUs - startedAtUs < MINUTE_US
}
