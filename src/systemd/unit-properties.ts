// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the output of `systemctl show` for a service. Pure. The format is that of systemd 252
 * (`print_property()` in src/systemctl/systemctl-show.c). It joins `argv[]` with single spaces and
 * without quotes, so a word of ExecStart that contains a space becomes two.
 */
import type { RestartWait, UnitDown, UnitHazards } from '../subject/unit-state.ts'

/** The properties that `systemctl show` is called with. */
export const UNIT_PROPERTIES = [
  'Id',
  'LoadState',
  'ActiveState',
  'SubState',
  'Result',
  'Job',
  'MainPID',
  'InvocationID',
  'NRestarts',
  'ExecMainStartTimestampMonotonic',
  'ExecMainExitTimestampMonotonic',
  'ExecMainCode',
  'ExecMainStatus',
  'InactiveExitTimestampMonotonic',
  'ActiveEnterTimestampMonotonic',
  'ActiveExitTimestampMonotonic',
  'InactiveEnterTimestampMonotonic',
  'UnitFileState',
  'Requires',
  'BindsTo',
  'Restart',
  'RestartUSec',
  'RestartUSecNext',
  'StateChangeTimestampMonotonic',
  'TimeoutStartUSec',
  'ExecStartPre',
  'ExecStart',
  'Environment',
  'EnvironmentFiles',
  'DropInPaths',
  'NeedDaemonReload',
  'StartLimitIntervalUSec',
] as const
type PropertyName = (typeof UNIT_PROPERTIES)[number]

export interface UnitProperties {
  /** Another than the name that was asked for, if that is an alias: systemd signals by this one. */
  readonly id: string
  readonly loadState: string
  readonly activeState: string
  readonly subState: string
  readonly result: string
  /** systemd has queued a start, a stop or a restart that is not done. */
  readonly hasJob: boolean
  /** 0: no main process. */
  readonly mainPid: number
  /** Empty if the unit has never run, or if systemd has unloaded it since. */
  readonly invocationId: string
  readonly nRestarts: number
  readonly startedAtUs: number
  /** The facts of `UnitDown`, whatever the unit does now. */
  readonly down: Omit<UnitDown, 'name'>
  readonly hazards: UnitHazards
  /** RestartSec=, from the present state on. undefined: it has no end, or is not known. */
  readonly restartWait: RestartWait | undefined
  /**
   * The last start came to no end in its time, and was given up (systemd.service(5),
   * "TimeoutStartSec=").
   */
  readonly startTimedOut: boolean
  /** The signal that ended the main process. undefined: it runs, or exited by itself. */
  readonly killedBy: string | undefined
  /** undefined: the unit does not exist or has no command. */
  readonly exec: { readonly path: string; readonly words: readonly string[] } | undefined
  /** For each line that sets aside state files that do not fit the config: the programs of it. */
  readonly setAsidePrograms: readonly (readonly string[])[]
  readonly environment: ReadonlyMap<string, string>
  readonly environmentFiles: readonly { readonly path: string; readonly optional: boolean }[]
  readonly dropInPaths: readonly string[]
  readonly needDaemonReload: boolean
  /**
   * Whether systemd limits how often the unit may start (systemd.unit(5),
   * "StartLimitIntervalSec="); kubeadm's unit has no limit.
   */
  readonly startLimited: boolean
}

/** undefined: the text is not the output for UNIT_PROPERTIES. */
export function parseUnitProperties(output: string): UnitProperties | undefined {
  const values = collectValues(output)
  const first = (name: PropertyName) => values.get(name)?.[0]
  const activeState = first('ActiveState')
  const loadState = first('LoadState')
  const mainPid = parseCount(first('MainPID'))
  const nRestarts = parseCount(first('NRestarts'))
  const startedAtUs = parseCount(first('ExecMainStartTimestampMonotonic'))
  if (!activeState || !loadState || mainPid === undefined || nRestarts === undefined || startedAtUs === undefined) return undefined
  return {
    id: first('Id') ?? '',
    loadState,
    activeState,
    subState: first('SubState') ?? '',
    result: first('Result') ?? '',
    hasJob: (first('Job') ?? '') !== '',
    mainPid,
    invocationId: first('InvocationID') ?? '',
    nRestarts,
    startedAtUs,
    restartWait: findRestartWait(first),
    down: {
      activeExitUs: parseCount(first('ActiveExitTimestampMonotonic')) ?? 0,
      inactiveEnterUs: parseCount(first('InactiveEnterTimestampMonotonic')) ?? 0,
      mainExitUs: parseCount(first('ExecMainExitTimestampMonotonic')) ?? 0,
      ...findBar(loadState, first('UnitFileState') ?? ''),
    },
    hazards: {
      // The others that each service requires, such as its slice, are up as long as the machine is.
      requires: words(first('Requires')).filter((name) => name.endsWith('.service')),
      bindsTo: words(first('BindsTo')),
      restart: first('Restart') ?? '',
    },
    startTimedOut: hasStartTimedOut(first),
    killedBy: findSignal(parseCount(first('ExecMainCode')), parseCount(first('ExecMainStatus'))),
    exec: parseExec(first('ExecStart') ?? ''),
    setAsidePrograms: (values.get('ExecStartPre') ?? []).filter(setsAside).map(listPrograms),
    environment: parseEnvironment(first('Environment') ?? ''),
    environmentFiles: (values.get('EnvironmentFiles') ?? []).flatMap(parseEnvironmentFileEntry),
    dropInPaths: words(first('DropInPaths')),
    needDaemonReload: first('NeedDaemonReload') === 'yes',
    startLimited: first('StartLimitIntervalUSec') !== '0',
  }
}

