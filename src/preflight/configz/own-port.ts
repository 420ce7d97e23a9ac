// SPDX-License-Identifier: Apache-2.0
/**
 * Where kubelet itself answers `/configz`, and with which certificate. Pure. Rules:
 * `InitializeTLS`, cmd/kubelet/app/server.go; `NewFileStore`, k8s.io/client-go/util/certificate;
 * `nodeAuthorizerAttributesGetter`, pkg/kubelet/server/auth.go.
 */
import { posix } from 'node:path'
import { findServingTarget } from '../../kubelet/config-file.ts'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { HealthTarget } from '../../ports/probes.ts'
import { type KubeletFlags, overlayFlags } from '../change/kubelet-flags.ts'
import type { KubeletVersion } from '../kubelet-version.ts'

interface OwnPort {
  readonly target: HealthTarget
  /** The files that can hold the certificate that kubelet serves. */
  readonly certificateFiles: readonly string[]
}

/** The default of `--cert-dir`. */
const CERTIFICATES = '/var/lib/kubelet/pki'

/** `KubeletFineGrainedAuthz` (KEP-2862) is on by default from here on, and locked from 1.36 on. */
const FIRST_WITH_OWN_RIGHT = 33

/**
 * Whether this kubelet authorizes `/configz` on its own port as `nodes/configz`. Older ones know
 * only `nodes/proxy`, and so does the API server's proxy to any kubelet.
 */
export function hasRightForConfigz(version: KubeletVersion | undefined): boolean {
  return version !== undefined && (version.major > 1 || (version.major === 1 && version.minor >= FIRST_WITH_OWN_RIGHT))
}

/**
 * @param config that kubelet was started with
 * @param folder of that config: relative paths in it start there
 */
export function findOwnPort(config: KubeletConfig, flags: KubeletFlags, folder: string, version: KubeletVersion | undefined): OwnPort {
  const { config: effective } = overlayFlags(config, flags, version)
  const { tlsCertFile, serverTLSBootstrap } = effective
  const named = typeof tlsCertFile === 'string' && tlsCertFile !== '' ? [posix.resolve(folder, tlsCertFile)] : []
  const directory = certificateDirectory(flags)
  const issued = serverTLSBootstrap === true ? [posix.join(directory, 'kubelet-server-current.pem')] : []
  const selfSigned = posix.join(directory, SELF_SIGNED.tlsCertFile)
  const files = [...issued, ...named]
  return { target: findServingTarget(effective), certificateFiles: files.length === 0 ? [selfSigned] : files }
}

/** The files that kubelet makes where its config names no certificate. */
const SELF_SIGNED = { tlsCertFile: 'kubelet.crt', tlsPrivateKeyFile: 'kubelet.key' }

/**
 * Without the pair that kubelet makes itself, which `/configz` names as if the config did. A
 * kubelet whose config names these files does not make them: on a node that has none, it would not
 * start.
 */
export function withoutSelfSigned(config: KubeletConfig, flags: KubeletFlags): KubeletConfig {
  const directory = certificateDirectory(flags)
  const isMade = Object.entries(SELF_SIGNED).every(([field, file]) => config[field] === posix.join(directory, file))
  if (!isMade || config.serverTLSBootstrap === true) return config
  const { tlsCertFile: _, tlsPrivateKeyFile: __, ...rest } = config
  return rest
}

function certificateDirectory(flags: KubeletFlags): string {
  return posix.resolve(flags.get('cert-dir')?.at(-1) ?? CERTIFICATES)
}
