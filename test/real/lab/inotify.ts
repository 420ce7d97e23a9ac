// SPDX-License-Identifier: Apache-2.0
/**
 * How many nodes the kernel lets the lab run side by side. The instances of inotify(7) that one
 * user may have are counted for the whole machine, containers of root included. A node takes some
 * 15 of them: its systemd 5, kubelet 6, and one each its containerd, dbus, logind, kube-apiserver
 * and agent. The default of 128 is enough for eight nodes, less whatever else the user runs; past
 * that, kubelet and containerd fail to start with `too many open files`.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = '/proc/sys/fs/inotify/max_user_instances'
const PER_NODE = 20
/** For whatever else the same user runs. */
const OTHERS = 28
/** For all nodes that the lab could want, and for a second run beside the first. */
const ENOUGH = 512

interface InstanceLimit {
  read(): number
  write(limit: number): void
}

const KERNEL: InstanceLimit = {
  read: () => Number(readFileSync(FILE, 'utf8')),
  write: (limit) => writeFileSync(FILE, String(limit)),
}

/**
 * Raises the limit if it is low. It stays raised. Returns how many of the nodes there may be at
 * once: fewer, which it reports, where it must not be raised, as in a container with a read-only
 * /proc/sys.
 */
export function allowNodes(nodes: number, report: (line: string) => void = console.log, kernel: InstanceLimit = KERNEL): number {
  const limit = kernel.read()
  if (limit >= ENOUGH) return nodes
  try {
    kernel.write(ENOUGH)
    return nodes
  } catch (error) {
    const possible = Math.max(1, Math.min(nodes, Math.floor((limit - OTHERS) / PER_NODE)))
    const reason = error instanceof Error ? error.message : String(error)
    report(`fs.inotify.max_user_instances is ${limit} and cannot be raised here: ${reason}`)
    report(
      `at most ${possible} of ${nodes} nodes run at once; for all of them: sysctl fs.inotify.max_user_instances=${ENOUGH} (as root, on the host)`,
    )
    return possible
  }
}
