// SPDX-License-Identifier: Apache-2.0
/**
 * Reads from the journal how systemd's jobs for kubelet's unit ended, with the command
 * `journalctl`. PID 1 writes a line where a start came to nothing since a unit that is required had
 * failed, and none where somebody canceled it. The journal keeps the line for an agent that was not
 * there, and has it on a node without a bus. Where it cannot be read, nothing is known.
 */
import type { UnitJobs } from '../ports/unit.ts'
import { runCommand } from '../process/run-command.ts'
import { SYSTEMD_ENVIRONMENT } from '../values/child-environment.ts'

interface JobResultsOptions {
  /** Path of the command. */
  readonly journalctl: string
  readonly unit: string
  readonly timeoutMs?: number
}

/** A pass of the loop waits for this. */
const TIMEOUT_MS = 2000

export class JournalJobResults implements UnitJobs {
  readonly #options: Required<JobResultsOptions>

  constructor(options: JobResultsOptions) {
    this.#options = { timeoutMs: TIMEOUT_MS, ...options }
  }

  async dependencyFailedUs(): Promise<number | undefined> {
    // The boot as the journal names it. With `--boot`, journalctl takes it from /proc, which may
    // say another one in the sandbox of the agent's unit on a node that is itself a container.
    const boot = /"_BOOT_ID"\s*:\s*"([0-9a-f]{32})"/.exec(await this.#readLatest('_BOOT_ID', []))?.[1]
    if (boot === undefined) return undefined
    const filters = [`_BOOT_ID=${boot}`, `UNIT=${this.#options.unit}`, 'JOB_RESULT=dependency']
    return parseTime(await this.#readLatest('MESSAGE', filters))
  }

  /** The latest line of PID 1 as JSON. Empty: there is none, or it cannot be read. */
  async #readLatest(field: string, filters: readonly string[]): Promise<string> {
    const { journalctl, timeoutMs } = this.#options
    const args = ['--no-pager', '--quiet', '--output=json', `--output-fields=${field}`, '--lines=1', '_PID=1', ...filters]
    const { end, stdout } = await runCommand(journalctl, args, { timeoutMs, maxOutputBytes: 1 << 16, env: SYSTEMD_ENVIRONMENT })
    return end.kind === 'exited' && end.code === 0 ? stdout : ''
  }
}

/** systemd.journal-fields(7): each entry has its time by CLOCK_MONOTONIC, as text. */
function parseTime(line: string): number | undefined {
  const [, digits] = /"__MONOTONIC_TIMESTAMP"\s*:\s*"(\d{1,16})"/.exec(line) ?? []
  return digits === undefined ? undefined : Number(digits)
}
