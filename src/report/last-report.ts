// SPDX-License-Identifier: Apache-2.0
/**
 * `report` in the runtime directory: what the running agent said last about this node, for
 * `status`, which reads no API server and so cannot know that a download fails. Written on change,
 * and once a minute while nothing changes, so its age tells whether an agent still stands behind
 * it. No decision depends on it: writing never throws.
 */
import { join } from 'node:path'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { isNumber, isText, oneOf, optional, parseJson, shape, type TypeOf } from '../values/json-shape.ts'
import type { Condition } from './reasons.ts'

const isLastReport = shape({
  bootId: isText,
  nodeName: isText,
  /** The agent's. */
  pid: isNumber,
  /** CLOCK_MONOTONIC: when the agent last stood behind it. */
  atUs: isNumber,
  status: oneOf('True', 'False', 'Unknown'),
  reason: isText,
  message: isText,
  /** undefined: none. */
  error: optional(isText),
})
export type LastReport = TypeOf<typeof isLastReport>

interface LastReportOptions {
  readonly files: Pick<Files, 'read' | 'makeDirectory' | 'replace'>
  readonly runtimeDir: string
  readonly nodeName: string
  readonly pid: number
  readonly clock: Clock
  readonly log: Log
}

const REFRESH_US = 60e6
/** A condition has at most 1 KB, and the cause of an error some more. */
const ERROR_BYTES = 2048
/** A longer file was not written by an agent. */
const MOST_BYTES = 64 * 1024

function pathOf(runtimeDir: string): string {
  return join(runtimeDir, 'report')
}

/**
 * undefined: there is none of this boot, or the file cannot be read.
 * @param bootId of the present boot: a runtime directory on a disk outlives a reboot
 */
export function readLastReport(files: Pick<Files, 'read'>, runtimeDir: string, bootId: string): LastReport | undefined {
  try {
    const bytes = files.read(pathOf(runtimeDir))
    const report = bytes === undefined || bytes.length > MOST_BYTES ? undefined : parseJson(bytes, isLastReport)
    return report?.bootId === bootId ? report : undefined
  } catch {
    return undefined
  }
}

export class LastReportFile {
  readonly #options: LastReportOptions
  #written: { readonly text: string; readonly atUs: number } | undefined
  #warned = false

  constructor(options: LastReportOptions) {
    this.#options = options
  }

  /** @param error empty: none */
  write({ status, reason, message }: Condition, error = ''): void {
    const { files, runtimeDir, nodeName, pid, clock, log } = this.#options
    const { bootId, monotonicUs } = clock.now()
    const said = { status, reason, message, ...(error !== '' && { error: cutToBytes(onOneLine(error), ERROR_BYTES) }) }
    const text = JSON.stringify(said)
    if (this.#written?.text === text && monotonicUs - this.#written.atUs < REFRESH_US) return
    const report: LastReport = { bootId, nodeName, pid, atUs: monotonicUs, ...said }
    try {
      files.makeDirectory(runtimeDir)
      files.replace(pathOf(runtimeDir), JSON.stringify(report))
      this.#written = { text, atUs: monotonicUs }
      this.#warned = false
    } catch (cause) {
      if (!this.#warned) log.warn(`cannot write ${pathOf(runtimeDir)}: kubelet-cfg-agent status may show an old report`, { cause })
      this.#warned = true
    }
  }
}
