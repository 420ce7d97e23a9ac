/**
 * Where kubelet listens by its decoded config, and where its container runtime does. Pure.
 * Defaults: `SetDefaults_KubeletConfiguration`, pkg/kubelet/apis/config/v1beta1/defaults.go, the
 * same from 1.20 to 1.37.
 */
import type { HealthPort } from '../decision/health.ts'
import type { HealthTarget, ServingPort } from '../ports/probes.ts'

export const DEFAULT_HEALTHZ: HealthTarget = { host: '127.0.0.1', port: 10248 }

export const DEFAULT_SERVING: HealthTarget = { host: '0.0.0.0', port: 10250 }

/** The TLS port by `address` and `port`. Ignores kubelet's flags. */
export function findServingTarget(config: Readonly<Record<string, unknown>>): HealthTarget {
  const { port, address } = config
  return { host: textOr(DEFAULT_SERVING.host, address), port: typeof port === 'number' && port !== 0 ? port : DEFAULT_SERVING.port }
}

/** Ignores kubelet's flags. */
export function findServing(config: Readonly<Record<string, unknown>>): ServingPort {
  return { ...findServingTarget(config), isOff: config.enableServer === false }
}

/** Ignores kubelet's flags. */
export function findHealthPort(config: Readonly<Record<string, unknown>>): HealthPort {
  const { healthzPort, healthzBindAddress } = config
  const port = typeof healthzPort === 'number' ? healthzPort : DEFAULT_HEALTHZ.port
  if (port === 0) return 'none'
  return { host: textOr(DEFAULT_HEALTHZ.host, healthzBindAddress), port }
}

function textOr(initial: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : initial
}

/**
 * The path of a Unix socket by its endpoint, the same for each spelling: empty segments and `.`
 * mean nothing (path_resolution(7)), and /var/run is a link to /run (file-hierarchy(7)).
 */
export function toSocketPath(endpoint: string): string {
  return endpoint
    .replace(/^unix:(\/\/)?/, '')
    .replace(/\/(?:\.?\/)+/g, '/')
    .replace(/^\/var\/run\//, '/run/')
}
