// SPDX-License-Identifier: Apache-2.0
/**
 * The one container image of a node, made by hand, since a node has no registry: a static busybox
 * that sleeps until it is asked to end. It is the sandbox (`pause`) as well as the container of a
 * pod. Its form is that of `docker save`, which `ctr images import` takes.
 */
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from '../lab/processes.ts'

export const IMAGE_NAME = 'lab.invalid/pause:1'
/** Where it is in the root of a node. */
export const IMAGE_FILE = '/usr/lib/lab/pause.tar'

/** As process 1 of its container busybox gets no signal that it does not handle. */
const SLEEP = 'trap exit TERM; sleep 2147483647 & wait'
const CREATED = '1970-01-01T00:00:00Z'
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

export async function writeImage(busybox: string, destination: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'kubelet-cfg-agent-image-'))
  try {
    await mkdir(join(work, 'rootfs/bin'), { recursive: true })
    await copyFile(busybox, join(work, 'rootfs/bin/busybox'))
    const layer = join(work, 'layer.tar')
    await run('tar', ['--create', '--file', layer, '--directory', join(work, 'rootfs'), '.'])
    const digest = createHash('sha256')
      .update(await readFile(layer))
      .digest('hex')
    const config = {
      architecture: ARCHITECTURES[process.arch],
      os: 'linux',
      created: CREATED,
      config: { Entrypoint: ['/bin/busybox', 'sh', '-c', SLEEP] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
      history: [{ created: CREATED }],
    }
    await writeFile(join(work, 'config.json'), JSON.stringify(config))
    const manifest = [{ Config: 'config.json', RepoTags: [IMAGE_NAME], Layers: ['layer.tar'] }]
    await writeFile(join(work, 'manifest.json'), JSON.stringify(manifest))
    await mkdir(dirname(destination), { recursive: true })
    await run('tar', ['--create', '--file', destination, '--directory', work, 'manifest.json', 'config.json', 'layer.tar'])
  } finally {
    await rm(work, { recursive: true })
  }
}
