/**
 * The node's container runtime socket, for a kubelet whose flags and config name none, and whose
 * doing it can be that something listens at a socket.
 */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const RUNTIME_SOCKETS = ['/run/containerd/containerd.sock', '/run/crio/crio.sock']
let runtimeSocket: string | undefined

/** Remembers a socket once found: a runtime that stops removes its socket. */
export function findRuntimeSocket(): string | undefined {
  runtimeSocket ??= RUNTIME_SOCKETS.find((path) => existsSync(path))
  return runtimeSocket
}

const STICKY = 0o1000
const BY_OTHERS = 0o002

/**
 * Who but root could have put the socket there: who owns it or a directory above it, or may write
 * to such a directory. A socket that systemd listens at is root's. undefined: nobody, or there is
 * no socket.
 */
export function findSocketStranger(socket: string): string | undefined {
  try {
    for (let path = realpathSync(socket); ; path = dirname(path)) {
      const facts = statSync(path)
      if (facts.uid !== 0 && facts.uid !== process.getuid?.()) return `${path} belongs to uid ${facts.uid}`
      if (facts.isDirectory() && (facts.mode & BY_OTHERS) !== 0 && (facts.mode & STICKY) === 0) return `everybody may write to ${path}`
      if (path === '/') return undefined
    }
  } catch {
    // Whoever connects says what is wrong.
    return undefined
  }
}
