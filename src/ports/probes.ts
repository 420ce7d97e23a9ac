/** The ports that probe kubelet, the container runtime and the node. Adapters: `src/kubelet/`, `src/source/drain.ts`. */
/** kubelet's own health endpoint, and the container runtime's socket. */
export interface HealthProbe {
  /** undefined: this config has no health port. */
  healthz(config: HealthTarget): Promise<{ ok: boolean; detail: string }>
  socketAccepts(path: string): Promise<boolean>
}

export interface HealthTarget {
  readonly host: string
  readonly port: number
}

/** What of a kubelet config file matters for looking at kubelet's health; nothing where the file cannot be read. */
export interface ConfigFacts {
  of(path: string): Promise<{
    /** undefined: `healthzPort` is 0. Upstream's defaults where the file says nothing or cannot be read. */
    readonly healthz: HealthTarget | undefined
    readonly runtimeEndpoint: string | undefined
  }>
}

/** Whether the node is drained: asked only while a change waits for it. */
export interface DrainProbe {
  /** What was found out last; asks anew in the background. undefined: it is not known, or cannot be told. */
  isDrained(): boolean | undefined
}
