// SPDX-License-Identifier: Apache-2.0
/**
 * The identity of kubelet's program file: the SHA-256 of its content. So a hard link to it, a
 * `touch`, or a copy of the same bytes is no other kubelet, on which every config would have
 * another trial. The file has more than 100 MB, so it is read only when its stat has changed, and
 * what it came to is kept in /run for the next agent and for the commands. A file that the disk
 * does not return goes by its former name, as in `BinaryIdentity`, until it does: what is recorded
 * under that name is renamed then (rename-kubelet.ts).
 */
import { createHash } from 'node:crypto'
import { type BigIntStats, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { describeSystemError, isOfDisk } from '../checkpoint/file-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import { errorCode, errorMessage } from '../values/errors.ts'
import { isFlag, isText, optional, parseJson, shape, type TypeOf } from '../values/json-shape.ts'

/** Enough for a file in the page cache, where kubelet's is. */
const PATIENCE_MS = 5000
const CHUNK_BYTES = 1 << 20
/** How long nothing is known of a file whose read has failed: a disk may come back. */
const LASTING_US = 30e6
/** And of one that is still being read: a disk that has just been started is slow. */
const HANGING_US = 600e6
/** A file whose read has failed is read again after this time. */
const AGAIN_US = 60e6

/** `unread`: the binary could not be read, and the identity is its former name. */
const isKnown = shape({ path: isText, stat: isText, identity: isText, unread: optional(isFlag) })
type Known = TypeOf<typeof isKnown>

interface Reading {
  readonly stat: string
  readonly result: Promise<Known | undefined>
}

export interface BinaryWorld {
  readonly files: Pick<Files, 'read' | 'replace' | 'makeDirectory'>
  /** In /run: a stat says nothing after a boot. */
  readonly directory: string
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  readonly patienceMs?: number
  /** In place of the disk. */
  readonly program?: Program
}

interface Program {
  /** Follows links, because an upgrade may only change a link. */
  stat(path: string): Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>
  hash(path: string): Promise<string>
}

const ON_DISK: Program = { stat: (path) => statSync(path, { bigint: true }), hash: hashContent }

export type BinaryIdentity =
  | {
      readonly kind: 'known'
      /** Changes with the content of the file and with nothing else. */
      readonly identity: string
      /** The identity that earlier agents gave the same file: its inode and its times. */
      readonly former: string
      /** The disk does not return the file: `identity` stands in for that of its content. */
      readonly unread?: true | undefined
    }
  | { readonly kind: 'missing' }
  /** The file is being read, or was replaced meanwhile: its identity is known a little later. */
  | { readonly kind: 'reading' }

export class FileKubeletBinary {
  readonly #world: BinaryWorld
  #known: Known | undefined
  #reading: Reading | undefined
  /** Of the file with this stat, no read has succeeded. `cause`: one has failed. */
  #failing: { readonly stat: string; readonly sinceUs: number; readonly cause?: unknown } | undefined
  /** A command that ends soon leaves that to the agent. */
  #readAgainUs: number

  constructor(world: BinaryWorld) {
    this.#world = world
    this.#readAgainUs = this.#nowUs() + AGAIN_US
  }

  async identify(path: string): Promise<BinaryIdentity> {
    const seen = lookAt(path, this.#program)
    if (seen === 'missing') return { kind: 'missing' }
    if (seen === 'not to be looked at') return { kind: 'known', identity: seen, former: seen }
    const known = seen === 'unreadable' ? this.#recall(path) : await this.#findOrRead(path, seen)
    if (known === undefined) return { kind: 'reading' }
    const former = seen === 'unreadable' ? known.identity : seen.former
    return { kind: 'known', identity: known.identity, former, ...(known.unread === true && { unread: true }) }
  }

  async #findOrRead(path: string, seen: Seen): Promise<Known | undefined> {
    const known = this.#find(path, seen.stat)
    if (known !== undefined && (known.unread !== true || this.#nowUs() < this.#readAgainUs)) return known
    const reading = this.#read(path, seen)
    return known ?? (await this.#waitFor(reading)) ?? this.#giveUp(path, seen, this.#hasFailed(seen) ? LASTING_US : HANGING_US)
  }

  /** Nothing shows that it is another file than before. */
  #recall(path: string): Known | undefined {
    this.#known ??= this.#load()
    return this.#known?.path === path ? this.#known : this.#giveUp(path, UNSEEN, LASTING_US)
  }

  /** undefined: the disk may return it yet. */
  #giveUp(path: string, { stat, former }: Seen, afterUs: number): Known | undefined {
    if (this.#failing?.stat !== stat) this.#failing = { stat, sinceUs: this.#nowUs() }
    if (this.#nowUs() - this.#failing.sinceUs < afterUs) return undefined
    const { cause = 'the disk does not answer' } = this.#failing
    this.#world.log.warn(`${path} cannot be read, so kubelet goes by the size and the times of its file: ${errorMessage(cause)}`)
    return this.#keep({ path, stat, identity: former, unread: true })
  }

  #hasFailed({ stat }: Seen): boolean {
    return this.#failing?.stat === stat && this.#failing.cause !== undefined
  }

  #find(path: string, stat: string): Known | undefined {
    const isIt = (known: Known | undefined) => known?.path === path && known.stat === stat
    if (!isIt(this.#known)) this.#known = this.#load()
    return isIt(this.#known) ? this.#known : undefined
  }

  #read(path: string, seen: Seen): Reading {
    const { stat } = seen
    if (this.#reading?.stat === stat) return this.#reading
    this.#readAgainUs = this.#nowUs() + AGAIN_US
    const result = hashFile(path, seen, this.#program).then(
      (known) => {
        if (known !== undefined) this.#failing = undefined
        return known && this.#keep(known)
      },
      (cause: unknown) => {
        this.#failing = { sinceUs: this.#nowUs(), ...(this.#failing?.stat === stat && this.#failing), stat, cause }
        return undefined
      },
    )
    const reading = { stat, result }
    this.#reading = reading
    void result.finally(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    return reading
  }

  /** A disk that hangs must not hold up the loop: undefined after a while. */
  async #waitFor({ result }: Reading): Promise<Known | undefined> {
    const timeout = new AbortController()
    const late = setTimeout(this.#world.patienceMs ?? PATIENCE_MS, undefined, { signal: timeout.signal }).catch(() => undefined)
    try {
      return await Promise.race([result, late])
    } finally {
      timeout.abort()
    }
  }

  #keep(known: Known): Known {
    this.#known = known
    const { files, directory } = this.#world
    try {
      files.makeDirectory(directory)
      files.replace(this.#file, JSON.stringify(known))
    } catch {
      // A cache: a command that only reads, or a full /run, reads the file again next time.
    }
    return known
  }

  #load(): Known | undefined {
    try {
      const bytes = this.#world.files.read(this.#file)
      return bytes && parseJson(bytes, isKnown)
    } catch {
      return undefined
    }
  }

  get #file(): string {
    return `${this.#world.directory}/kubelet-binary`
  }

  get #program(): Program {
    return this.#world.program ?? ON_DISK
  }

  #nowUs(): number {
    return this.#world.clock.now().monotonicUs
  }
}

interface Seen {
  /** Changes whenever the content may have changed. */
  readonly stat: string
  readonly former: string
  /** As a package sets them: the identity of a file that may not be read. */
  readonly packaged: string
}

/** Of a file whose stat cannot be read. The text is part of what verdicts are recorded for. */
const UNSEEN: Seen = { stat: 'unreadable', former: 'unreadable', packaged: 'unreadable' }

function lookAt(path: string, { stat }: Program): Seen | 'missing' | 'not to be looked at' | 'unreadable' {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = stat(path)
    const former = [ino, size, mtimeNs, ctimeNs].join(':')
    return { stat: `${dev}:${former}`, former, packaged: `${size}:${mtimeNs}` }
  } catch (error) {
    const { code } = describeSystemError(error) ?? {}
    if (code !== undefined && isOfDisk({ code })) return 'unreadable'
    // Without permission the agent never sees a change: always the same kubelet. The text is part
    // of what verdicts are recorded for, so it must never change.
    return code === 'EACCES' || code === 'EPERM' ? 'not to be looked at' : 'missing'
  }
}

/** undefined: it changed while it was read. Rejects where it cannot be read. */
async function hashFile(path: string, seen: Seen, program: Program): Promise<Known | undefined> {
  let identity: string
  try {
    identity = await program.hash(path)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    return { path, stat: seen.stat, identity: seen.packaged }
  }
  const now = lookAt(path, program)
  if (typeof now === 'string' || now.stat !== seen.stat) return undefined
  return { path, stat: seen.stat, identity }
}

/** In one buffer: the chunks of a stream would stay in the agent's memory for long. */
async function hashContent(path: string): Promise<string> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  const file = await open(path)
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(buffer.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}
