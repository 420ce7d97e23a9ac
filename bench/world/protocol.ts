// SPDX-License-Identifier: Apache-2.0
/**
 * The calls from the benchmark to its world, which is a process of its own, so its CPU time is not
 * counted as the agent's.
 */
import type { Follower } from './objects.ts'

export interface WorldPaths {
  readonly kubeconfig: string
  readonly systemctl: string
  /** The socket of the bus. */
  readonly systemBus: string
  /** On disk, like /var/lib. */
  readonly stateDir: string
  /** In memory, like /run. */
  readonly runtimeDir: string
  readonly envFile: string
  /** PEM files of the authority, certificate and key, for scripts without a kubeconfig. */
  readonly tlsDir: string
  /** The URL of the server. */
  readonly url: string
}

export interface WorldOptions {
  /** CPU time of each systemctl command, besides what the stand-in takes. */
  readonly systemctlCostUs: number
  /**
   * Of a kubelet that passes the probes of preflight, such as `v1.34.1`. undefined: only the
   * agent's own rules run.
   */
  readonly kubeletVersion: string | undefined
  /** The path of a real one, in its place. Without a sandbox it is only asked to load a config. */
  readonly kubelet: string | undefined
  /** Of kubelet's unit, besides those of every kubeadm node. */
  readonly kubeletFlags: readonly string[]
  readonly format: 'json' | 'yaml'
}

export interface World {
  open(options: WorldOptions & { readonly dir: string; readonly memoryDir: string }): Promise<WorldPaths>
  /**
   * Changes a ConfigMap. Returns the time from the change to the start of the command that restarts
   * the unit, in µs.
   */
  change(follower: Follower): Promise<number>
  /** Resolves when the Node's status names the last assigned version as active. */
  active(): Promise<void>
  /** A heartbeat of kubelet: only times in the Node's status change. */
  heartbeat(): Promise<void>
  /** The time of the first watch of this Node since the last call, CLOCK_MONOTONIC. */
  firstWatch(nodeName: string): Promise<number>
  close(): Promise<void>
}

export type Call = { readonly id: number; readonly method: keyof World; readonly args: readonly unknown[] }
export type Answer =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }
