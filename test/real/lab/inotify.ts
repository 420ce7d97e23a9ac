/**
 * How many nodes the kernel lets the lab run side by side. The instances of inotify(7) that one user may have are counted for the whole machine, containers of root
 * included. A node takes some 15 of them: its systemd 5, kubelet 6, and one each its containerd, dbus, logind, kube-apiserver and agent. The default of 128 is
 * enough for eight nodes, less whatever else the user runs; past that, kubelet and containerd fail to start with `too many open files`.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = '/proc/sys/fs/inotify/max_user_instances'
const PER_NODE = 20
/** Of the person who runs the tests: an editor, a file manager. */
const OTHERS = 28

export interface InstanceLimit {
  read(): number
  write(limit: number): void
}

const KERNEL: InstanceLimit = {
  read: () => Number(readFileSync(FILE, 'utf8')),
  write: (limit) => writeFileSync(FILE, String(limit)),
}

/**
 * Raises the limit for that many nodes, if it is lower. It stays raised. Returns how many nodes there may be at once: fewer, which it reports, where the kernel does not
 * let it, as in a container without its own /proc/sys.
 */
export function allowNodes(nodes: number, report: (line: string) => void = console.log, kernel: InstanceLimit = KERNEL): number {
  const wanted = OTHERS + nodes * PER_NODE
  const limit = kernel.read()
  if (limit >= wanted) return nodes
  try {
    kernel.write(wanted)
    return nodes
  } catch (error) {
    const possible = Math.max(1, Math.floor((limit - OTHERS) / PER_NODE))
    report(
      `${possible} of ${nodes} nodes run at once: fs.inotify.max_user_instances is ${limit} and cannot be raised here (${error instanceof Error ? error.message : error}); as root on the host: sysctl fs.inotify.max_user_instances=${wanted}`,
    )
    return possible
  }
}
