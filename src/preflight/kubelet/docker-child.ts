/**
 * The program that runs a probe of a kubelet that looks for Docker: `docker-child COMMAND
 * ARGUMENT...`. Up to 1.23 kubelet asks Docker for its directory, and without an answer asks again
 * for 5 s before it goes on (cadvisor, container/docker/factory.go, `RootDir`). This program
 * answers it, in the sandbox that both are in, and passes on what kubelet prints and how it exits.
 * Nothing else of Docker is there, and kubelet does not ask for more before it needs its container
 * runtime.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeEnd, runCommand } from '../../process/run-command.ts'

/** More than the sandbox and its systemd-run allow. */
const LIMITS = { timeoutMs: 600_000, maxOutputBytes: 8 << 20 }
const ANSWERS: readonly (readonly [path: RegExp, answer: object])[] = [
  [/\/info$/, { DockerRootDir: '/var/lib/docker', Driver: 'overlay2', ServerVersion: '19.03.0' }],
  [/\/version$/, { Version: '19.03.0', ApiVersion: '1.40' }],
]

const [command = '', ...args] = process.argv.slice(2)
const docker = createServer(({ url = '' }, response) => {
  const [, answer = {}] = ANSWERS.find(([path]) => path.test(url)) ?? []
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
})
// Only this sandbox has this loopback interface.
docker.listen(0, '127.0.0.1')
await new Promise((resolve) => docker.once('listening', resolve))
const { port } = docker.address() as AddressInfo
const { end, stdout, stderr } = await runCommand(command, [...args, `--docker=tcp://127.0.0.1:${port}`], LIMITS)
process.stdout.write(stdout)
process.stderr.write(stderr)
if (end.kind !== 'exited') process.stderr.write(`kubelet: ${describeEnd(end)}\n`)
process.exit(end.kind === 'exited' ? end.code : 1)
