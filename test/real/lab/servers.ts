// SPDX-License-Identifier: Apache-2.0
/**
 * The two processes of the control plane, etcd and kube-apiserver, and their command lines. Knows
 * when each is ready, and says with the end of its log why one is not.
 */
import { readFileSync } from 'node:fs'
import { type ClientRequest, get as getHttp, type IncomingMessage } from 'node:http'
import { Agent, get as getHttps } from 'node:https'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { Binaries } from './build.ts'
import { eventually } from './eventually.ts'
import { findFreePort } from './ports.ts'
import { type Daemon, run, startDaemon, tailOf } from './processes.ts'

export interface ApiserverOptions {
  /**
   * The gate DynamicKubeletConfig. false: `configSource` is dropped, as by 1.26 and later. Default:
   * true.
   */
  readonly dynamicKubeletConfig?: boolean
  /** Default: Node and RBAC. */
  readonly authorizationModes?: readonly ('Node' | 'RBAC' | 'AlwaysAllow')[]
  /**
   * `new`: one that admits by policy and binds tokens to nodes; see `build-modern-kubernetes.ts`.
   * Default: the one with Dynamic Kubelet Configuration.
   */
  readonly release?: 'old' | 'new'
  /** Whether it and etcd may use more than one processor at a time. Default: they may not. */
  readonly onAllProcessors?: boolean
  /** Added to kube-apiserver's command line. */
  readonly apiserverFlags?: readonly string[]
}

