// SPDX-License-Identifier: Apache-2.0
/**
 * The calls of CRI that the agent makes. Pure but for its connections, which it is given. It calls
 * version v1, and v1alpha2 of a runtime that does not know v1 (containerd before 1.6), and
 * remembers which. containerd 2.0 no longer knows v1alpha2.
 */

import type { CgroupDriver, ContainerRuntime, RuntimeAnswer, RuntimeFault, RuntimePods, RuntimeStatus } from '../ports/probes.ts'
import { codedError, errorCode, errorMessage } from '../values/errors.ts'
import { decodeCgroupDriver, decodeImageDirectory, decodePods, decodeStatus } from './cri-messages.ts'
import type { GrpcAnswer } from './grpc-channel.ts'

/** A connection to a runtime. */
interface RuntimeConnection {
  call(path: string): Promise<GrpcAnswer>
  close(): void
}

const VERSIONS = ['v1', 'v1alpha2'] as const
type CriVersion = (typeof VERSIONS)[number]
type Method = 'Status' | 'ListPodSandbox' | 'ListContainers' | 'RuntimeConfig' | 'ImageFsInfo'

export class CriRuntime implements ContainerRuntime {
  readonly #connect: (socket: string) => RuntimeConnection
  /** The version of the runtime behind the socket that was asked last. */
  #known: { readonly socket: string; readonly version: CriVersion } | undefined

  /** @param connect must not throw: a connection that fails fails its calls */
  constructor(connect: (socket: string) => RuntimeConnection) {
    this.#connect = connect
  }

  probe(socket: string): Promise<RuntimeAnswer<RuntimeStatus>> {
    return this.#over(socket, async (session) => {
      const status = decodeStatus(await session.call('Status'))
      await session.call('ListPodSandbox')
      return status
    })
  }

  listPods(socket: string): Promise<RuntimeAnswer<RuntimePods>> {
    return this.#over(socket, async (session) => {
      // A pod that starts between the two calls has no container yet; the other way round a
      // container would have no sandbox.
      const containers = await session.call('ListContainers')
      return decodePods(await session.call('ListPodSandbox'), containers)
    })
  }

  cgroupDriver(socket: string): Promise<RuntimeAnswer<CgroupDriver | 'not-offered'>> {
    return this.#over(socket, async (session) => {
      // Finds the version: RuntimeConfig is not known to every runtime that has the service.
      await session.call('Status')
      const answer = await session.tryCall('RuntimeConfig')
      return answer === undefined ? 'not-offered' : (decodeCgroupDriver(answer) ?? 'not-offered')
    })
  }

  imageDirectory(socket: string): Promise<RuntimeAnswer<string | undefined>> {
    return this.#over(socket, async (session) => decodeImageDirectory(await session.call('ImageFsInfo')))
  }

  async #over<T>(socket: string, ask: (session: Session) => Promise<T>): Promise<RuntimeAnswer<T>> {
    const channel = this.#connect(socket)
    const session = new Session(channel, this.#known?.socket === socket ? this.#known.version : 'v1')
    try {
      const value = await ask(session)
      this.#known = { socket, version: session.version }
      return { ok: true, value }
    } catch (error) {
      return { ok: false, why: faultOf(error), detail: `${session.lastMethod} of ${socket}: ${errorMessage(error)}` }
    } finally {
      channel.close()
    }
  }
}

/** The calls over one connection, in the version of CRI that its runtime knows. */
class Session {
  readonly #channel: RuntimeConnection
  version: CriVersion
  lastMethod: Method = 'Status'

  constructor(channel: RuntimeConnection, version: CriVersion) {
    this.#channel = channel
    this.version = version
  }

  async call(method: Method): Promise<Buffer> {
    const answer = await this.#call(method, this.version)
    if (!isUnimplemented(answer)) return messageOf(answer)
    // Another version of the runtime may have been installed since it was asked last.
    const other = VERSIONS.find((version) => version !== this.version) ?? this.version
    const second = messageOf(await this.#call(method, other))
    this.version = other
    return second
  }

  /** undefined: this runtime does not know the method. */
  async tryCall(method: Method): Promise<Buffer | undefined> {
    const answer = await this.#call(method, this.version)
    return isUnimplemented(answer) ? undefined : messageOf(answer)
  }

  #call(method: Method, version: CriVersion): Promise<GrpcAnswer> {
    this.lastMethod = method
    const service = method === 'ImageFsInfo' ? 'ImageService' : 'RuntimeService'
    return this.#channel.call(`/runtime.${version}.${service}/${method}`)
  }
}

function isUnimplemented(answer: GrpcAnswer): boolean {
  return answer.kind === 'status' && answer.code === UNIMPLEMENTED
}

function messageOf(answer: GrpcAnswer): Buffer {
  if (answer.kind === 'ok') return answer.message
  if (answer.kind === 'denied') throw codedError(DENIED, answer.detail)
  throw isUnimplemented(answer) ? codedError(NOT_CRI, answer.detail) : new Error(answer.detail)
}

const DENIED = 'EACCES'
/** Code of google.rpc.Code. */
const UNIMPLEMENTED = 12
const NOT_CRI = 'UNIMPLEMENTED'

function faultOf(error: unknown): RuntimeFault {
  switch (errorCode(error)) {
    case DENIED:
      return 'not-allowed'
    case NOT_CRI:
      return 'not-cri'
    default:
      return 'down'
  }
}
