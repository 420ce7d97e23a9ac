/**
 * The composition of `/configz`: a kubelet that has a right for it is asked on its own port, an
 * older one through the API server.
 */
import { posix } from 'node:path'
import type { KnownUnit } from './decision/unit-state.ts'
import type { ClientIdentity } from './kube/access.ts'
import type { KubeletConfig } from './kubelet/decode.ts'
import type { ConfigzAnswer } from './ports/configz.ts'
import type { Files } from './ports/files.ts'
import type { KubeApi } from './ports/kube-api.ts'
import { collectFlags } from './preflight/change/kubelet-flags.ts'
import { KubeletPort } from './preflight/configz/kubelet-port.ts'
import { findOwnPort, hasRightForConfigz } from './preflight/configz/own-port.ts'
import type { KubeletVersion } from './preflight/kubelet-version.ts'

export interface ConfigzWorld {
  readonly kubeconfig: ClientIdentity
  readonly api: Pick<KubeApi, 'request'>
  nodeName(): string
}

interface ConfigzPorts extends ConfigzWorld {
  readonly files: Pick<Files, 'read'>
  versionOf(binary: string | undefined): Promise<KubeletVersion | undefined>
}

/** A kubelet of this machine, with the config file that it was started with. */
export interface RunningKubelet {
  readonly unit: KnownUnit
  readonly path: string | undefined
  /** undefined: it cannot be read. */
  readonly config: KubeletConfig | undefined
}

/** @param here undefined: the Node is that of another machine, or it is not known what runs here */
export async function askConfigz(ports: ConfigzPorts, here: RunningKubelet | undefined): Promise<ConfigzAnswer> {
  const version = await ports.versionOf(here?.unit.command?.path)
  if (here === undefined || !hasRightForConfigz(version)) return askServer(ports)
  if (here.config === undefined) return { kind: 'unproven', detail: "kubelet's config cannot be read, which names its certificate" }
  const flags = collectFlags(here.unit.command?.words ?? [])
  const { target, certificateFiles } = findOwnPort(here.config, flags, posix.dirname(here.path ?? '/'), version)
  const certificates = certificateFiles.flatMap((path) => readText(ports.files, path))
  if (certificates.length === 0)
    return { kind: 'unproven', detail: `the file of kubelet's certificate cannot be read: ${certificateFiles.join(', ')}` }
  return new KubeletPort(ports.kubeconfig).askConfigz({ target, certificates })
}

/** The API server may wait for a kubelet that it does not reach. */
const PROXY_MS = 10_000

async function askServer({ api, nodeName }: ConfigzWorld): Promise<ConfigzAnswer> {
  const answer = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName()}/proxy/configz`, timeoutMs: PROXY_MS })
  return answer.kind === 'refused' ? { kind: 'refused', by: 'api-server', status: answer.status, detail: answer.detail } : answer
}

function readText(files: Pick<Files, 'read'>, path: string): string[] {
  try {
    const text = files.read(path)?.toString('latin1')
    return text === undefined ? [] : [text]
  } catch {
    return []
  }
}
