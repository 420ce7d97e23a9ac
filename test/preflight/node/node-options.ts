// SPDX-License-Identifier: Apache-2.0
/** A node for tests, and a short form of the findings about a config on it. */
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import type { Finding } from '../../../src/preflight/finding.ts'
import { checkNode, guardClient } from '../../../src/preflight/node/check-node.ts'
import type { NodeOptions } from '../../../src/preflight/node/node-view.ts'
import { NOTHING_KNOWN, type Surroundings } from '../../../src/preflight/node/surroundings.ts'
import { v } from '../change/configs.ts'

export const GIBIBYTE = 2 ** 30
export const NOWHERE = { locate: () => undefined }

export function optionsOf(minor: number, args: readonly string[] = [], more: Partial<NodeOptions> = {}): NodeOptions {
  return { version: v(minor), flags: collectFlags(args), folder: '/var/lib/x/checkpoints/u/1', files: ['kubelet', 'ca.crt'], ...more }
}

/** A healthy machine: 4 CPUs, 8 GiB, no swap, cgroup v2. */
export const MACHINE: Surroundings = {
  ...NOTHING_KNOWN,
  memoryBytes: 8 * GIBIBYTE,
  swapBytes: 0,
  onlineCpus: new Set([0, 1, 2, 3]),
  presentCpus: new Set([0, 1, 2, 3]),
  numaNodes: new Set([0]),
  cgroupVersion: 2,
  listeners: [],
}

/** The verdicts in short, such as `refuse node/swap failSwapOn`. */
export function verdicts(config: object, found: Partial<Surroundings> = {}, options: NodeOptions = optionsOf(30)): string[] {
  return inShort(checkNode({ ...config }, NOWHERE, { ...MACHINE, ...found }, options))
}

/** By the guards that hold on any machine. */
export function clientVerdicts(config: object, options: NodeOptions = optionsOf(30)): string[] {
  return inShort(guardClient({ config: { ...config }, ...NOWHERE }, options))
}

function inShort(findings: readonly Finding[]): string[] {
  return findings.map(({ severity, rule, path }) => `${severity} ${rule} ${path.join('.')}`)
}
