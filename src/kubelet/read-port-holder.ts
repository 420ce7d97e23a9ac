/**
 * Reads who listens at a port of kubelet, from /proc of kubelet's process: its network namespace
 * has to be the agent's own, where the agent asks. Needs no capability, unlike /proc/PID/fd and
 * /proc/PID/ns. The kernel tells the account of a socket there, and neither its process nor its
 * control group. Never throws.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import type { HealthTarget, PortHolder, PortHolders } from '../ports/probes.ts'
import { errorCode, errorMessage } from '../values/errors.ts'
import { judgeHolder } from './port-holder.ts'
import { parseListeners } from './proc-net.ts'

const CHUNK_BYTES = 64 << 10
/** Some 25,000 listening sockets. */
const MOST_BYTES = 4 << 20

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
      let holder: PortHolder = { kind: 'unseen', detail: 'nobody listens there' }
      for (const table of target.host.includes(':') ? ['tcp6'] : ['tcp', 'tcp6']) {
        const listening = this.#readListening(`${net}/${table}`)
        if (listening === undefined) return { kind: 'unseen', detail: 'too many sockets listen on this machine' }
        holder = judgeHolder(parseListeners(pickPort(listening, target.port)), target, uids)
        if (holder.kind !== 'unseen') break
      }
      return holder
    } catch (error) {
      return { kind: 'untold', detail: errorMessage(error) }
    }
  }

  /**
   * The sockets that listen come first. A node may have many more that are connected, and they are
   * not read. undefined: even those that listen are too many.
   */
  #readListening(path: string): string | undefined {
    const file = openIfThere(path)
    // A machine without IPv6.
    if (file === undefined) return ''
    try {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      let text = ''
      while (text.length < this.#mostBytes) {
        const length = readSync(file, chunk)
        text += chunk.toString('latin1', 0, length)
        if (length === 0 || hasConnected(text)) return text
      }
      return undefined
    } finally {
      closeSync(file)
    }
  }

  /** undefined: they cannot be read. */
  #readUids(pid: number): readonly number[] | undefined {
    try {
      const status = readFileSync(`${this.#root}/${pid}/status`, 'latin1')
      return /^Uid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/).map(Number)
    } catch {
      return undefined
    }
  }
}

/** The lines that may be about a port. */
function pickPort(table: string, port: number): string {
  const digits = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
  return table
    .split('\n')
    .filter((line) => line.includes(digits))
    .join('\n')
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (path.endsWith('6') && errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Whether the last line is a socket that does not listen. */
function hasConnected(text: string): boolean {
  const state = text
    .slice(text.lastIndexOf('\n', text.length - 2) + 1)
    .trim()
    .split(/\s+/)[3]
  return state !== undefined && /^(?!0A|03)[\dA-F]{2}$/.test(state)
}
