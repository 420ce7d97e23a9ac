/**
 * The record of what the agent has put into a directory of the machine. It is kept twice: in the
 * agent's own directory, and as a hidden file beside the file that it is about. Where the agent's
 * directory is lost, the copy still tells what is in place, so that a kubelet that runs it is left
 * alone. The copy is written first and is never older. It is removed once local is in place, which
 * needs no record.
 */
import { dirname } from 'node:path'
import type { Files } from '../ports/files.ts'

/** Absolute paths. */
export interface TwinPaths {
  readonly own: string
  readonly copy: string
}

/** undefined: there is neither. Throws a `FileError` if one of them cannot be read. */
export function readTwin(files: Pick<Files, 'read'>, { own, copy }: TwinPaths): string | undefined {
  return (files.read(own) ?? files.read(copy))?.toString()
}

/** Durable when it returns. */
export function writeTwin(files: Files, { own, copy }: TwinPaths, text: string): void {
  for (const path of [copy, own]) {
    if (files.read(path)?.toString() === text) continue
    if (path === own) files.makeDirectory(dirname(own))
    files.replace(path, text)
  }
}
