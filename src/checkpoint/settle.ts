// SPDX-License-Identifier: Apache-2.0
/**
 * The dynamic config directory at the start of the agent. A step that fails keeps no agent from
 * starting.
 */
import { posix } from 'node:path'
import type { Log } from '../ports/log.ts'
import type { DurableFiles } from './files.ts'
import type { Layout } from './layout.ts'
import type { FileRecords } from './records.ts'

interface Directory {
  readonly files: Pick<DurableFiles, 'settle' | 'makeDirectory'>
  readonly layout: Layout
  readonly records: Pick<FileRecords, 'markLocal'>
}

/**
 * Removes what a crash may have left unfinished. Only the agent's own: the directory may be shared
 * (`--adopt`), and files of other programs may begin with dots, too.
 */
export function settleDirectory({ files, layout, records }: Directory, log: Log): void {
  try {
    const ours = [layout.meta, layout.checkpoints, layout.rendered, layout.requests]
    files.settle(
      layout.directory,
      ours.map((path) => posix.basename(path)),
    )
    records.markLocal()
  } catch (error) {
    log.warn('cannot remove what a crash may have left unfinished', { error })
  }
}

/** Commands leave their requests in it. */
export function makeRequestsDirectory({ files, layout }: Omit<Directory, 'records'>, log: Log): void {
  try {
    files.makeDirectory(layout.requests)
  } catch (error) {
    log.warn('cannot create the directory for requests of the command line', { error })
  }
}
