/**
 * The port to the container runtime: the calls of CRI (k8s.io/cri-api) that the agent makes.
 * Adapter: `src/runtime/cri-runtime.ts`.
 */
export interface ContainerRuntime {
  /**
   * `Status` and `ListPodSandbox`, which kubelet too has to have answered. Never rejects, and takes
   * no longer than its limit. A runtime whose network is not ready is up.
   */
  probe(socket: string): Promise<RuntimeAnswer<RuntimeStatus>>
  /** `ListPodSandbox` and `ListContainers`, at one time. */
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
  /** Of the pod. For a static pod it is the config hash, unless its manifest sets another. */
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
