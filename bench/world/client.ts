// SPDX-License-Identifier: Apache-2.0
/** The benchmark's client for the process of its world. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Answer, World, WorldOptions, WorldPaths } from './protocol.ts'

/** A tmpfs on Linux. */
const MEMORY_ROOT = '/dev/shm'

export interface OpenWorld extends Omit<World, 'open'> {
  readonly paths: WorldPaths
}

const PLAIN: WorldOptions = { systemctlCostUs: 0, kubeletVersion: undefined, kubelet: undefined, kubeletFlags: [], format: 'json' }

export async function openWorld(options: Partial<WorldOptions> = {}): Promise<OpenWorld> {
  const dir = mkdtempSync(join(tmpdir(), 'kca-bench-'))
  const memoryDir = mkdtempSync(join(MEMORY_ROOT, 'kca-bench-'))
  const child = fork(fileURLToPath(new URL('./main.ts', import.meta.url)))
  const world = connect(child)
  const paths = await world.open({ ...PLAIN, ...options, dir, memoryDir })
  return {
    paths,
    change: world.change,
    active: world.active,
    heartbeat: world.heartbeat,
    firstWatch: world.firstWatch,
    async close() {
      await world.close()
      child.disconnect()
      for (const path of [dir, memoryDir]) rmSync(path, { recursive: true, force: true })
    },
  }
}

function connect(child: ChildProcess): World {
  const pending = new Map<number, (answer: Answer) => void>()
  let last = 0
  child.on('message', (answer: Answer) => {
    pending.get(answer.id)?.(answer)
    pending.delete(answer.id)
  })
  child.once('exit', (code) => {
    for (const [id, settle] of pending) settle({ id, ok: false, message: `the world's process exited with ${code}` })
  })
  const call =
    <M extends keyof World>(method: M) =>
    async (...args: Parameters<World[M]>): Promise<Awaited<ReturnType<World[M]>>> => {
      const id = ++last
      const answered = new Promise<Answer>((resolve) => pending.set(id, resolve))
      child.send({ id, method, args })
      const answer = await answered
      if (!answer.ok) throw new Error(`${method}: ${answer.message}`)
      return answer.result as Awaited<ReturnType<World[M]>>
    }
  return {
    open: call('open'),
    change: call('change'),
    active: call('active'),
    heartbeat: call('heartbeat'),
    firstWatch: call('firstWatch'),
    close: call('close'),
  }
}
