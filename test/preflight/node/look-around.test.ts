// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { lookAtNode, type NodeReaders } from '../../../src/preflight/node/look-around.ts'
import { NOTHING_KNOWN, NOTHING_NEEDED, type SurroundingNeeds } from '../../../src/preflight/node/surroundings.ts'
import { GIBIBYTE } from './node-options.ts'

const RUNTIME = '/run/containerd/containerd.sock'
const IMAGES = '/run/images.sock'
const fileSystem = { bytes: { capacity: GIBIBYTE, available: 1 }, inodes: undefined }

/** A node whose runtime and image service keep images where their sockets say. */
async function look(needs: Partial<SurroundingNeeds>, more: Partial<NodeReaders> = {}) {
  const asked: string[] = []
  const found = await lookAtNode(
    {
      lookAround: async ({ fileSystems }) => {
        asked.push(...fileSystems)
        return { ...NOTHING_KNOWN, fileSystems: new Map(fileSystems.map((path) => [path, fileSystem])) }
      },
      readRuntime: async (socket) => ({ fault: undefined, cgroup: undefined, imageDirectory: `${socket}/of-runtime` }),
      readImageService: async (socket) => ({ fault: undefined, imageDirectory: `${socket}/of-service` }),
      ...more,
    },
    { ...NOTHING_NEEDED, fileSystems: ['/k'], ...needs },
  )
  return { asked, found, measured: [...found.fileSystems.keys()] }
}

t.test('measures the file system of images where their service keeps them', async (t) => {
  t.same((await look({})).measured, ['/k'], 'no runtime is asked')
  const own = await look({ runtimeSocket: RUNTIME })
  t.same(own.measured, ['/k', `${RUNTIME}/of-runtime`])
  t.equal(own.found.runtime?.imageDirectory, `${RUNTIME}/of-runtime`)
  const service = await look({ runtimeSocket: RUNTIME, imageSocket: IMAGES })
  t.same(service.measured, ['/k', `${IMAGES}/of-service`])
  t.match(service.found, { runtime: { fault: undefined }, imageService: { fault: undefined } })
})

t.test('a runtime that does not tell where leaves that unknown', async (t) => {
  const down = { why: 'down', detail: 'no answer' } as const
  const silent = await look({ runtimeSocket: RUNTIME }, { readRuntime: async () => ({ fault: down, cgroup: undefined }) })
  t.same(silent.asked, ['/k'])
  t.match(silent.found.runtime, { fault: down })
  const service = { readImageService: async () => ({ fault: down }) }
  t.same((await look({ runtimeSocket: RUNTIME, imageSocket: IMAGES }, service)).asked, ['/k'], 'the runtime does not keep them')
})
