/**
 * The sandbox of a probe, as the arguments of systemd-run(1). Pure. Properties are those of systemd.exec(5), systemd.resource-control(5) and systemd.service(5)
 * that systemd 239 knows, the oldest one of a distribution that still gets kubelets: one that it does not know would end the probe before it begins.
 *
 * The probe is uid 0, so that files of root's alone can be read, but has no capability, no network, no way to systemd or the container runtime (a
 * kubelet that finds systemd asks it for a scope, and makes slices), and writes to a small file system in memory that ends with it.
 */
import type { JudgeStage } from './judgement.ts'

export interface SandboxLimits {
  readonly memoryMiB: number
  readonly seconds: Readonly<Record<JudgeStage, number>>
}

/** Kubelet 1.20 takes 55 to 80 MiB, a fraction of a second to load, and some 6 s to come to its runtime, most of which it waits. */
export const LIMITS: SandboxLimits = { memoryMiB: 384, seconds: { load: 15, deep: 45 } }

const PROPERTIES = [
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'NoNewPrivileges=yes',
  'PrivateNetwork=yes',
  // Not AF_UNIX: neither D-Bus nor any runtime's socket.
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK',
  // All is to be seen, as the config may name any file, and nothing to be written.
  'ProtectSystem=strict',
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

const PROPERTIES_OF: Readonly<Record<JudgeStage, readonly string[]>> = {
  load: [],
  // It reads there of processes that the kernel ended, ends without it, and may not read the real one without a capability.
  deep: ['BindReadOnlyPaths=/dev/null:/dev/kmsg'],
}

/** @param unit name of the transient unit, by which it can be stopped. */
export function sandboxArguments(
  unit: string,
  stage: JudgeStage,
  scratch: string,
  command: readonly string[],
  limits: SandboxLimits = LIMITS,
): string[] {
  const properties = [
    ...PROPERTIES,
    ...PROPERTIES_OF[stage],
    `TemporaryFileSystem=${scratch}:size=16M,mode=0700`,
    `MemoryMax=${limits.memoryMiB}M`,
    `RuntimeMaxSec=${limits.seconds[stage]}`,
  ]
  return [
    ...['--pipe', '--wait', '--collect', '--no-ask-password', `--unit=${unit}`, '--description=Kubelet as judge of a config'],
    ...properties.map((property) => `--property=${property}`),
    // One thread a CPU is too much on a big machine.
    '--setenv=GOMAXPROCS=2',
    '--setenv=LANG=C.UTF-8',
    '--',
    // systemd puts variables into the words of a command, and a dollar sign is written twice.
    ...command.map((word) => word.replaceAll('$', '$$$$')),
  ]
}
