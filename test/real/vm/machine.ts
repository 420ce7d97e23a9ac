// SPDX-License-Identifier: Apache-2.0
/**
 * A virtual machine that boots: a kernel, systemd and control groups of its own, in qemu(1). Its
 * network is qemu's: the guest reaches the loopback of the machine that runs the tests by the
 * address `HOST`, and nothing else reaches the guest but ssh, by a forwarded port. Commands enter
 * by ssh.
 */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../lab/eventually.ts'
import { findFreePort } from '../lab/ports.ts'
import { type CommandOptions, type CommandOutput, type Daemon, run, startDaemon, tailOf } from '../lab/processes.ts'
import type { NodeRoot } from '../node/root.ts'
import { bootFilesOf } from './root.ts'

/** The machine that runs the tests, as the guest sees it. */
export const HOST = '10.0.2.2'
/** The guest itself. */
const GUEST = '10.0.2.15'

/**
 * A processor that qemu emulates well. Without KVM, the instruction cmpxchg16b (cx16) makes the
 * kernel panic after a while.
 */
const EMULATED = ['-accel', 'tcg,thread=multi', '-cpu', 'Haswell-noTSX,-pcid,-spec-ctrl,-cx16']
const KERNEL_PARAMETERS = 'root=/dev/vda rw console=ttyS0 mitigations=off quiet'
const DISK_MIB = 4_096
/** Only ends a hang: a busy machine took 203 s to boot it. */
const BOOT_MS = 900_000

interface MachineOptions {
  readonly name: string
  /** For its disk, its key and its console. */
  readonly directory: string
  /** By path in the guest: what its disk has beside the root. */
  readonly files: Readonly<Record<string, string | Buffer>>
}

const SSH = Object.entries({
  BatchMode: 'yes',
  StrictHostKeyChecking: 'no',
  UserKnownHostsFile: '/dev/null',
  LogLevel: 'ERROR',
  ConnectTimeout: '10',
}).flatMap(([name, value]) => ['-o', `${name}=${value}`])

export class Machine {
  readonly name: string
  readonly #directory: string
  readonly #root: NodeRoot
  readonly #sshPort: number
  #qemu: Daemon | undefined

  private constructor({ name, directory }: MachineOptions, root: NodeRoot, sshPort: number) {
    this.name = name
    this.#directory = directory
    this.#root = root
    this.#sshPort = sshPort
  }

  /** Not booted yet. */
  static async create(root: NodeRoot, options: MachineOptions): Promise<Machine> {
    const { name, directory, files } = options
    await mkdir(directory, { recursive: true })
    const machine = new Machine(options, root, await findFreePort())
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', machine.#path('key')])
    const tree = machine.#path('tree')
    await run('cp', ['--archive', '--reflink=auto', root.tree, tree], { timeoutMs: 300_000 })
    const own = { ...guestFiles(name), '/root/.ssh/authorized_keys': await readFile(machine.#path('key.pub')) }
    for (const [path, content] of Object.entries({ ...own, ...files })) {
      await mkdir(join(tree, path, '..'), { recursive: true })
      await writeFile(join(tree, path), content, { mode: modeOf(path) })
    }
    const wants = join(tree, 'etc/systemd/system/multi-user.target.wants')
    await mkdir(wants, { recursive: true })
    await symlink('/usr/lib/systemd/system/systemd-networkd.service', join(wants, 'systemd-networkd.service'))
    const [program, ...args] = root.tool('mke2fs', '-q', '-t', 'ext4', '-m', '0', '-d', tree, machine.#path('disk.img'), `${DISK_MIB}M`)
    await run(program, args, { timeoutMs: 300_000 })
    await run('rm', ['-rf', tree])
    return machine
  }

  async boot(): Promise<void> {
    const { kernel, initrd } = bootFilesOf(this.#root)
    const disk = `file=${this.#path('disk.img')},format=raw,if=virtio,cache=unsafe`
    const network = `user,id=net,hostfwd=tcp:127.0.0.1:${this.#sshPort}-:22`
    const args = [
      ...['-nodefaults', '-no-user-config', '-display', 'none', '-serial', 'stdio', '-no-reboot'],
      ...[...EMULATED, '-smp', '2', '-m', '4096', '-drive', disk, '-netdev', network, '-device', 'virtio-net-pci,netdev=net'],
      ...['-device', 'virtio-rng-pci', '-kernel', kernel, '-initrd', initrd, '-append', KERNEL_PARAMETERS],
    ]
    const qemu = startDaemon(this.name, 'qemu-system-x86_64', args, this.#path('console.log'))
    this.#qemu = qemu
    const isUp = async () => {
      const ended = qemu.ended()
      if (ended !== undefined) throw new Error(`it ended: ${ended}`)
      return /^(running|degraded)$/m.test((await this.exec('systemctl', ['is-system-running', '--wait'])).stdout)
    }
    try {
      await eventually(isUp, { what: `${this.name} has booted`, timeoutMs: BOOT_MS, intervalMs: 1_000 })
    } catch (cause) {
      throw new Error(`${this.name} did not boot\n--- end of its console\n${tailOf(this.#path('console.log'))}`, { cause })
    }
  }

  /** As a person who reboots it. */
  async reboot(): Promise<void> {
    // The connection ends with the machine.
    await this.exec('systemctl', ['reboot']).catch(() => {})
    await eventually(() => this.#qemu?.ended() !== undefined, { what: `${this.name} has gone down`, timeoutMs: BOOT_MS })
    await this.boot()
  }

  /** Runs a command in the guest; throws a `CommandError` if it fails. */
  exec(file: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandOutput> {
    // sshd hands the words to a shell.
    const command = [file, ...args].map(quote).join(' ')
    const where = ['-i', this.#path('key'), '-p', String(this.#sshPort), 'root@127.0.0.1', command]
    return run('ssh', [...SSH, ...where], { timeoutMs: 120_000, ...options })
  }

  /** Copies a file of the machine that runs the tests into the guest. */
  async copy(from: string, to: string): Promise<void> {
    const args = [...SSH, '-i', this.#path('key'), '-P', String(this.#sshPort), from, `root@127.0.0.1:${to}`]
    await run('scp', args, { timeoutMs: 300_000 })
  }

  /** Makes or replaces a file of the guest. */
  async write(path: string, text: string): Promise<void> {
    await this.exec('mkdir', ['-p', join(path, '..')])
    await this.exec('tee', [path], { input: text })
  }

  async stop(): Promise<void> {
    await this.#qemu?.stop(0)
    await run('rm', ['-rf', this.#directory])
  }

  #path(name: string): string {
    return join(this.#directory, name)
  }
}

/** For the shell of the guest (POSIX, 2.2.2 Single-Quotes). */
function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** Programs are executable, and nobody else may read what is secret. */
function modeOf(path: string): number {
  if (path.startsWith('/usr/bin/')) return 0o755
  return /\.(conf|pem)$|authorized_keys$/.test(path) && !path.startsWith('/etc/systemd/') ? 0o600 : 0o644
}

function guestFiles(name: string): Record<string, string> {
  return {
    '/etc/hostname': `${name}\n`,
    '/etc/hosts': `127.0.0.1 localhost\n${GUEST} ${name}\n`,
    '/etc/resolv.conf': 'nameserver 10.0.2.3\n',
    '/etc/machine-id': '0123456789abcdef0123456789abcdef\n',
    '/etc/systemd/network/20-wired.network': `[Match]\nName=en*\n[Network]\nAddress=${GUEST}/24\nGateway=${HOST}\n`,
  }
}
