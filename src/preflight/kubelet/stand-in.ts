// SPDX-License-Identifier: Apache-2.0
/**
 * The program that runs a probe of a kubelet beside what that looks for, in the sandbox that both
 * are in. Passes on what kubelet prints and how it exits.
 *
 * `stand-in docker COMMAND ARGUMENT...`: up to 1.23 kubelet asks Docker for its directory, and
 * without an answer asks again for 5 s before it goes on (cadvisor, container/docker/factory.go,
 * `RootDir`). Nothing else of Docker is there, and kubelet does not ask for more before it needs
 * its container runtime.
 *
 * `stand-in runtime SOCKET NETWORK COMMAND ARGUMENT...`: a container runtime (k8s.io/cri-api,
 * runtime/v1/api.proto) that is there and never ready. Kubelet makes all of its parts and serves,
 * and then waits for the runtime: it starts no pod, writes no control group and asks systemd for
 * nothing before that is ready (`updateRuntimeUp` and `syncLoop`, pkg/kubelet/kubelet.go). This
 * program ends it there, and says so. In the network that it must not be in, it starts no kubelet.
 */
import { readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describeEnd, runCommand } from '../../process/run-command.ts'
import { WAITS_FOR_RUNTIME } from './judgement.ts'

/** More time than the sandbox and its systemd-run allow. */
const LIMITS = { timeoutMs: 600_000, maxOutputBytes: 8 << 20, keepsEnds: true }
const ANSWERS: readonly (readonly [path: RegExp, answer: object])[] = [
  [/\/info$/, { DockerRootDir: '/var/lib/docker', Driver: 'overlay2', ServerVersion: '19.03.0' }],
  [/\/version$/, { Version: '19.03.0', ApiVersion: '1.40' }],
]

/** Resolves with the flag that leads kubelet to it. */
async function standInForDocker(): Promise<string> {
  const docker = createServer(({ url = '' }, response) => {
    const [, answer = {}] = ANSWERS.find(([path]) => path.test(url)) ?? []
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
  })
  // Only this sandbox has this loopback interface.
  docker.listen(0, '127.0.0.1')
  await new Promise((resolve) => docker.once('listening', resolve))
  const { port } = docker.address() as AddressInfo
  return `--docker=tcp://127.0.0.1:${port}`
}

/** A field of protobuf that has less than 128 bytes, as all here have. */
function field(number: number, content: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), Buffer.from(content.toString('latin1'), 'latin1')])
}

/** `kubeRuntimeAPIVersion`, pkg/kubelet/kuberuntime: kubelet goes on with no other. */
const VERSION = Buffer.concat([field(1, '0.1.0'), field(2, 'none'), field(3, '0.0.0'), field(4, 'v1')])
/** Two conditions that are not met: a status of false is not written. */
const STATUS = field(1, Buffer.concat(['RuntimeReady', 'NetworkReady'].map((type) => field(1, field(1, type)))))
/** By the names of methods. Kubelet takes no answer to any other for a reason to exit. */
const MESSAGES: Readonly<Record<string, Buffer>> = { Version: VERSION, Status: STATUS, ImageFsInfo: Buffer.alloc(0) }
const UNIMPLEMENTED = 12

/**
 * Kubelet asks for the status as soon as all of its parts are made: twice at once, or in 1.30 again
 * after 5 s (`Run`). From 1.36 on it asks once before (`NewMainKubelet`).
 */
const ASKS_WHEN_MADE = 2
/** For the listeners, which it opens at the same moment, and whose failure ends it at once. */
const SETTLE_MS = 500

/** @param onWait called once, when kubelet only waits */
async function standInForRuntime(socket: string, onWait: () => void): Promise<void> {
  let asked = 0
  const runtime = createHttp2Server()
  runtime.on('session', (session) => session.on('error', () => {}))
  runtime.on('stream', (stream, { ':path': path = '' }) => {
    const method = path.slice(path.lastIndexOf('/') + 1)
    if (method === 'Status' && ++asked === ASKS_WHEN_MADE) setTimeout(onWait, SETTLE_MS)
    reply(stream, Object.hasOwn(MESSAGES, method) ? MESSAGES[method] : undefined)
  })
  runtime.listen(socket)
  await new Promise((resolve) => runtime.once('listening', resolve))
}

/** As gRPC has it over HTTP/2 (PROTOCOL-HTTP2.md of grpc/grpc). */
function reply(stream: ServerHttp2Stream, message: Buffer | undefined): void {
  const headers = { ':status': 200, 'content-type': 'application/grpc' }
  stream.on('error', () => {})
  if (message === undefined) {
    stream.respond({ ...headers, 'grpc-status': UNIMPLEMENTED }, { endStream: true })
    return
  }
  const frame = Buffer.alloc(5)
  frame.writeUInt32BE(message.length, 1)
  stream.respond(headers, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }))
  stream.end(Buffer.concat([frame, message]))
}

async function run([command = '', ...args]: readonly string[], signal?: AbortSignal): Promise<never> {
  const { end, stdout, stderr } = await runCommand(command, args, { ...LIMITS, ...(signal && { signal }) })
  process.stdout.write(stdout)
  process.stderr.write(stderr)
  if (end.kind === 'aborted') process.stderr.write(`\n${WAITS_FOR_RUNTIME}\n`)
  else if (end.kind !== 'exited') process.stderr.write(`kubelet: ${describeEnd(end)}\n`)
  // systemd is to see it: of a kubelet that was killed, no message is the last one.
  if (end.kind === 'signalled') process.kill(process.pid, 'SIGKILL')
  process.exit(end.kind === 'exited' ? end.code : 1)
}

const [kind, ...words] = process.argv.slice(2)
if (kind === 'docker') await run([...words, await standInForDocker()])
const [socket = '', network = '', ...command] = words
/**
 * systemd warns and goes on in the network of the node where it is not permitted to make another
 * one (`exec_child` and its successor, src/core). There a kubelet finds its ports taken by the one
 * that runs, or takes them from it. This is systemd's own status for a network that failed
 * (systemd.exec(5)).
 */
const EXIT_NETWORK = 225
if (readlinkSync('/proc/self/ns/net') === network) process.exit(EXIT_NETWORK)
const waiting = new AbortController()
await standInForRuntime(socket, () => waiting.abort())
await run(command, waiting.signal)