export interface Servers {
  readonly url: string
  readonly hasConfigSource: boolean
  startEtcd(): Promise<void>
  /** Needs the certificates in the directory, and etcd. */
  startApiserver(): Promise<void>
  stopApiserver(): Promise<void>
  signalApiserver(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Puts a value into etcd, past the API server. */
  putStored(key: string, value: string): Promise<void>
  /** Does `work` on etcd's data directory while both are down. */
  whileDown(work: (dataDirectory: string) => Promise<void>): Promise<void>
  stop(): Promise<void>
}

/** The first minor with neither the gate nor the fields (CHANGELOG-1.26). */
const FIRST_WITHOUT_CONFIG_SOURCE = 26
const readyMs = 60_000
/** kube-apiserver lets open watches go on for a minute; a test does not wait for that. */
const graceMs = 2_000
/** Fewer collections of garbage, for more memory. */
const GO = { GOGC: '400' }
/** Of several threads that look for work, most look in vain. */
const ON_ONE_PROCESSOR = { ...GO, GOMAXPROCS: '1' }

export async function createServers(binaries: Binaries, directory: string, options: ApiserverOptions): Promise<Servers> {
  const etcdUrl = `http://127.0.0.1:${await findFreePort()}`
  const apiserverPort = await findFreePort()
  const url = `https://127.0.0.1:${apiserverPort}`
  const dataDirectory = join(directory, 'etcd')
  const { minor } = await readVersion(binaries.kubeApiserver)
  const env = options.onAllProcessors === true ? GO : ON_ONE_PROCESSOR
  let etcd: Daemon | undefined
  let apiserver: Daemon | undefined

  const startEtcd = async (): Promise<void> => {
    etcd = startDaemon('etcd', binaries.etcd, etcdFlags(dataDirectory, etcdUrl), join(directory, 'etcd.log'), env)
    await untilReady(etcd, () => answersOk((done) => getHttp(`${etcdUrl}/health`, done)))
  }
  const startApiserver = async (): Promise<void> => {
    const flags = apiserverFlags(directory, etcdUrl, apiserverPort, options, minor)
    apiserver = startDaemon('kube-apiserver', binaries.kubeApiserver, flags, join(directory, 'kube-apiserver.log'), env)
    // One for all connections: to make it takes more CPU than a connection.
    const agent = new Agent({ secureContext: createSecureContext({ ca: readFileSync(join(directory, 'ca.crt')) }) })
    await untilReady(apiserver, () => answersOk((done) => getHttps(`${url}/readyz`, { agent }, done)))
  }
  const stopApiserver = async (): Promise<void> => apiserver?.stop(graceMs)
  return {
    url,
    hasConfigSource: minor < FIRST_WITHOUT_CONFIG_SOURCE && (options.dynamicKubeletConfig ?? true),
    startEtcd,
    startApiserver,
    stopApiserver,
    signalApiserver: (signal) => apiserver?.signal(signal),
    async putStored(key, value) {
      const [key64, value64] = [key, value].map((text) => Buffer.from(text).toString('base64'))
      const body = JSON.stringify({ key: key64, value: value64 })
      const answer = await fetch(`${etcdUrl}/v3/kv/put`, { method: 'POST', body, signal: AbortSignal.timeout(10_000) })
      if (!answer.ok) throw new Error(`etcd does not take ${key}: ${answer.status} ${await answer.text()}`)
    },
    async whileDown(work) {
      await stopApiserver()
      await etcd?.stop()
      await work(dataDirectory)
      await startEtcd()
      await startApiserver()
    },
    async stop() {
      await Promise.all([apiserver?.stop(0), etcd?.stop(0)])
    },
  }
}

function etcdFlags(dataDirectory: string, url: string): string[] {
  return [
    '--data-dir',
    dataDirectory,
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    // The server has no peers; 0 takes any port, on loopback rather than on its default of all
    // addresses.
    ...['--listen-peer-urls', 'http://127.0.0.1:0'],
    // The server elects itself after up to one election timeout, which is a second by default. With
    // shorter heartbeats it wakes more often.
    ...['--heartbeat-interval', '100', '--election-timeout', '500'],
  ]
}

function apiserverFlags(directory: string, etcdUrl: string, port: number, options: ApiserverOptions, minor: number): string[] {
  const file = (...names: string[]): string => join(directory, ...names)
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    // Loopback may not be announced in an Endpoints object, and nobody here looks for one.
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${file('apiserver')}`,
    `--tls-cert-file=${file('server', 'tls.crt')}`,
    `--tls-private-key-file=${file('server', 'tls.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--kubelet-client-certificate=${file('kubelet-client', 'tls.crt')}`,
    `--kubelet-client-key=${file('kubelet-client', 'tls.key')}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--service-account-key-file=${file('service-account.key')}`,
    `--service-account-signing-key-file=${file('service-account.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-cluster-ip-range=10.96.0.0/16',
    `--authorization-mode=${(options.authorizationModes ?? ['Node', 'RBAC']).join(',')}`,
    '--enable-admission-plugins=NodeRestriction',
    // As kubeadm has it.
    '--allow-privileged=true',
    // No controller manager makes the accounts that it asks for.
    '--disable-admission-plugins=ServiceAccount',
    // A gate that a server does not know keeps it from starting. One from 1.26 on drops the fields
    // without it.
    ...(minor < FIRST_WITHOUT_CONFIG_SOURCE ? [`--feature-gates=DynamicKubeletConfig=${options.dynamicKubeletConfig ?? true}`] : []),
    ...(options.apiserverFlags ?? []),
  ]
}

const versions = new Map<string, Promise<{ readonly minor: number }>>()

/** Asks each binary once: to start it takes a twentieth of a second of CPU. */
export function readVersion(binary: string): Promise<{ readonly minor: number }> {
  const known = versions.get(binary) ?? askVersion(binary)
  versions.set(binary, known)
  known.catch(() => versions.delete(binary))
  return known
}

/** `Kubernetes v1.20.2` */
async function askVersion(binary: string): Promise<{ readonly minor: number }> {
  const { stdout } = await run(binary, ['--version'])
  const minor = Number(/^Kubernetes v1\.(\d+)\./.exec(stdout)?.[1])
  if (!Number.isInteger(minor)) throw new Error(`${binary} has an unknown version: ${stdout}`)
  return { minor }
}

async function untilReady(daemon: Daemon, isReady: () => Promise<boolean>): Promise<void> {
  try {
    const outcome = await eventually(async () => daemon.ended() ?? ((await isReady()) ? 'ready' : undefined), {
      what: `${daemon.name} answers`,
      timeoutMs: readyMs,
    })
    if (outcome !== 'ready') throw new Error(`it ended: ${outcome}`)
  } catch (cause) {
    await daemon.stop(0)
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${daemon.name} did not start: ${why}\n--- end of its log\n${tailOf(daemon.logFile)}`, { cause })
  }
}

type Get = (done: (response: IncomingMessage) => void) => ClientRequest

/** Whether the answer to one request is 200. */
function answersOk(send: Get): Promise<boolean> {
  return new Promise((resolve) => {
    const request = send((response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.setTimeout(2_000, () => request.destroy())
    request.once('error', () => resolve(false))
  })
}
