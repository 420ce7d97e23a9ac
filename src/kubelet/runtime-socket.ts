/** The socket of the container runtime that this node seems to have, for a kubelet whose flags and config name none. */
import { existsSync } from 'node:fs'

const RUNTIME_SOCKETS = ['/run/containerd/containerd.sock', '/run/crio/crio.sock']
let runtimeSocket: string | undefined

/** Once seen, it counts even while it is gone: a runtime that ends takes its socket along. */
export function findRuntimeSocket(): string | undefined {
  runtimeSocket ??= RUNTIME_SOCKETS.find((path) => existsSync(path))
  return runtimeSocket
}
