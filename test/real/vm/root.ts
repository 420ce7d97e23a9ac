// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of the virtual machine's disk: a Debian with a kernel of its own, sshd, by which
 * commands enter it, and containerd. The cache keeps it, as it keeps the roots of the other nodes.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type NodeRoot, type RootRecipe, rootOf } from '../node/root.ts'

const RECIPE: RootRecipe = {
  version: 1,
  suite: 'trixie',
  include: [
    ...['systemd', 'systemd-sysv', 'dbus', 'ca-certificates', 'iproute2', 'iptables', 'kmod', 'procps', 'util-linux', 'mount'],
    ...['linux-image-cloud-amd64', 'initramfs-tools', 'openssh-server', 'containerd', 'runc', 'busybox-static'],
  ],
  mask: ['apt-daily.timer', 'apt-daily-upgrade.timer'],
  drop: ['usr/share/locale', 'usr/share/man', 'usr/share/doc', 'etc/dpkg/dpkg.cfg.d/99mmdebstrap'],
}

export function ensureMachineRoot(): Promise<NodeRoot> {
  return rootOf(RECIPE)
}

/** The files that qemu starts by itself, since the disk has no boot loader. */
export function bootFilesOf({ tree }: NodeRoot): { readonly kernel: string; readonly initrd: string } {
  const boot = join(tree, 'boot')
  const find = (prefix: string): string => {
    const name = readdirSync(boot).find((one) => one.startsWith(prefix))
    if (name === undefined) throw new Error(`${boot} has no ${prefix}: remove ${tree}, which is incomplete`)
    return join(boot, name)
  }
  return { kernel: find('vmlinuz-'), initrd: find('initrd.img-') }
}
