// SPDX-License-Identifier: Apache-2.0
/**
 * The cost of `kubectl kubelet-config get`, and of `apply` with values that are computed on each
 * node, for a fleet of 5,000: time and the most resident memory of the built plugin, without its
 * helper, against the test API server in this process. The server shares the machine, so its time
 * counts too. The floor is the plugin with one Node.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { type ApiServer, startApiServer } from '../../demo/api-server/server.ts'
import { nodeObject } from '../../test/command/plugin/world.ts'
import { median } from '../statistics.ts'
import type { Measured } from './figure.ts'

const NODES = 5000
const LIMIT_SECONDS = 3
const APPLY_SECONDS = 5
const LIMIT_MIB = 150
const LOOK_EVERY_MS = 5
const GET = ['get']
const APPLY = ['apply', '-f', resolve('deploy/recipes/computed/gke.yaml'), 'node-config', '--dry-run']

export async function measurePlugin(runs: number): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'kca-plugin-'))
  const server = await startApiServer({ storesConfigSource: false, historyLimit: 10 })
  try {
    const program = join(directory, 'kubectl-kubelet_config')
    writeFileSync(program, `import(${JSON.stringify(resolve('dist/kubelet-cfg-agent.mjs'))})\n`)
    const kubeconfig = join(directory, 'config')
    writeFileSync(kubeconfig, server.kubeconfig())
    putNode(server, 0)
    const started = { program, kubeconfig }
    const floor = await runOften(GET, started, runs)
    const applyFloor = await runOften(APPLY, started, runs)
    for (let index = 1; index < NODES; index++) putNode(server, index)
    const bytes = JSON.stringify(server.objects.get('Node', 'node-0')).length
    const whole = await runOften(GET, started, runs)
    const applied = await runOften(APPLY, started, runs)
    const applySeconds = median(applied.map((run) => run.seconds))
    const seconds = median(whole.map((run) => run.seconds))
    const mib = Math.max(...whole.map((run) => run.mib))
    return {
      figures: [
        {
          name: `plugin: get of ${NODES} nodes, p50`,
          unit: 's',
          agent: seconds,
          floor: median(floor.map((run) => run.seconds)),
          result: `${seconds.toFixed(2)} s`,
          target: `<= ${LIMIT_SECONDS} s`,
          met: seconds <= LIMIT_SECONDS,
        },
        {
          name: `plugin: get of ${NODES} nodes, most resident memory`,
          unit: 'MiB',
          agent: mib,
          floor: Math.max(...floor.map((run) => run.mib)),
          result: `${mib.toFixed(0)} MiB`,
          target: `<= ${LIMIT_MIB} MiB`,
          met: mib <= LIMIT_MIB,
        },
        {
          name: `plugin: apply of computed values to ${NODES} nodes, p50`,
          unit: 's',
          agent: applySeconds,
          floor: median(applyFloor.map((run) => run.seconds)),
          result: `${applySeconds.toFixed(2)} s`,
          target: `<= ${APPLY_SECONDS} s`,
          met: applySeconds <= APPLY_SECONDS,
        },
      ],
      details: { nodes: NODES, bytesOfANode: bytes, whole, floor, applied, applyFloor },
    }
  } finally {
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** As large as a Node of a cloud: 50 images with two names each, as kubelet reports them. */
function putNode(server: ApiServer, index: number): void {
  const node = nodeObject(`node-${index}`, { config: 'node-config', said: { contentHash: 'a'.repeat(64) } })
  const images = Array.from({ length: 50 }, (_, image) => ({
    names: [`registry.example/some/image-${image}@sha256:${'ab'.repeat(32)}`, `registry.example/some/image-${image}:v1.${image}`],
    sizeBytes: 100_000_000 + image,
  }))
  const capacity = { cpu: String(4 << (index % 3)), memory: `${16 << (index % 3)}Gi` }
  server.objects.put({ ...node, spec: { podCIDR: '10.0.0.0/24' }, status: { ...node.status, images, capacity } })
}

interface Run {
  readonly seconds: number
  readonly mib: number
}

interface Started {
  readonly program: string
  readonly kubeconfig: string
}

async function runOften(command: readonly string[], started: Started, runs: number): Promise<Run[]> {
  const all: Run[] = []
  for (let index = 0; index < runs; index++) all.push(await runOnce(command, started))
  return all
}

async function runOnce(command: readonly string[], { program, kubeconfig }: Started): Promise<Run> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [program, ...command, '--kubeconfig', kubeconfig], { stdio: ['ignore', 'pipe', 'inherit'] })
  let lines = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) lines += 1
  })
  const ended = new Promise<number | null>((done) => child.once('close', done))
  let mostKb = 0
  while (child.exitCode === null) {
    mostKb = Math.max(mostKb, readPeakKb(child.pid))
    await after(LOOK_EVERY_MS)
  }
  const code = await ended
  if (code !== 0 || lines < 4) throw new Error(`the plugin exited with ${code} after ${lines} lines`)
  return { seconds: (performance.now() - startedMs) / 1000, mib: mostKb / 1024 }
}

/** `VmHWM` of proc_pid_status(5); 0: the process has ended. */
function readPeakKb(pid: number | undefined): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
