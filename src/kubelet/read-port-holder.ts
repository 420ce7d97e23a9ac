// SPDX-License-Identifier: Apache-2.0
/**
 * Reads who has a port of kubelet, from /proc of kubelet's process: its network namespace
 * has to be the agent's own, where the agent asks. Needs no capability, unlike /proc/PID/fd and
 * /proc/PID/ns. The kernel tells the account of a socket there, and neither its process nor its
 * control group. Never throws.
 *
 * A socket that is bound and does not listen is in no table of /proc. Only an attempt to bind the
 * same address shows it. A socket of the agent's own that is bound with SO_REUSEADDR, as Node.js
 * does before it connects, and that never listens, keeps no port from kubelet, which sets
 * SO_REUSEADDR too (socket(7)). A server for a moment would keep it away.
 *
 * A look holds the loop, and any account can open listening sockets, so that a look reads only so
 * many of them. Beyond that it is untold who has the port: health counts as if nobody had looked.
 * Health that is unknown would do more harm, since sockets at any port could bring it about. Where
 * an attempt to bind has shown that somebody has this very port, they remain unnamed.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { connect, isIP } from 'node:net'
import type { HealthTarget, PortHolder, PortHolders } from '../ports/probes.ts'
import { errorCode, errorMessage } from '../values/errors.ts'
import { canonicalAddress, isWildcard, judgeHolder, type ListeningSocket, parseListeners } from './port-holder.ts'

const CHUNK_BYTES = 64 << 10
/** The most bytes that are read of one table: some 3,500 sockets. */
const MOST_BYTES = 512 << 10
/** The kernel itself answers, at once. */
const CONNECT_MS = 1000
const NOBODY: PortHolder = { kind: 'unseen', detail: 'nobody listens there' }
const UNNAMED: PortHolder = { kind: 'stranger', uid: undefined, inodes: [] }

export class ProcPortHolders implements PortHolders {
  readonly #root: string
  readonly #mostBytes: number

  /** @param root `/proc` except in tests */
  constructor(root = '/proc', mostBytes = MOST_BYTES) {
    this.#root = root
    this.#mostBytes = mostBytes
  }

  holderOf(target: HealthTarget, pid: number): PortHolder {
    return this.#look(target, pid, NOBODY)
  }

  async keeperOf(target: HealthTarget, pid?: number): Promise<PortHolder> {
    if (!(await isBound(target))) return NOBODY
    // Whoever keeps it from a kubelet that has ended keeps it from the next one.
    return this.#look(target, pid === undefined || this.#hasEnded(pid) ? 'self' : pid, UNNAMED)
  }

  /** @param ifNone who has the port if nobody is seen to listen there */
  #look(target: HealthTarget, pid: number | 'self', ifNone: PortHolder): PortHolder {
    const address = canonicalAddress(target.host) ?? ''
    const net = `${this.#root}/${pid}/net`
    try {
      if (statSync(`${net}/tcp`).ino !== statSync(`${this.#root}/self/net/tcp`).ino)
        return { kind: 'untold', detail: 'kubelet has a network namespace of its own' }
      const uids = this.#readUids(pid)
      const sockets: ListeningSocket[] = []
      for (const table of address.includes(':') && !isWildcard(address) ? ['tcp6'] : ['tcp', 'tcp6']) {
        const { rows, isWhole } = this.#readListening(`${net}/${table}`, target.port)
        sockets.push(...parseListeners(rows))
        const holder = judgeHolder(sockets, target, uids)
        if (holder !== undefined && holder.kind !== 'unseen') return holder
        if (!isWhole) return ifNone.kind === 'stranger' ? ifNone : { kind: 'untold', detail: 'too many sockets listen on this machine' }
      }
      return judgeHolder(sockets, target, uids) ?? ifNone
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
  #readUids(pid: number | 'self'): readonly number[] | undefined {
    return /^Uid:\s*(.*)$/m.exec(this.#readStatus(pid))?.[1]?.split(/\s+/).map(Number)
  }

  /** A process that its parent has not waited for yet is a zombie. */
  #hasEnded(pid: number | 'self'): boolean {
    try {
      return /^State:\s*[ZX]/m.test(this.#readStatus(pid))
    } catch (error) {
      return ['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '')
    }
  }

  #readStatus(pid: number | 'self'): string {
    return readFileSync(`${this.#root}/${pid}/status`, 'latin1')
  }
}

/** Whether an attempt to bind there fails, as that of kubelet does. */
async function isBound({ host, port }: HealthTarget): Promise<boolean> {
  if (!isWildcard(host)) return isIP(host) !== 0 && failsToBind(host, port)
  return (await failsToBind('::', port)) || failsToBind('0.0.0.0', port)
}

function failsToBind(localAddress: string, localPort: number): Promise<boolean> {
  return new Promise((resolve) => {
    // Nobody can listen at port 0: no connection is made, and none waits for its end.
    const socket = connect({ host: localAddress, port: 0, localAddress, localPort, timeout: CONNECT_MS })
    const end = (error?: Error) => {
      socket.destroy()
      resolve(errorCode(error) === 'EADDRINUSE')
    }
    socket.on('error', end).on('timeout', end).on('connect', end)
  })
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
