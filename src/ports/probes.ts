/**
 * The ports that probe kubelet, the container runtime and the node. Adapters: `src/kubelet/`,
 * `src/source/drain.ts`.
 */

/** kubelet's own health endpoint, and the container runtime's socket. */
export interface HealthProbe {
  healthz(config: HealthTarget): Promise<{ ok: boolean; detail: string }>
  socketAccepts(path: string): Promise<boolean>
}

export interface HealthTarget {
  readonly host: string
  readonly port: number
}

/** The fields of a kubelet config file that matter for checking kubelet's health. */
export interface ConfigFacts {
  of(path: string): Promise<{
    /**
     * undefined: `healthzPort` is 0. Upstream's defaults if the file has no value or cannot be
     * read.
     */
    readonly healthz: HealthTarget | undefined
    readonly runtimeEndpoint: string | undefined
    /** kubelet's TLS port. Absent: upstream's default. */
    readonly serving?: HealthTarget
    readonly staticPodPath?: string | undefined
  }>
}

/** Whether the node is drained. Used only while a change waits for that. */
export interface DrainProbe {
  /**
   * The last result; refreshes it in the background. undefined: not known yet, or it cannot be
   * determined.
   */
  isDrained(): boolean | undefined
}
