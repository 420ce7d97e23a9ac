// SPDX-License-Identifier: Apache-2.0
/** The files that kubelet makes a config of, and its addresses by them and its flags. Pure. */

import { posix } from 'node:path'
import { type CheckpointPaths, runningConfigPath } from '../decision/base-config.ts'
import type { SocketFacts } from '../directory/owned-files.ts'
import type { HealthPort } from '../health/process.ts'
import { DEFAULT_HEALTHZ, DEFAULT_SERVING, toSocketPath } from '../kubelet/config-file.ts'
import type { ConfigFacts, ConfigFiles, HealthTarget, ServingPort } from '../ports/probes.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { asArguments, flagValue } from '../systemd/command-line.ts'
import { parseGoBool } from '../values/go-syntax.ts'

/**
 * The files that kubelet makes this config of, whatever the agent has put in place.
 * @param checkpoint undefined: the local config
 */
export function listConfigFiles(unit: KnownUnit, checkpoint: string | undefined): ConfigFiles | undefined {
  const { localConfigPath, wiring } = unit
  const directory = configDirectory(unit)
  if (wiring.kind !== 'ready' || !wiring.laysOverLocal) {
    const path = checkpoint ?? localConfigPath
    return path === undefined ? undefined : { path, directory }
  }
  const content = checkpoint === localConfigPath ? undefined : checkpoint
  return { path: localConfigPath, directory, own: { path: wiring.path, content } }
}

/** The directory of kubelet's drop-ins. A process that runs was started with what is in place. */
export function configDirectory({ wiring, command }: KnownUnit): string | undefined {
  if (wiring.kind === 'ready' && wiring.laysOverLocal) return posix.dirname(wiring.path)
  return flagValue(asArguments(command?.words ?? []), 'config-dir') || undefined
}

/** Kubelet's TLS port: its flags win over its config. */
export function findServingPort({ command }: KnownUnit, configured: ServingPort | undefined): ServingPort {
  const flags = asArguments(command?.words ?? [])
  const { host, port, isOff }: ServingPort = configured ?? DEFAULT_SERVING
  const enabled = flagValue(flags, 'enable-server')
  return {
    host: flagValue(flags, 'address') || host,
    port: Number(flagValue(flags, 'port') ?? port),
    isOff: enabled === undefined ? isOff === true : parseGoBool(enabled) === false,
  }
}

/** Kubelet's health port: its flags win over its config. undefined: not known. */
export function findHealthTarget({ healthzFlags }: KnownUnit, configured: HealthPort | undefined): HealthTarget | 'none' | undefined {
  const file = configured === 'none' ? { port: 0, host: undefined } : configured
  const port = healthzFlags.port ?? file?.port
  if (port === undefined) return undefined
  return port === 0 ? 'none' : { host: healthzFlags.address ?? file?.host ?? DEFAULT_HEALTHZ.host, port }
}

/**
 * The path of the container runtime's socket: kubelet's flag wins over its config, and without
 * either kubelet takes the default. undefined: this node has no default.
 */
export function resolveRuntimeSocket(
  { runtimeEndpoint }: KnownUnit,
  configured: string | undefined,
  byDefault: () => string | undefined,
): string | undefined {
  const endpoint = runtimeEndpoint ?? configured ?? byDefault()
  return endpoint === undefined ? undefined : toSocketPath(endpoint)
}

interface RuntimeSources {
  readonly configFacts: ConfigFacts
  readonly checkpoints: CheckpointPaths
  readonly defaultRuntimeSocket: () => string | undefined
}

/** Who besides root could be, or use, the container runtime that kubelet uses now. */
export async function findRuntimeDoubt(
  { configFacts, checkpoints, defaultRuntimeSocket }: RuntimeSources,
  unit: KnownUnit,
  look: (socket: string) => SocketFacts,
): Promise<string | undefined> {
  const facts = await configFacts.of({ path: runningConfigPath(checkpoints, unit), directory: configDirectory(unit) })
  const socket = resolveRuntimeSocket(unit, facts?.runtimeEndpoint, defaultRuntimeSocket)
  if (!isCriSocket(socket)) return undefined
  const { stranger, warning } = look(socket)
  if (stranger !== undefined)
    return `${socket} is not asked about the container runtime, since ${stranger}: let only root own and write what leads there`
  return warning
}

/** Kubelet itself serves dockershim's socket, up to 1.23: it says nothing of the runtime. */
export function isCriSocket(path: string | undefined): path is string {
  return path?.startsWith('/') === true && !path.endsWith('/dockershim.sock')
}