/** A line whose failure would keep kubelet from its start does not count. */
function setsAside(line: string): boolean {
  return /\/kubelet-cfg-agent .*\bset-aside[ ;]/.test(line) && line.includes(' ; ignore_errors=yes ;')
}

/** The program of a line, and those that find(1) starts or looks for. */
function listPrograms(line: string): readonly string[] {
  const found = [...line.matchAll(/(?: path=| -exec | -path )(\/\S+)/g)]
  return found.flatMap(([, path]) => path ?? [])
}

/** CLD_KILLED and CLD_DUMPED of waitid(2). */
const KILLED: readonly unknown[] = [2, 3]
/** signal(7): those that end a process unless it handles them, from 1 on. */
const SIGNALS =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
    ' ',
  )

function findSignal(code: number | undefined, status: number | undefined): string | undefined {
  if (!KILLED.includes(code) || status === undefined) return undefined
  const name = SIGNALS[status - 1]
  return name === undefined ? `signal ${status}` : `SIG${name}`
}

function findBar(loadState: string, fileState: string): Pick<UnitDown, 'barred'> {
  if (loadState === 'masked') return { barred: 'masked' }
  return fileState === 'disabled' ? { barred: 'disabled' } : {}
}

function words(text: string | undefined): string[] {
  return (text ?? '').split(' ').filter((word) => word !== '')
}

/** Systemd 254 and later may wait longer from restart to restart, and tell how long now. */
function findRestartWait(first: (name: PropertyName) => string | undefined): RestartWait | undefined {
  const sinceUs = parseCount(first('StateChangeTimestampMonotonic'))
  const waitUs = parseTimespan(first('RestartUSecNext') ?? first('RestartUSec') ?? '')
  const isKnown = sinceUs !== undefined && waitUs !== undefined && Number.isFinite(waitUs)
  return isKnown ? { sinceUs, untilUs: sinceUs + waitUs } : undefined
}

/**
 * Result is `timeout` of a start and of a stop that took too long. A start that did left the unit
 * without ever being active, and no sooner than its time was over. A start that `systemctl stop`
 * ended sooner was not one of these.
 */
function hasStartTimedOut(first: (name: PropertyName) => string | undefined): boolean {
  const beganUs = parseCount(first('InactiveExitTimestampMonotonic'))
  const activeUs = parseCount(first('ActiveEnterTimestampMonotonic'))
  if (first('Result') !== 'timeout' || beganUs === undefined || activeUs === undefined || activeUs >= beganUs) return false
  const limitUs = parseTimespan(first('TimeoutStartUSec') ?? '')
  const endedUs = parseCount(first('ExecMainExitTimestampMonotonic'))
  return limitUs === undefined || endedUs === undefined || endedUs - beganUs >= limitUs
}

const TIMESPAN_UNITS_US: Readonly<Record<string, number>> = {
  us: 1,
  ms: 1000,
  s: 1e6,
  min: 60e6,
  h: 3600e6,
  d: 24 * 3600e6,
  w: 7 * 24 * 3600e6,
}

/** As `format_timespan()` writes it: `1min 30s`, `infinity`. undefined: it cannot be read. */
function parseTimespan(text: string): number | undefined {
  if (text === 'infinity') return Number.POSITIVE_INFINITY
  const parts = text.split(' ').map((part) => {
    const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([a-z]+)$/.exec(part) ?? []
    const size = TIMESPAN_UNITS_US[unit]
    return count === undefined || size === undefined ? Number.NaN : Number(count) * size
  })
  const us = parts.reduce((sum, part) => sum + part, 0)
  return Number.isNaN(us) ? undefined : us
}

