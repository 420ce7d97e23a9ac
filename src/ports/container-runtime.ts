/**
 * The port to the container runtime: the calls of CRI (k8s.io/cri-api) that the agent makes.
 * Adapter: `src/runtime/cri-runtime.ts`.
 */
import type { RuntimePods } from '../decision/runtime-pods.ts'

export interface ContainerRuntime {
  /**
   * `Status` and `ListPodSandbox`, which kubelet too has to have answered. Never rejects, and takes
   * no longer than its limit. A runtime whose network is not ready is up.
   */
  probe(socket: string): Promise<RuntimeAnswer<RuntimeStatus>>
  listPods(socket: string): Promise<RuntimeAnswer<RuntimePods>>
  /** `not-offered`: a runtime older than containerd 2.0 or CRI-O 1.28. */
  cgroupDriver(socket: string): Promise<RuntimeAnswer<CgroupDriver | 'not-offered'>>
}

export type RuntimeAnswer<T> =
  | { readonly ok: true; readonly value: T }
  /** `detail` says what happened, for people. */
  | { readonly ok: false; readonly why: RuntimeFault; readonly detail: string }

/**
 * `down`: it does not answer as a container runtime does. `not-cri`: it answers, but does not know
 * CRI, as Docker's own containerd does. `not-allowed`: the agent may not connect. `not-trusted`: it
 * is not asked, since somebody else than root may have put the socket there.
 */
export type RuntimeFault = 'down' | 'not-cri' | 'not-allowed' | 'not-trusted'

export interface RuntimeStatus {
  /** Condition `RuntimeReady`, as the runtime reports it. undefined: it does not report it. */
  readonly runtimeReady: boolean | undefined
}

export type CgroupDriver = 'systemd' | 'cgroupfs'
