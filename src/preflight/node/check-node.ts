// SPDX-License-Identifier: Apache-2.0
/**
 * Checks a candidate against its node. Pure: `findNeeds` lists the facts that this candidate needs,
 * the caller finds them, and `checkNode` applies the rules. It refuses only what certainly stops
 * this kubelet or makes the node useless, and what a guard forbids (guards.ts). From unknown facts
 * it concludes nothing. Tested with kubelet 1.20.2: reservations, CPU sets, the static policy,
 * state files, certificates and kernel settings; with 1.32.5, 1.34.9 and 1.36.4: `failCgroupV1`
 * and `singleProcessOOMKill`; the other rules come from reading kubelet's source.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { ConfigDocument } from '../document.ts'
import type { Finding } from '../finding.ts'
import { checkClient, checkHealthz, checkPorts, checkServer, checkStandalone, healthzAddress, serverAddress } from './check-endpoints.ts'
import { checkFiles, checkStaticPods, filesToFind, leftManifests, resolversToCompare } from './check-files.ts'
import {
  cgroupsToFind,
  checkEnforced,
  checkMachine,
  enforcedCgroups,
  findSubordinateFault,
  KERNEL_SETTINGS,
  MOST_FILES,
  subordinateNeeds,
} from './check-machine.ts'
import { checkPressure, pressureNeeds } from './check-pressure.ts'
import { checkReservations } from './check-reservations.ts'
import { checkRuntime, imageSocket, runtimeSocket } from './check-runtime.ts'
import { checkShutdown, shutdownPeriod } from './check-shutdown.ts'
import { checkStates, describeStates, listUnfitStates, type UnfitState } from './check-states.ts'
import { type NodeOptions, NodeView, stateFile, toFinding, usesCpuManager, usesMemoryManager } from './node-view.ts'
import { NOTHING_NEEDED, type SurroundingNeeds, type Surroundings } from './surroundings.ts'

export function findNeeds(config: KubeletConfig, options: NodeOptions): SurroundingNeeds {
  const view = new NodeView(config, options)
  const left = leftManifests(view)
  const ids = subordinateNeeds(view)
  const pressure = pressureNeeds(view)
  return {
    memory: true,
    topology: needsTopology(view),
    cgroups: cgroupsToFind(view),
    paths: [...filesToFind(view), ...ids.paths],
    fileSystems: pressure.fileSystems,
    runtimeSocket: runtimeSocket(view),
    imageSocket: imageSocket(view),
    texts: [...listStateFiles(view), ...ids.texts, ...resolversToCompare(view), ...pressure.texts],
    manifests: left === undefined ? [] : [left],
    cgroupUse: [...enforcedCgroups(view), ...pressure.cgroupUse],
    localAddresses: healthzAddress(view) !== undefined || serverAddress(view) !== undefined,
    listeners: (['port', 'readOnlyPort', 'healthzPort'] as const).some((field) => (view.number(field) ?? 0) > 0),
    kubeletPid: options.kubeletPid,
    sysctls: [
      ...(view.is('protectKernelDefaults') ? KERNEL_SETTINGS.keys() : []),
      ...(view.isDefault('maxOpenFiles') ? [] : [MOST_FILES]),
      ...pressure.sysctls,
    ],
    logind: shutdownPeriod(view) !== undefined,
  }
}

function listStateFiles(view: NodeView): string[] {
  const files = [
    usesCpuManager(view) ? stateFile(view, 'cpu_manager_state') : undefined,
    usesMemoryManager(view) !== 'no' ? stateFile(view, 'memory_manager_state') : undefined,
  ]
  return files.filter((file) => file !== undefined)
}

function needsTopology(view: NodeView): boolean {
  const reserved = (['systemReserved', 'kubeReserved'] as const).some((field) => Object.hasOwn(view.map(field), 'cpu'))
  const isStatic = view.value('cpuManagerPolicy') === 'static' || view.value('memoryManagerPolicy') === 'Static'
  const isAligned = (view.text('topologyManagerPolicy') ?? 'none') !== 'none'
  return reserved || isStatic || isAligned || view.text('reservedSystemCPUs') !== undefined
}

const CHECKS = [
  ...[checkReservations, checkMachine, checkFiles, checkPorts, checkRuntime, checkStates],
  ...[checkStaticPods, checkHealthz, checkEnforced, checkServer, checkPressure, checkShutdown, checkStandalone],
]

export function checkNode(
  config: KubeletConfig,
  document: Pick<ConfigDocument, 'locate'>,
  surroundings: Surroundings,
  options: NodeOptions,
): Finding[] {
  const view = new NodeView(config, options)
  const complaints = CHECKS.flatMap((check) => check(view, surroundings))
  return complaints.map((complaint) => toFinding(complaint, document))
}

/** Why kubelet starts on this node with no config at all. undefined: nothing is known of it. */
export function findNodeFault(config: KubeletConfig, surroundings: Surroundings, options: NodeOptions): string | undefined {
  return findSubordinateFault(new NodeView(config, options), surroundings)
}

/** The guards that need no facts about the node: they hold for a config on any machine. */
export function guardClient(document: Pick<ConfigDocument, 'config' | 'locate'>, options: NodeOptions): Finding[] {
  return checkClient(new NodeView(document.config, options)).map((complaint) => toFinding(complaint, document))
}

export function findStateNeeds(config: KubeletConfig, options: NodeOptions): SurroundingNeeds {
  return { ...NOTHING_NEEDED, texts: listStateFiles(new NodeView(config, options)) }
}

/** @param found facts of `findStateNeeds`, and the topology */
export function findUnfitStates(config: KubeletConfig, found: Surroundings, options: NodeOptions): readonly UnfitState[] {
  return listUnfitStates(new NodeView(config, options), found)
}

/** State files with which kubelet would not start, and what to do: for a config to fall back to. */
export function remarkOnStates(config: KubeletConfig, surroundings: Surroundings, options: NodeOptions): string[] {
  return describeStates(new NodeView(config, options), surroundings)
}
