// SPDX-License-Identifier: Apache-2.0
/**
 * The sandbox of a probe, as arguments of systemd-run(1). Pure. Uses only properties of
 * systemd.exec(5), systemd.resource-control(5) and systemd.service(5) that systemd 239 knows, the
 * oldest one in a distribution that still gets new kubelets: with an unknown property systemd would
 * not start the probe.
 *
 * The probe runs as uid 0 to read files that only root can read, but has no capabilities, no
 * network, and no access to systemd or the container runtime (a kubelet that finds systemd asks it
 * for a scope and creates slices). It writes only to a small file system in memory that ends with
 * it. Where it is to find a container runtime that `stand-in.ts` stands for, it may connect to Unix
 * sockets. Those through which it could act on the node are hidden, and kubelet connects to none of
 * them before its runtime is ready, which this one never is.
 */
import type { HowFar, JudgeStage } from './judgement.ts'

export interface SandboxLimits {
  readonly memoryMiB: number
  readonly seconds: Readonly<Record<JudgeStage, number>>
}

/**
 * Measured: kubelet 1.20 takes 55 to 80 MiB, 1.37 up to 85, and `stand-in.ts` some 50 beside it.
 * Each takes a fraction of a second in a stage, 1.37 half a second more where it accepts a config,
 * and 1.30 some 5 s.
 */
export const SANDBOX_LIMITS: SandboxLimits = { memoryMiB: 384, seconds: { load: 15, deep: 45 } }

const PROPERTIES = [
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'NoNewPrivileges=yes',
  'PrivateNetwork=yes',
  // Everything stays readable, since the config may name any file; nothing is writable. The first
  // leaves out homes and /dev, and beside `ProtectControlGroups=` also /run, in systemd 252 to 257.
  'ProtectSystem=strict',
  'ProtectHome=read-only',
  'ReadOnlyPaths=/run -/dev/shm -/dev/mqueue -/dev/hugepages',
  'ProtectKernelTunables=yes',
  'ProtectKernelModules=yes',
  'ProtectControlGroups=yes',
  'PrivateDevices=yes',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'LockPersonality=yes',
  'KeyringMode=private',
  'SystemCallArchitectures=native',
  'SystemCallFilter=~@mount @module @reboot @swap @raw-io @clock @cpu-emulation @obsolete',
  'SystemCallErrorNumber=EPERM',
  'UMask=0077',
  'LimitCORE=0',
  'MemorySwapMax=0',
  'TasksMax=512',
  'Nice=10',
  'CPUWeight=20',
  'OOMScoreAdjust=900',
  'TimeoutStopSec=1',
]

const FAMILIES = 'RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK'
/**
 * Kubelet reads OOM kills from /dev/kmsg, exits without it, and may not read it without a
 * capability.
 */
const NO_KERNEL_LOG = 'BindReadOnlyPaths=/dev/null:/dev/kmsg'
/**
 * Sockets of systemd, D-Bus and container runtimes, and the lock that kubelet takes for iptables. A
 * socket in the abstract namespace goes with the network.
 */
const HIDDEN = [
  ...['/run/systemd/private', '/run/systemd/notify', '/run/dbus', '/run/containerd', '/run/crio', '/run/k3s/containerd'],
  ...['/run/docker.sock', '/run/cri-dockerd.sock', '/run/podman', '/run/xtables.lock'],
]

const PROPERTIES_OF: Readonly<Record<HowFar, readonly string[]>> = {
  // Without AF_UNIX: no D-Bus and no socket of a container runtime.
  'to-kubeconfig': [FAMILIES],
  'to-runtime': [FAMILIES, NO_KERNEL_LOG],
  'not-far': [FAMILIES, NO_KERNEL_LOG],
  'beside-runtime': [`${FAMILIES} AF_UNIX`, NO_KERNEL_LOG, `InaccessiblePaths=${HIDDEN.map((path) => `-${path}`).join(' ')}`],
}

/** @param unit name of the transient unit, used to stop it */
export function sandboxArguments(
  unit: string,
  goal: HowFar,
  scratch: string,
  command: readonly string[],
  limits: SandboxLimits = SANDBOX_LIMITS,
): string[] {
  const properties = [
    ...PROPERTIES,
    ...PROPERTIES_OF[goal],
    `TemporaryFileSystem=${scratch}:size=16M,mode=0700`,
    `MemoryMax=${limits.memoryMiB}M`,
    `RuntimeMaxSec=${limits.seconds[goal === 'to-kubeconfig' ? 'load' : 'deep']}`,
  ]
  return [
    ...['--pipe', '--wait', '--collect', '--no-ask-password', `--unit=${unit}`, '--description=Kubelet checking a candidate config'],
    ...properties.map((property) => `--property=${property}`),
    // By default Go starts a thread for each CPU, too many on a big machine.
    '--setenv=GOMAXPROCS=2',
    '--setenv=LANG=C.UTF-8',
    '--',
    // systemd expands variables in a command; two dollar signs stand for one.
    ...command.map((word) => word.replaceAll('$', '$$$$')),
  ]
}

/**
 * Reads how a sandbox ended from the messages of systemd-run(1) `--wait`, which stand between the
 * messages of its command. Lines and results are those of `run_context_update()`. A status of 200
 * or more is systemd's own and means that it could not start the command; see systemd.exec(5),
 * "Process Exit Codes".
 */
type SandboxEnd =
  /** The command exited by itself: its output counts. */
  | { readonly kind: 'ended' }
  /** systemd-run did not start the unit. */
  | { readonly kind: 'not-started'; readonly detail: string }
  | { readonly kind: 'interrupted'; readonly detail: string }

/** Without 255, with which Go programs exit, as with 1 and 2. */
const SYSTEMD_STATUS = { from: 200, to: 254 }

export function readSandboxEnd(stderr: string): SandboxEnd {
  if (!/^Running as unit: /m.test(stderr))
    return { kind: 'not-started', detail: stderr.trim().split('\n').at(-1)?.trim().slice(0, 300) || 'it printed nothing' }
  // The command may print such lines too; those of systemd-run come last.
  const result = [...stderr.matchAll(/^Finished with result: ([\w-]+)$/gm)].at(-1)?.[1]
  const status = Number([...stderr.matchAll(/^Main processes terminated with: code=exited\/?,? ?status=(\d+)/gm)].at(-1)?.[1])
  switch (result) {
    case undefined:
      return { kind: 'interrupted', detail: 'systemd-run did not report how it ended' }
    case 'timeout':
      return { kind: 'interrupted', detail: 'it exceeded its time limit' }
    case 'oom-kill':
      return { kind: 'interrupted', detail: 'it exceeded its memory limit' }
    case 'success':
      return { kind: 'ended' }
    case 'exit-code':
      if (status >= SYSTEMD_STATUS.from && status <= SYSTEMD_STATUS.to)
        return { kind: 'interrupted', detail: `systemd could not start it in the sandbox (status ${status})` }
      return { kind: 'ended' }
    default:
      return { kind: 'interrupted', detail: `systemd reported the result ${result}` }
  }
}
