// SPDX-License-Identifier: Apache-2.0
/**
 * The ports that probe kubelet, the container runtime and the node. Adapters: `src/kubelet/`,
 * `src/runtime/`, `src/source/drain.ts`.
 */

import type { Exclusives } from '../decision/snapshot.ts'
import type { HealthPort } from '../health/process.ts'
import type { HealthAnswer } from '../health/sample.ts'
import type { KnownUnit } from '../subject/unit-state.ts'

/** kubelet's own health endpoint. */
export interface HealthProbe {
  /** @param pid of kubelet */
  healthz(target: HealthTarget, pid: number): Promise<NonNullable<HealthAnswer>>
}

/**
 * Who has a port. `own`: root, or kubelet's own account. `stranger` without a uid: a process that
 * does not listen there, which the system does not name. `unseen`: nobody is known to have listened
 * there all the time. `untold`: the system does not say.
 */
export type PortHolder =
  | { readonly kind: 'own'; readonly inodes: readonly string[] }
  | { readonly kind: 'stranger'; readonly uid: number | undefined; readonly inodes: readonly string[] }
  | { readonly kind: 'unseen' | 'untold'; readonly detail: string }

/** Each look takes some milliseconds. `pid` is that of kubelet. undefined: it does not run. */
export interface PortHolders {
  /** Who answers at a port. */
  holderOf(target: HealthTarget, pid: number): PortHolder
  /** Who keeps kubelet from a port at which nobody answers. */
  keeperOf(target: HealthTarget, pid: number | undefined): Promise<PortHolder>
}

/**
 * Whether the container runtime at a socket answers. Asked while kubelet is not well, and before it
 * is restarted with another config.
 */
export interface RuntimeProbe {
  /**
   * Whether the runtime is up, by its latest answer; a new one is sought in the background. Never
   * rejects, and waits no longer than a pass may. undefined: not known, or no container runtime
   * that knows CRI.
   */
  isUp(socket: string): Promise<boolean | undefined>
}

export interface HealthTarget {
  /**
   * Where kubelet listens. A connection to `0.0.0.0` or `::`, all addresses, goes to loopback
   * (Linux).
   */
  readonly host: string
  readonly port: number
}

/** kubelet's TLS port. */
export interface ServingPort extends HealthTarget {
  /** The config turns it off (`enableServer`). A flag may turn it on again. */
  readonly isOff?: boolean
}

/** The files that kubelet makes its config of. */
export interface ConfigFiles {
  /** The file of `--config`. undefined: kubelet starts from its defaults */
  readonly path: string | undefined
  /** The directory of `--config-dir`. undefined: kubelet has none. */
  readonly directory?: string | undefined
  /** The agent's drop-in in that directory, if it is not to count as it is there now. */
  readonly own?: {
    readonly path: string
    /** The content that counts in its place. undefined: none. */
    readonly content: string | undefined
  }
}

/** The fields of kubelet's config that matter for checking kubelet's health. */
export interface ConfigFacts {
  /** @returns undefined: a file cannot be read, and never was */
  of(files: ConfigFiles): Promise<
    | {
        /** `none`: `healthzPort` is 0. Upstream's default if no file has a value. */
        readonly healthz: HealthPort
        readonly runtimeEndpoint: string | undefined
        /** kubelet's TLS port. Absent: upstream's default. */
        readonly serving?: ServingPort
        readonly readOnlyPort?: number | undefined
        readonly staticPodPath?: string | undefined
      }
    | undefined
  >
}

/** Whether the node is drained. Used only while a change waits for that. */
export interface DrainProbe {
  /**
   * The last result; refreshes it in the background. undefined: not known yet, or it cannot be
   * determined.
   */
  isDrained(): boolean | undefined
  /**
   * Whether a pod has what a change of these fields of kubelet's managers may take from it, as the
   * API server and the managers' state files say. As `isDrained`.
   */
  findExclusives(unit: KnownUnit, fields: readonly string[]): Exclusives | undefined
}

/** The calls of CRI (k8s.io/cri-api) that the agent makes. */
export interface ContainerRuntime {
  /**
   * `Status` and `ListPodSandbox`, which kubelet too has to have answered. Never rejects, and takes
   * no longer than its limit. A runtime whose network is not ready is up.
   */
  probe(socket: string): Promise<RuntimeAnswer<RuntimeStatus>>
  listPods(socket: string): Promise<RuntimeAnswer<RuntimePods>>
  /** `not-offered`: a runtime older than containerd 2.0 or CRI-O 1.28. */
  cgroupDriver(socket: string): Promise<RuntimeAnswer<CgroupDriver | 'not-offered'>>
  /** `ImageFsInfo`, of which kubelet takes the first. undefined: it names none. */
  imageDirectory(socket: string): Promise<RuntimeAnswer<string | undefined>>
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

/**
 * The pods of this node as the container runtime knows them, sorted in no way. It needs no API
 * server, and still tells where a static pod is the API server.
 */
export interface RuntimePods {
  readonly sandboxes: readonly PodSandbox[]
  readonly containers: readonly RuntimeContainer[]
}

/**
 * One attempt to run a pod. A pod has several while kubelet replaces its sandbox: at most one of
 * them is ready.
 */
export interface PodSandbox {
  readonly id: string
  /** The pod's uid. For a static pod it is the config hash, unless its manifest sets another. */
  readonly uid: string
  readonly name: string
  readonly namespace: string
  readonly attempt: number
  readonly state: 'ready' | 'not-ready'
  /** CLOCK_REALTIME of the runtime. */
  readonly createdAtMs: number
  /**
   * Annotation `kubernetes.io/config.source` of the pod: `file` and `http` for a static pod, `api`
   * for one that the cluster assigned. undefined: not a pod of kubelet's.
   */
  readonly configSource: string | undefined
  /**
   * Annotation `kubernetes.io/config.hash`, static pods only: a hash of the manifest and of the
   * path of its file (`applyDefaults`, pkg/kubelet/config/common.go).
   */
  readonly configHash: string | undefined
}

export interface RuntimeContainer {
  readonly id: string
  readonly sandboxId: string
  /** As in the pod's spec. */
  readonly name: string
  /** How often kubelet created it before, for this pod. */
  readonly attempt: number
  readonly state: 'created' | 'running' | 'exited' | 'unknown'
  /** CLOCK_REALTIME of the runtime. A list does not tell when it started. */
  readonly createdAtMs: number
}