/**
 * A property can occur several times. A line without a property's name continues the one before: an
 * argument may contain a line break.
 */
function collectValues(output: string): Map<PropertyName, string[]> {
  const values = new Map<PropertyName, string[]>()
  let last: string[] | undefined
  for (const line of output.replace(/\n$/, '').split('\n')) {
    const name = UNIT_PROPERTIES.find((property) => line.startsWith(`${property}=`))
    if (name !== undefined) {
      last = values.get(name) ?? []
      last.push(line.slice(name.length + 1))
      values.set(name, last)
    } else if (last !== undefined) last.push(`${last.pop() ?? ''}\n${line}`)
  }
  return values
}

function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

function parseExec(text: string): UnitProperties['exec'] {
  const match = /^\{ path=(.*?) ; argv\[\]=(.*) ; ignore_errors=(?:yes|no) ; start_time=/s.exec(text)
  const [, path, argv] = match ?? []
  return path === undefined || argv === undefined ? undefined : { path, words: argv.split(' ').filter((word) => word !== '') }
}

function parseEnvironmentFileEntry(text: string): { path: string; optional: boolean }[] {
  const [, path, optional] = /^(.*) \(ignore_errors=(yes|no)\)$/.exec(text) ?? []
  return path === undefined ? [] : [{ path, optional: optional === 'yes' }]
}

/**
 * Assignments; each is quoted as a whole if necessary: `"A=b c"`, or `$'A=b\tc'` in later versions.
 */
function parseEnvironment(text: string): Map<string, string> {
  const variables = new Map<string, string>()
  for (const [word] of text.matchAll(/"(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*'|\S+/gs)) {
    const assignment = word.startsWith('"')
      ? decodeEscapes(word.slice(1, -1))
      : word.startsWith("$'")
        ? decodeEscapes(word.slice(2, -1))
        : word
    const equals = assignment.indexOf('=')
    if (equals > 0) variables.set(assignment.slice(0, equals), assignment.slice(equals + 1))
  }
  return variables
}

const CONTROL_CHARACTERS: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', s: ' ' }

/**
 * C escapes (`cunescape()`); before any other character a backslash only quotes. Numbers are bytes
 * of UTF-8.
 */
function decodeEscapes(text: string): string {
  const parts = [...text.matchAll(/\\x([0-9a-fA-F]{2})|\\([0-7]{3})|\\(.)|[^\\]+/gs)].map(([all, hex, octal, char]) => {
    if (hex !== undefined) return Buffer.from([Number.parseInt(hex, 16)])
    if (octal !== undefined) return Buffer.from([Number.parseInt(octal, 8)])
    return Buffer.from(char === undefined ? all : (CONTROL_CHARACTERS[char] ?? char))
  })
  return Buffer.concat(parts).toString()
}

export const BOUND_PROPERTIES = ['Id', 'ActiveExitTimestampMonotonic', 'InactiveEnterTimestampMonotonic', 'After'] as const

interface Ended {
  /** CLOCK_MONOTONIC of the start of kubelet's last process. */
  readonly startedAtUs: number
  /** As `UnitDown` has it. */
  readonly activeExitUs: number
}

/**
 * Which unit took kubelet's with it. A unit that is bound to another (`BindsTo=`) is stopped by
 * systemd when that one ends, whoever or whatever ended it. The unit that ended by itself while
 * kubelet ran, and before kubelet's own stop began. A person who stops it stops kubelet before:
 * systemd stops units in the reverse order of their start (systemd.unit(5), "After="). Without that
 * order, its own times have to tell that nothing stopped it: it was inactive as soon as it was no
 * longer active.
 * @param output of `systemctl show` for BOUND_PROPERTIES of kubelet's unit, and then of the others
 */
export function findEndedUnit(output: string, { startedAtUs, activeExitUs }: Ended): string | undefined {
  const [kubelet, ...others] = output.split('\n\n').map(parseProperties)
  const after = new Set((kubelet?.get('After') ?? '').split(' '))
  const ended = others.find((unit) => {
    const exitUs = Number(unit.get('ActiveExitTimestampMonotonic') ?? 0)
    const isBefore = startedAtUs <= exitUs && exitUs <= activeExitUs
    return isBefore && (after.has(unit.get('Id') ?? '') || exitUs === Number(unit.get('InactiveEnterTimestampMonotonic')))
  })
  return ended?.get('Id')
}

function parseProperties(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\n').map((line) => {
      const equals = line.indexOf('=')
      return [line.slice(0, Math.max(0, equals)), line.slice(equals + 1)]
    }),
  )
}
