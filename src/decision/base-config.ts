// SPDX-License-Identifier: Apache-2.0
/**
 * The config that a new one is a change from: the running one, or else last-known-good, which would
 * run. Pure.
 */

import type { CheckpointFile, HeldSource } from '../subject/config-source.ts'
import { LOCAL } from '../subject/config-source.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { findStartedFrom, heldSources } from './held-sources.ts'
import type { Snapshot } from './snapshot.ts'

/** Where the files of a checkpoint are: a part of the port `Checkpoints`. */
export interface CheckpointPaths {
  path(file: CheckpointFile): string
}

/**
 * The file that kubelet was started with. undefined: kubelet is not running, or was started without
 * a config file.
 */
export function runningConfigPath(checkpoints: CheckpointPaths, { process }: KnownUnit): string | undefined {
  if (process.kind === 'checkpoint') return checkpoints.path({ kubeletConfigKey: process.key, ...process })
  return process.kind === 'other' ? process.configPath : undefined
}

/**
 * Where the agent replaces the config file that the unit names, that file holds what is activated,
 * not what runs. Nor does a checkpoint that is gone or that a restore of etcd gave other content.
 * undefined: the agent knows no file any more that holds what runs.
 */
export function findBasePath(checkpoints: CheckpointPaths, unit: KnownUnit, snapshot: Snapshot): string | undefined {
  const { lastKnownGood, nextStart, running } = snapshot
  if (unit.process.kind !== 'checkpoint' && unit.process.kind !== 'other') {
    return lastKnownGood.source === 'local' ? findLocalPath(unit, snapshot) : checkpoints.path(lastKnownGood.source)
  }
  if (unit.wiring.kind !== 'ready' || running.kind !== 'known') return runningConfigPath(checkpoints, unit)
  if (!unit.wiring.configFlagIsFixed && running.lost !== true) return runningConfigPath(checkpoints, unit)
  const next = nextStart.kind === 'known' ? nextStart.held : undefined
  if (unit.wiring.replacesLocalFile && next?.content === running.content) return runningConfigPath(checkpoints, unit)
  const isBase = ({ content, onlyInPlace }: HeldSource) => content === running.content && onlyInPlace !== true
  const held = [...heldSources(snapshot), LOCAL].find(isBase) ?? findStartedFrom(snapshot)
  if (held?.source === 'local') return findLocalPath(unit, snapshot)
  return held && checkpoints.path(held.source)
}

function findLocalPath(unit: KnownUnit, { nextStart }: Snapshot): string | undefined {
  return localPathBeside(unit, nextStart.kind === 'known' ? nextStart.held : undefined)
}

/**
 * Where the local config is.
 * @param inPlace undefined: not known
 * @returns undefined: not known, or kubelet has none
 */
export function localPathBeside({ wiring, localConfigPath }: KnownUnit, inPlace: HeldSource | undefined): string | undefined {
  if (wiring.kind !== 'ready' || !wiring.replacesLocalFile) return localConfigPath
  if (inPlace === undefined) return undefined
  return inPlace.source === 'local' ? localConfigPath : wiring.keptLocalPath
}
