// SPDX-License-Identifier: Apache-2.0
/**
 * The files on a node that are merged over what the cluster assigns: the overlay, which is for
 * every config, and the instance config of kubeadm, which is for the ConfigMap of kubeadm. Pure.
 */

import type { Desired, FoundConfigMap } from '../decision/desired.ts'
import { INSTANCE_ERROR, OVERLAY_ERROR } from '../decision/status-texts.ts'
import type { ConfigMapRef } from '../subject/config-source.ts'
import { mergePatch } from '../values/merge-patch.ts'
import { leaveOutSet, type NamedPatch, type OverlayView, RESOLVED } from './read-overlay.ts'

type FoundAssignment = Extract<Desired, { kind: 'config-map' }> & { readonly object: FoundConfigMap }

export interface PatchSet {
  /** For messages, after `this node's`. */
  readonly name: string
  /** After `failed to sync: `. */
  readonly error: string
  isFor(assigned: Pick<FoundAssignment, 'ref' | 'object'>): boolean
  /** Whether the files of the set are named among what a config is merged from. */
  readonly isLayer: boolean
  /** One of its files, for people. */
  nameFile(name: string): string
  /** For the log: what a fault of them means. */
  readonly whenFaulty: string
  /** For the log. undefined: nothing worth it. */
  announce(files: readonly string[]): string | undefined
}

export const OVERLAY: PatchSet = {
  name: 'overlay',
  error: OVERLAY_ERROR,
  isLayer: false,
  isFor: () => true,
  nameFile: (name) => `overlay ${name}`,
  whenFaulty: 'nothing is changed',
  announce: (files) => `the overlay of ${files.join(', ')} is applied to the assigned config`,
}

/** `KubeletBaseConfigurationConfigMap`, cmd/kubeadm/app/constants. */
const KUBEADMS = { namespace: 'kube-system', name: 'kubelet-config' }
const WHERE_ASSIGNED = `where ConfigMap ${KUBEADMS.namespace}/${KUBEADMS.name} is assigned`
/** `KubeletInstanceConfigurationFileName` in `KubeletRunDirectory`, in the same place. */
export const INSTANCE_DIRECTORY = '/var/lib/kubelet'
export const INSTANCE_FILE = 'instance-config.yaml'

/**
 * kubeadm 1.32 and later keep the node's container runtime endpoint in this file, and merge it over
 * the ConfigMap for all nodes when they write the local config: `WriteConfigToDisk`,
 * cmd/kubeadm/app/phases/kubelet/config.go. So does the agent: the ConfigMap alone would move the
 * kubelet of a node with another runtime to containerd. From 1.37.1 on, the ConfigMap has no
 * resolvConf either: without the one that kubeadm adds on a node with systemd-resolved, pods would
 * get its stub, which they do not reach.
 */
export const INSTANCE_CONFIG: PatchSet = {
  name: 'instance config',
  error: INSTANCE_ERROR,
  isLayer: true,
  isFor: ({ ref, object }) => isKubeadms(findRoot(ref, object)),
  nameFile: (name) => (name === RESOLVED ? `${RESOLVED} of this node` : `${INSTANCE_DIRECTORY}/${name}`),
  whenFaulty: `nothing is changed ${WHERE_ASSIGNED}`,
  announce: (files) =>
    files.includes(INSTANCE_FILE) ? `${INSTANCE_DIRECTORY}/${INSTANCE_FILE} is merged last ${WHERE_ASSIGNED}, as by kubeadm` : undefined,
}

/** One of them, as it is on this node now. */
export interface NodePatches {
  readonly patches: PatchSet
  readonly view: OverlayView
}

/** As layers, by their names for people. */
export function namePatches(
  { nameFile }: Pick<PatchSet, 'nameFile'>,
  applied: readonly NamedPatch[],
): readonly { readonly name: string; readonly value: unknown }[] {
  return applied.map(({ name, patch }) => ({ name: nameFile(name), value: patch }))
}

/** The patches of several sets, one after the other, over this config. */
export function nameAllPatches(sets: readonly NodePatches[], config: unknown): ReturnType<typeof namePatches> {
  let merged = config
  return sets.flatMap(({ patches, view }) => {
    const applied = view.kind === 'present' ? leaveOutSet(view.patches, merged) : []
    merged = applied.reduce((target, { patch }) => mergePatch(target, patch), merged)
    return namePatches(patches, applied)
  })
}

/** The ConfigMap that holds the whole config. undefined: the local config is at the bottom. */
function findRoot(ref: ConfigMapRef, { base, bases }: FoundConfigMap): ConfigMapRef | undefined {
  if (base === undefined) return ref
  const lowest = bases?.views.at(-1)
  return lowest?.object.kind === 'found' && lowest.object.base === undefined ? lowest.ref : undefined
}

function isKubeadms(root: ConfigMapRef | undefined): boolean {
  return root?.namespace === KUBEADMS.namespace && root.name === KUBEADMS.name
}
