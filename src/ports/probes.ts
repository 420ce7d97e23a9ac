/**
 * The ports that probe kubelet, the container runtime and the node. Adapters: `src/kubelet/`,
 * `src/runtime/recent-answers.ts`, `src/source/drain.ts`.
 */
import type { HealthPort } from '../decision/health.ts'

/** kubelet's own health endpoint. */
export interface HealthProbe {
  healthz(config: HealthTarget): Promise<{ ok: boolean; detail: string }>
}

/** Whether the container runtime at a socket answers. Asked only while kubelet is not well. */
export interface RuntimeProbe {
  /**
   * By its latest answer; a new one is sought in the background. Never rejects, and waits no longer
   * than a pass may. undefined: not known, or no container runtime that knows CRI.
   */
  isUp(socket: string): Promise<boolean | undefined>
}

export interface HealthTarget {
  readonly host: string
  readonly port: number
}

/** kubelet's TLS port. */
export interface ServingPort extends HealthTarget {
  /** The config turns it off (`enableServer`). A flag may turn it on again. */
  readonly isOff?: boolean
}

/** The fields of a kubelet config file that matter for checking kubelet's health. */
export interface ConfigFacts {
  /** @param over a drop-in that kubelet merges over that file; missing, it counts as empty */
  of(
    path: string,
    over?: string,
  ): Promise<{
    /**
     * `none`: `healthzPort` is 0. Upstream's default if the file has no value. undefined: the file
     * cannot be read.
     */
    readonly healthz: HealthPort | undefined
    readonly runtimeEndpoint: string | undefined
    /** kubelet's TLS port. Absent: upstream's default. */
    readonly serving?: ServingPort
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
