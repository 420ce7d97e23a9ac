/** What the benchmark asks of the world, which lives in a process of its own, so that its work is not counted as anybody else's. */
import type { Follower } from './objects.ts'

export interface WorldPaths {
  readonly kubeconfig: string
  readonly systemctl: string
  /** On disk, as /var/lib is. */
  readonly stateDir: string
  /** In memory, as /run is. */
  readonly runtimeDir: string
  readonly envFile: string
  /** For scripts that speak TLS by themselves: authority, certificate, key as PEM files, and where the server is. */
  readonly tlsDir: string
  readonly url: string
}

export interface World {
  open(options: { readonly dir: string; readonly memoryDir: string; readonly systemctlCostUs: number }): Promise<WorldPaths>
  /** Changes a ConfigMap and answers how long it took from the change to the start of the command that restarts a unit. */
  change(follower: Follower): Promise<number>
  /** The agent says that what it was assigned last is active and everything has settled. */
  active(): Promise<void>
  /** As kubelet does it every so often: nothing but times in the Node's status change. */
  heartbeat(): Promise<void>
  /** When the first request to watch this Node arrived since the last call for it, CLOCK_MONOTONIC. */
  firstWatch(nodeName: string): Promise<number>
  close(): Promise<void>
}

export type Call = { readonly id: number; readonly method: keyof World; readonly args: readonly unknown[] }
export type Answer =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }
