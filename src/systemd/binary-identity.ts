/**
 * The identity of kubelet's program file: the SHA-256 of its content. So a hard link to it, a
 * `touch`, or a copy of the same bytes is no other kubelet, on which every config would have
 * another trial. The file has more than 100 MB, so it is read only when its stat has changed, and
 * what it came to is kept in /run for the next agent and for the commands.
 */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type { Files } from '../ports/files.ts'
import type { BinaryIdentity, KubeletBinary } from '../ports/kubelet-binary.ts'
import { errorCode } from '../values/errors.ts'
import { isText, parseJson, shape } from '../values/json-shape.ts'

/** Enough for a file in the page cache, where kubelet's is. */
const PATIENCE_MS = 5000
const CHUNK_BYTES = 1 << 20

interface Known {
  readonly path: string
  readonly stat: string
  readonly identity: string
}
const isKnown = shape<Known>({ path: isText, stat: isText, identity: isText })

export class FileKubeletBinary implements KubeletBinary {
  readonly #files: Pick<Files, 'read' | 'replace' | 'makeDirectory'>
  readonly #directory: string
  readonly #patienceMs: number
  #known: Known | undefined
  #reading: { readonly stat: string; readonly result: Promise<Known | undefined> } | undefined

  /** @param directory in /run: a stat says nothing after a boot */
  constructor(files: Pick<Files, 'read' | 'replace' | 'makeDirectory'>, directory: string, patienceMs = PATIENCE_MS) {
    this.#files = files
    this.#directory = directory
    this.#patienceMs = patienceMs
  }

  async identify(path: string): Promise<BinaryIdentity> {
    const seen = lookAt(path)
    if (typeof seen === 'string') return seen === 'missing' ? { kind: 'missing' } : { kind: 'known', identity: seen, former: seen }
    const known = this.#find(path, seen.stat) ?? (await this.#read(path, seen))
    return known === undefined ? { kind: 'reading' } : { kind: 'known', identity: known.identity, former: seen.former }
  }

  #find(path: string, stat: string): Known | undefined {
    const isIt = (known: Known | undefined) => known?.path === path && known.stat === stat
    if (!isIt(this.#known)) this.#known = this.#load()
    return isIt(this.#known) ? this.#known : undefined
  }

  /** A disk that hangs must not hold up the loop: undefined after a while. */
  async #read(path: string, seen: Seen): Promise<Known | undefined> {
    if (this.#reading?.stat !== seen.stat) {
      const result = hashFile(path, seen).then((known) => this.#keep(known))
      this.#reading = { stat: seen.stat, result }
      void result.finally(() => {
        if (this.#reading?.result === result) this.#reading = undefined
      })
    }
    const timeout = new AbortController()
    const late = setTimeout(this.#patienceMs, undefined, { signal: timeout.signal }).catch(() => undefined)
    try {
      return await Promise.race([this.#reading.result, late])
    } finally {
      timeout.abort()
    }
  }

  #keep(known: Known | undefined): Known | undefined {
    if (known === undefined) return undefined
    this.#known = known
    try {
      this.#files.makeDirectory(this.#directory)
      this.#files.replace(this.#file, JSON.stringify(known))
    } catch {
      // A cache: a command that only reads, or a full /run, reads the file again next time.
    }
    return known
  }

  #load(): Known | undefined {
    try {
      const bytes = this.#files.read(this.#file)
      return bytes && parseJson(bytes, isKnown)
    } catch {
      return undefined
    }
  }

  get #file(): string {
    return `${this.#directory}/kubelet-binary`
  }
}

interface Seen {
  /** Changes whenever the content may have changed. */
  readonly stat: string
  readonly former: string
  /** As a package sets them: the identity of a file that may not be read. */
  readonly packaged: string
}

/** Links are followed, because an upgrade may only change a link. */
function lookAt(path: string): Seen | 'missing' | 'not to be looked at' {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    const former = [ino, size, mtimeNs, ctimeNs].join(':')
    return { stat: `${dev}:${former}`, former, packaged: `${size}:${mtimeNs}` }
  } catch (error) {
    const code = errorCode(error)
    // Without permission the agent never sees a change: always the same kubelet. The text is part
    // of what verdicts are recorded for, so it must never change.
    return code === 'EACCES' || code === 'EPERM' ? 'not to be looked at' : 'missing'
  }
}

/** undefined: it cannot be read at the moment, or changed while it was read. Never rejects. */
async function hashFile(path: string, seen: Seen): Promise<Known | undefined> {
  let identity: string
  try {
    identity = await hashContent(path)
  } catch (error) {
    const code = errorCode(error)
    return code === 'EACCES' || code === 'EPERM' ? { path, stat: seen.stat, identity: seen.packaged } : undefined
  }
  const now = lookAt(path)
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
