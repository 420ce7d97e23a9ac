// SPDX-License-Identifier: Apache-2.0
/**
 * A node's root in which the package is installed, and the agent neither enabled nor started. It is
 * made once for each package, in the lab's cache, since unpacking takes as much CPU as all else
 * that makes a node. Those that nobody used for a day go.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { cacheDirectory } from '../lab/build.ts'
import { withLock } from '../lab/lock.ts'
import { run } from '../lab/processes.ts'
import { ENVIRONMENT } from './container.ts'
import type { NodeRoot } from './root.ts'
import { copyWithOverlay } from './storage.ts'

const AGENT = 'kubelet-cfg-agent'
const PREFIX = 'packaged-'
const DAY_MS = 24 * 60 * 60_000

export async function ensurePackagedRoot(root: NodeRoot, deb: string): Promise<NodeRoot> {
  const hash = createHash('sha256')
    .update(basename(root.tree))
    .update(await readFile(deb))
  const made = join(cacheDirectory(), `${PREFIX}${hash.digest('hex').slice(0, 16)}`)
  await withLock(join(cacheDirectory(), 'packaged.lock'), async () => {
    if (!existsSync(made)) {
      await removeUnused()
      await makeRoot(root, deb, made)
    }
    const now = new Date()
    await utimes(made, now, now)
  })
  return { ...root, tree: join(made, 'tree'), usr: [join(made, 'usr'), ...root.usr] }
}

async function makeRoot(root: NodeRoot, deb: string, destination: string): Promise<void> {
  const work = `${destination}.making`
  const tree = join(work, 'tree')
  if (existsSync(work)) {
    // The process that makes the root may have been killed.
    await run('umount', ['--lazy', join(tree, 'usr')]).catch(() => {})
    await rm(work, { recursive: true })
  }
  const overlay = await copyWithOverlay(root, tree, join(work, 'home'))
  try {
    const inside = `/root/${basename(deb)}`
    await copyFile(deb, join(tree, inside))
    await run('chroot', [tree, ...ENVIRONMENT, 'dpkg', '--force-unsafe-io', '--install', inside])
    await run('chroot', [tree, ...ENVIRONMENT, 'systemctl', 'disable', AGENT])
    await rm(join(tree, inside))
  } finally {
    await overlay.unmount()
  }
  await rename(overlay.changes, join(work, 'usr'))
  await rm(join(work, 'home'), { recursive: true })
  await rename(work, destination)
}

async function removeUnused(): Promise<void> {
  for (const name of await readdir(cacheDirectory())) {
    const path = join(cacheDirectory(), name)
    if (name.startsWith(PREFIX) && Date.now() - (await stat(path)).mtimeMs > DAY_MS) await rm(path, { recursive: true, force: true })
  }
}
