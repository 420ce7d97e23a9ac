/** The node's container runtime socket, for a kubelet whose flags and config name none. */
import { existsSync } from 'node:fs'

const RUNTIME_SOCKETS = ['/run/containerd/containerd.sock', '/run/crio/crio.sock']
let runtimeSocket: string | undefined

/** Remembers a socket once found: a runtime that stops removes its socket. */
export function findRuntimeSocket(): string | undefined {
  runtimeSocket ??= RUNTIME_SOCKETS.find((path) => existsSync(path))
  return runtimeSocket
}
