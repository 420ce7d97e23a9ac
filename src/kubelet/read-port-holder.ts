/**
 * Reads who listens at a port of kubelet, from /proc of kubelet's process: its network namespace
 * has to be the agent's own, where the agent asks. Needs no capability, unlike /proc/PID/fd and
 * /proc/PID/ns. The kernel tells the account of a socket there, and neither its process nor its
 * control group. Never throws.
 *
 * A look holds the loop, and any account can open listening sockets, so that a look reads only so
 * many of them. Beyond that it is untold who has the port: health counts as if nobody had looked.
 * Health that is unknown would do more harm, since sockets at any port could bring it about.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import type { HealthTarget, PortHolder, PortHolders } from '../ports/probes.ts'
import { errorCode, errorMessage } from '../values/errors.ts'
import { canonicalAddress, judgeHolder } from './port-holder.ts'
import { parseListeners } from './proc-net.ts'

const CHUNK_BYTES = 64 << 10
/** Of one table: some 3,500 sockets. */
const MOST_BYTES = 512 << 10

export class ProcPortHolders implements PortHolders {
  readonly #root: string
  readonly #mostBytes: number

  /** @param root `/proc` except in tests */
  constructor(root = '/proc', mostBytes = MOST_BYTES) {
    this.#root = root
    this.#mostBytes = mostBytes
  }

  holderOf(target: HealthTarget, pid: number): PortHolder {
    const net = `${this.#root}/${pid}/net`
    try {
      if (statSync(`${net}/tcp`).ino !== statSync(`${this.#root}/self/net/tcp`).ino)
        return { kind: 'untold', detail: 'kubelet has a network namespace of its own' }
      const uids = this.#readUids(pid)
      for (const table of canonicalAddress(target.host)?.includes(':') ? ['tcp6'] : ['tcp', 'tcp6']) {
        const { rows, isWhole } = this.#readListening(`${net}/${table}`, target.port)
        const holder = judgeHolder(parseListeners(rows), target, uids)
        if (holder.kind !== 'unseen') return holder
        if (!isWhole) return { kind: 'untold', detail: 'too many sockets listen on this machine' }
      }
      return { kind: 'unseen', detail: 'nobody listens there' }
    } catch (error) {
      return this.#hasEnded(pid) ? { kind: 'unseen', detail: 'kubelet has ended' } : { kind: 'untold', detail: errorMessage(error) }
    }
  }

  /**
   * The lines that may be about a port. The sockets that listen come first. A node may have many
   * more that are connected, and they are not read.
   */
  #readListening(path: string, port: number): { readonly rows: string; readonly isWhole: boolean } {
    const file = openIfThere(path)
    // A machine without IPv6.
    if (file === undefined) return { rows: '', isWhole: true }
    const digits = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
    try {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      let rows = ''
      let rest = ''
      for (let bytes = 0; bytes < this.#mostBytes; ) {
        const length = readSync(file, chunk)
        const lines = `${rest}${chunk.toString('latin1', 0, length)}`.split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line.includes(digits)) rows += `${line}\n`
        if (length === 0 || isConnected(lines.at(-1) ?? '')) return { rows, isWhole: true }
        bytes += length
      }
      return { rows, isWhole: false }
    } finally {
      closeSync(file)
    }
  }

  /** undefined: they cannot be read. */
  #readUids(pid: number): readonly number[] | undefined {
    return /^Uid:\s*(.*)$/m.exec(this.#readStatus(pid))?.[1]?.split(/\s+/).map(Number)
  }

  /** A process that its parent has not waited for yet is a zombie. */
  #hasEnded(pid: number): boolean {
    try {
      return /^State:\s*[ZX]/m.test(this.#readStatus(pid))
    } catch (error) {
      return ['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '')
    }
  }

  #readStatus(pid: number): string {
    return readFileSync(`${this.#root}/${pid}/status`, 'latin1')
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (path.endsWith('6') && errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Whether a line is a socket that does not listen. */
function isConnected(line: string): boolean {
  const state = line.trim().split(/\s+/)[3]
  return state !== undefined && /^(?!0A|03)[\dA-F]{2}$/.test(state)
}
