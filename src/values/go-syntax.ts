// SPDX-License-Identifier: Apache-2.0
/** Values as Go programs, and so kubelet's flags, options and config, write them. Pure. */

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True']
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False']

/** Follows `strconv.ParseBool`. undefined: the text is no boolean. */
export function parseGoBool(text: string): boolean | undefined {
  if (TRUE.includes(text)) return true
  return FALSE.includes(text) ? false : undefined
}

const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const DURATION = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g
/** In characters. No duration in use is as long. */
const LONGEST = 1000

/**
 * A duration as `1h30m` or `100ms`, in nanoseconds. Follows `time.ParseDuration`, including its
 * range: 64 bits, about 292 years. undefined: not a duration.
 */
export function parseGoDuration(text: string): bigint | undefined {
  if (text.length > LONGEST || !DURATION.test(text)) return undefined
  let sum = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(PART)) {
    const unitNs = UNIT_NS[unit] ?? 0n
    // Digits after the 18th are less than a nanosecond in any unit.
    const digits = fraction.slice(0, 18)
    sum += BigInt(whole === '' ? '0' : whole) * unitNs
    if (digits !== '') sum += (BigInt(digits) * unitNs) / 10n ** BigInt(digits.length)
  }
  const signed = text.startsWith('-') ? -sum : sum
  return -(2n ** 63n) <= signed && signed < 2n ** 63n ? signed : undefined
}

/**
 * A name without its case, as Go's encoding/json compares keys with the names of fields
 * (`foldName`): ſ and the sign of Kelvin count as letters, too.
 */
export function foldName(name: string): string {
  return name.toUpperCase().toLowerCase()
}

/**
 * `host:port` of a listening address (`net.SplitHostPort`): `127.0.0.1:10270`, `[::1]:10270`,
 * `:10270`.
 */
export interface ListenAddress {
  /** Empty: all addresses of the machine. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}
type ListenAddressResult = { readonly ok: true; readonly address: ListenAddress } | { readonly ok: false; readonly detail: string }

export function parseListenAddress(text: string): ListenAddressResult {
  const match = /^(?:\[([^[\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text.trim())
  if (match === null) return refuse(text, text.includes(':') ? 'put an IPv6 address in brackets, as in [::1]:10270' : 'the port is missing')
  const [, bracketed, plain, digits] = match
  const port = Number(digits)
  if (port > 65_535) return refuse(text, 'the highest port is 65535')
  const host = bracketed ?? plain ?? ''
  if (/\s/.test(host)) return refuse(text, 'the host contains white space')
  return { ok: true, address: { host, port } }
}

export function formatListenAddress({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function refuse(text: string, why: string): ListenAddressResult {
  return { ok: false, detail: `"${text}" is not host:port: ${why}` }
}
