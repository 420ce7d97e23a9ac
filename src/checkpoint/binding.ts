// SPDX-License-Identifier: Apache-2.0
/**
 * The node and the cluster that the state belongs to: `meta/cluster` contains the node's name and
 * the hashes of the cluster's CA certificates and their keys. A machine that was cloned or joined
 * to another cluster must not use the old state: all of it is set aside, and the agent starts from
 * scratch.
 */
import { join } from 'node:path'
import type { Files } from '../ports/files.ts'
import { isText, listOf, optional, parseJson, shape, type TypeOf } from '../values/json-shape.ts'
import type { Layout } from './layout.ts'
import { numbersAfter, type OnSetAside } from './set-aside.ts'

const isBinding = shape({
  nodeName: isText,
  /**
   * SHA-256 (hex) of each CA certificate and of its public key. One list, which older agents read
   * and compare too; what they wrote has the certificates alone. Empty without a cluster, with a
   * directory of manifests.
   */
  caHashes: listOf(isText),
  /**
   * The hash of the machine's ID. undefined: it is not known, or an older agent wrote the record.
   */
  machineHash: optional(isText),
})
export type Binding = TypeOf<typeof isBinding>

/** `fresh`: the state is not bound yet. */
type BindingCheck = 'same' | 'fresh' | 'foreign'

/** The host name of a machine that has not got one yet (hostname(5)): it names no node. */
const UNNAMED = 'localhost'

/** The name to go on with, where nothing but the host name says how the node is called. */
export function chooseGuessedName(kept: Binding | undefined, machineHash: string | undefined, hostName: string): string {
  const isUsable = kept !== undefined && kept.nodeName !== UNNAMED && (hostName === UNNAMED || !isOtherMachine(kept, machineHash))
  return isUsable ? kept.nodeName : hostName
}

/**
 * A clone has an ID and a host name of its own. A machine whose ID changes at each boot keeps its
 * host name, and so its state.
 */
function isOtherMachine(kept: Binding, machineHash: string | undefined): boolean {
  return kept.machineHash !== undefined && machineHash !== undefined && kept.machineHash !== machineHash
}

/**
 * While a CA is rotated, it is trusted together with its successor for a time, and a CA that is
 * renewed keeps its key: one hash in common means the same cluster.
 */
export function compareBinding(kept: Binding | undefined, current: Binding): BindingCheck {
  if (kept === undefined) return 'fresh'
  if (kept.nodeName !== current.nodeName && kept.nodeName !== UNNAMED) return 'foreign'
  const known = kept.caHashes.length > 0 && current.caHashes.length > 0
  return known && !current.caHashes.some((hash) => kept.caHashes.includes(hash)) ? 'foreign' : 'same'
}

/** undefined: there is no binding, or it is damaged, which counts as none. */
export function readBinding(files: Files, layout: Layout): Binding | undefined {
  const bytes = files.read(layout.binding)
  return bytes && parseJson(bytes, isBinding)
}

/** Writes only if the binding changes, and the node has a name. */
export function writeBinding(files: Files, layout: Layout, binding: Binding): void {
  if (binding.nodeName === UNNAMED) return
  const text = JSON.stringify(binding)
  if (files.read(layout.binding)?.toString() === text) return
  files.makeDirectory(layout.meta)
  files.replace(layout.binding, text)
}

/**
 * Moves foreign state to `foreign-<n>/`. Must be called before anything else reads the directory,
 * and again after a crash: it then moves the rest to the same place. `meta`, which identifies the
 * state as foreign, is moved last.
 *
 * @param resetNextStart makes kubelet's next start local, and is called first: kubelet must never
 * start with a checkpoint that is gone, nor with a config of the other cluster. Returns false where
 * that cannot be done. The checkpoints then stay: the agent replaces what names them, and removes
 * them, once it can.
 */
export function setForeignStateAside(files: Files, layout: Layout, resetNextStart: () => boolean, onSetAside: OnSetAside): void {
  const checkpoints = resetNextStart() ? ['checkpoints', 'rendered'] : []
  const target = foreignDirectory(files, layout)
  files.makeDirectory(target)
  for (const name of ['requests', 'history.jsonl', ...checkpoints, 'meta']) {
    const path = join(layout.directory, name)
    if (files.stat(path) !== undefined) files.rename(path, join(target, name))
  }
  onSetAside({ path: layout.directory, to: target, why: 'it belongs to another node or cluster' })
}

/** The newest one if a crash left it without `meta`; otherwise the next. */
function foreignDirectory(files: Files, layout: Layout): string {
  const newest = numbersAfter('foreign-', files.list(layout.directory) ?? []).at(-1) ?? 0
  const path = (number: number) => join(layout.directory, `foreign-${number}`)
  const unfinished = newest > 0 && files.stat(join(path(newest), 'meta')) === undefined
  return path(unfinished ? newest : newest + 1)
}
