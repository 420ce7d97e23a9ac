/**
 * The pods of this node as the container runtime knows them (CRI `ListPodSandbox` and
 * `ListContainers`), as data. It needs no API server, and still tells where a static pod is the API
 * server.
 */

/** Taken at one time, and sorted in no way. */
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
