// SPDX-License-Identifier: Apache-2.0
/**
 * Asks kubelet itself what it made of its config: its log, from 1.37 on, and `/configz`, where a
 * kubelet that has a right for it is asked on its own port, an older one through the API server.
 * Pure; who asks is passed in.
 */
import { posix } from 'node:path'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { decides } from '../../kubelet/field-path.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import type { Files } from '../../ports/files.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { ConfigzAnswer } from '../../ports/preflight.ts'
import type { FirstWords } from '../../ports/unit.ts'
import type { KnownUnit } from '../../subject/unit-state.ts'
import { isKubeletInside } from '../../systemd/distribution.ts'
import { isObject } from '../../values/is-object.ts'
import { type Difference, findMisread } from '../change/check-same.ts'
import { collectFlags } from '../change/kubelet-flags.ts'
import { findEffectiveConfig } from '../kubelet/final-message.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import type { KubeletPort } from './kubelet-port.ts'
import { findOwnPort, hasRightForConfigz } from './own-port.ts'

export interface ConfigzWorld {
  readonly port: Pick<KubeletPort, 'askConfigz'>
  readonly api: Pick<KubeApi, 'request'>
  nodeName(): string | Promise<string>
}

interface ConfigzPorts extends ConfigzWorld {
  readonly files: Pick<Files, 'read'>
}

/** A kubelet of this machine, with the config file that it was started with. */
export interface RunningKubelet {
  readonly unit: KnownUnit
  readonly path: string | undefined
  readonly version: KubeletVersion | undefined
  /** With its drop-ins. undefined: it cannot be read. */
  readonly config: KubeletConfig | undefined
}

/** @param here undefined: the Node is that of another machine, or it is not known what runs here */
export async function askConfigz(ports: ConfigzPorts, here: RunningKubelet | undefined): Promise<ConfigzAnswer> {
  if (here === undefined || !hasRightForConfigz(here.version)) return askServer(ports)
  if (here.config === undefined) return { kind: 'unproven', detail: "kubelet's config cannot be read, which names its certificate" }
  const flags = collectFlags(here.unit.command?.words ?? [])
  const { target, certificateFiles } = findOwnPort(here.config, flags, posix.dirname(here.path ?? '/'), here.version)
  const certificates = certificateFiles.flatMap((path) => readText(ports.files, path))
  if (certificates.length === 0)
    return { kind: 'unproven', detail: `the file of kubelet's certificate cannot be read: ${certificateFiles.join(', ')}` }
  return ports.port.askConfigz({ target, certificates })
}

interface LogPorts {
  readonly lastWords: FirstWords
  readonly yaml: Pick<YamlReader, 'firstOfAny'>
}

/** The first minor that logs its effective config. */
const FIRST_LOGGED = 37

/** Kubelet logs before its config only its flags, and complaints about flags and gates. */
const BEFORE_CONFIG =
  /^(?:Flag --\S+ has been deprecated, |[IW]\d{4} \S+ +\d+ (?:feature_gate|flags)\.go:\d+\] |\{"ts":[\d.]+,"caller":"[\w/-]*(?:feature_gate|flags)\.go:\d+",)/
const BEGINS_CONFIG =
  /^(?:I\d{4} \S+ +\d+ server\.go:\d+\] "Effective KubeletConfiguration" |\{"ts":[\d.]+,"caller":"[\w/-]*server\.go:\d+","msg":"Effective KubeletConfiguration",)/

/**
 * Whether the journal still has the start. Later lines quote text of others, which could look like
 * the config.
 */
function hasStart(text: string): boolean {
  const first = text.split('\n').find((line) => !BEFORE_CONFIG.test(line))
  return first !== undefined && BEGINS_CONFIG.test(first)
}

/**
 * The config that this process of kubelet logged. undefined: it is older, or its log cannot be read
 * or no longer has the start.
 */
async function readLogged(
  { unit, version }: Pick<RunningKubelet, 'unit' | 'version'>,
  { lastWords, yaml }: LogPorts,
): Promise<KubeletConfig | undefined> {
  if (version === undefined || version.minor < FIRST_LOGGED) return undefined
  const start = (await lastWords.atStart(unit.invocationId)) ?? ''
  const text = hasStart(start) ? findEffectiveConfig(start) : undefined
  // While the agent's package is being upgraded, the parser of long texts may be missing.
  const read = text === undefined ? undefined : await yaml.firstOfAny(text).catch(() => undefined)
  return read?.ok === true && isObject(read.value) ? read.value : undefined
}

/** Where kubelet does not serve its config, its log may have it. */
export async function askOrReadLog(ports: ConfigzPorts & LogPorts, here: RunningKubelet): Promise<ConfigzAnswer> {
  const answer = await askConfigz(ports, here)
  const logged = answer.kind === 'ok' ? undefined : await readLogged(here, ports)
  return logged === undefined ? answer : { kind: 'ok', object: { kubeletconfig: logged } }
}

/** undefined: one of both is not known, or not all flags, as where kubelet runs inside k3s. */
export async function findMisreadOf(here: RunningKubelet, ports: LogPorts): Promise<readonly Difference[] | undefined> {
  const { command } = here.unit
  if (isKubeletInside(command) || command?.incomplete === 'more') return undefined
  const logged = await readLogged(here, ports)
  if (logged === undefined || here.config === undefined) return undefined
  const found = findMisread(here.config, logged, here.version, collectFlags(command?.words ?? []))
  // The journal drops lines over its rate limit.
  return found.filter(({ path }) => decides(logged, path))
}

/** The API server may wait for a kubelet that it does not reach. */
const PROXY_MS = 10_000

async function askServer({ api, nodeName }: ConfigzWorld): Promise<ConfigzAnswer> {
  const answer = await api.request({ method: 'GET', path: `/api/v1/nodes/${await nodeName()}/proxy/configz`, timeoutMs: PROXY_MS })
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
