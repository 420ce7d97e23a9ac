// SPDX-License-Identifier: Apache-2.0
/**
 * The metrics as a file for the textfile collector of Prometheus' node exporter, which reads files
 * named *.prom and takes their modification time for `node_textfile_mtime_seconds`. So the file is
 * written anew even where nothing has changed: an old one means that the agent is gone. The agent
 * works without it: a failed write is logged once, and tried again. It is not synced, since nothing
 * is lost with it.
 *
 * The collector reads another user's file, perhaps in another user's directory. The unfinished file
 * is created anew, so that no link there leads the agent elsewhere, and everybody may read it.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Log } from '../ports/log.ts'
import { errorMessage } from '../values/errors.ts'

interface TextfileOptions {
  /** Absolute, ends in `.prom`. Its directory exists. */
  readonly path: string
  /** Without the metrics of the process, which the node exporter has of itself. */
  readonly render: () => Promise<string>
  readonly log: Log
  readonly everyMs?: number
}

/** Prometheus scrapes as often at most, in most installations. */
const EVERY_MS = 15_000
const MODE = 0o644
const CREATE_ANEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

export class MetricsTextfile {
  readonly #options: TextfileOptions
  readonly #unfinished: string
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #failure = ''

  constructor(options: TextfileOptions) {
    this.#options = options
    // The collector reads no name that ends otherwise than in .prom.
    this.#unfinished = join(dirname(options.path), `.${basename(options.path)}.${process.pid}`)
  }

  /** Returns at once. */
  start(): void {
    this.#write()
    this.#timer = setInterval(() => this.#write(), this.#options.everyMs ?? EVERY_MS)
    this.#timer.unref()
  }

  /** The file stays: by its age, others see that the agent is gone. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
  }

  /** One write at a time: a directory that hangs holds up nothing but this. */
  #write(): void {
    this.#writing ??= this.#replace()
      .then(
        () => this.#worked(),
        (error: unknown) => this.#failed(error),
      )
      .finally(() => {
        this.#writing = undefined
      })
  }

  async #replace(): Promise<void> {
    const text = await this.#options.render()
    try {
      // Left by an earlier agent with the same process ID.
      await rm(this.#unfinished, { force: true })
      const file = await open(this.#unfinished, CREATE_ANEW, MODE)
      await fill(file, text)
      await rename(this.#unfinished, this.#options.path)
    } catch (error) {
      await rm(this.#unfinished, { force: true }).catch(() => {})
      throw error
    }
  }

  #worked(): void {
    const { path, log } = this.#options
    if (this.#failure !== '') log.info('metrics are written again', { path })
    this.#failure = ''
  }

  #failed(error: unknown): void {
    const failure = errorMessage(error)
    if (failure === this.#failure) return
    this.#failure = failure
    const remedy =
      "the directory must exist, be root's own, and be writable in the sandbox (ReadWritePaths= in a drop-in of the agent's unit)"
    this.#options.log.warn(
      `cannot write metrics to ${this.#options.path}; the agent works on without this file, and tries again: ${remedy}`,
      { error },
    )
  }
}

async function fill(file: FileHandle, text: string): Promise<void> {
  try {
    await file.writeFile(text)
    // The agent's umask lets nobody else read what it creates.
    await file.chmod(MODE)
  } finally {
    await file.close()
  }
}
