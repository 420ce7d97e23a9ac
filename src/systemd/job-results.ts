/**
 * Reads from the journal how systemd's jobs for kubelet's unit ended, with the command
 * `journalctl`. PID 1 writes a line where a start came to nothing since a unit that is required had
 * failed, and none where somebody canceled it. The journal keeps the line for an agent that was not
 * there, and has it on a node without a bus. Where it cannot be read, nothing is known.
 */
import type { UnitJobs } from '../ports/unit-jobs.ts'
import { runCommand } from '../process/run-command.ts'
import { SYSTEMD_ENVIRONMENT } from '../values/child-environment.ts'

export interface JobResultsOptions {
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
    const { journalctl, unit, timeoutMs } = this.#options
    const filters = ['_PID=1', `UNIT=${unit}`, 'JOB_RESULT=dependency']
    const args = ['--no-pager', '--quiet', '--boot', '--output=json', '--output-fields=MESSAGE', '--lines=1', ...filters]
    const { end, stdout } = await runCommand(journalctl, args, { timeoutMs, maxOutputBytes: 1 << 16, env: SYSTEMD_ENVIRONMENT })
    return end.kind === 'exited' && end.code === 0 ? parseTime(stdout) : undefined
  }
}

/** systemd.journal-fields(7): each entry has its time by CLOCK_MONOTONIC, as text. */
function parseTime(line: string): number | undefined {
  const [, digits] = /"__MONOTONIC_TIMESTAMP"\s*:\s*"(\d{1,16})"/.exec(line) ?? []
  return digits === undefined ? undefined : Number(digits)
}
