/**
 * Whether two processes of kubelet exited for the same reason, by what each said last. Pure.
 */

/**
 * What differs from start to start: times and durations, process IDs, ports, addresses in memory,
 * identifiers. Numbers that come from the config are equal in both anyway.
 */
const CHANGING =
  /\b\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?|(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+\b|\b0x[0-9a-f]+|[0-9a-f]*\d[0-9a-f]*/gi

export function isSameCause(before: string, after: string): boolean {
  return withoutChanging(before) === withoutChanging(after)
}

function withoutChanging(words: string): string {
  return words.replace(CHANGING, '#')
}
