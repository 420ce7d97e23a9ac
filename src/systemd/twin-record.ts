// SPDX-License-Identifier: Apache-2.0
/**
 * The record of what the agent has put into a directory of the machine. It is kept twice: in the
 * agent's own directory, and as a hidden file beside the file that it is about. Where one of them
 * is lost or damaged, the other still tells what is in place, so that a kubelet that runs it is
 * left alone. Either may be the older one: the agent's directory can be mounted late, and both can
 * come back from a backup. So the revision says which is newer, and what one of them knows is
 * known. The copy is removed once local is in place, which needs no record.
 */
import { dirname } from 'node:path'
import { FileError } from '../checkpoint/file-error.ts'
import type { Files } from '../ports/files.ts'

/** Absolute paths. */
export interface TwinPaths {
  readonly own: string
  readonly copy: string
}

/** Each change has a higher one. 0: recorded by an agent that did not count. */
interface Revised {
  readonly revision: number
}

interface Twin<R> {
  /** The records that can be read, the newer one first. */
  readonly records: readonly R[]
  /** The records that are there and cannot be read. */
  readonly faults: readonly TwinFault[]
  /**
   * One of them is damaged, or there is no copy, as after an upgrade of an agent that wrote none.
   * Where the own one is missing, its directory may be mounted later.
   */
  readonly isIncomplete: boolean
}

export interface TwinFault {
  readonly path: string
  /** undefined: it is damaged. */
  readonly cause: FileError | undefined
}

interface TwinFormat<R extends Revised> {
  /** undefined: damaged. */
  readonly parse: (text: string) => R | undefined
  readonly render: (record: R) => string
}

export function readTwin<R extends Revised>(files: Pick<Files, 'read'>, paths: TwinPaths, { parse }: TwinFormat<R>): Twin<R> {
  const records: R[] = []
  const faults: TwinFault[] = []
  let isIncomplete = false
  for (const path of [paths.own, paths.copy]) {
    const text = readText(files, path)
    const record = typeof text === 'string' ? parse(text) : undefined
    isIncomplete ||= record === undefined && (typeof text === 'string' || (text === undefined && path === paths.copy))
    if (record !== undefined) records.push(record)
    else if (text !== undefined) faults.push({ path, cause: typeof text === 'string' ? undefined : text })
  }
  return { records: records.sort((a, b) => b.revision - a.revision), faults, isIncomplete }
}

/**
 * Writes both records: they are whole, the same and durable when it returns. The copy is written
 * first.
 */
export function writeTwin<R extends Revised>(files: Files, paths: TwinPaths, format: TwinFormat<R>, record: R): void {
  const newest = readTwin(files, paths, format).records[0]
  const same = newest && { ...record, revision: newest.revision }
  const isSame = newest !== undefined && same !== undefined && format.render(same) === format.render(newest)
  const text = format.render(isSame ? newest : { ...record, revision: (newest?.revision ?? 0) + 1 })
  for (const path of [paths.copy, paths.own]) {
    if (readText(files, path) === text) continue
    if (path === paths.own) files.makeDirectory(dirname(path))
    files.replace(path, text)
  }
}

function readText(files: Pick<Files, 'read'>, path: string): string | FileError | undefined {
  try {
    return files.read(path)?.toString()
  } catch (cause) {
    if (cause instanceof FileError) return cause
    throw cause
  }
}
