// SPDX-License-Identifier: Apache-2.0
/**
 * The flag that spares kubelet's unit from judging the state files of kubelet's managers before a
 * start. The file is there while an agent looks, and each config that kubelet may start with, and
 * each state file, is known to have the policy none. So a node without these managers starts no
 * program for it. Where anything of it is not known, they are judged. Pure; the files are passed
 * in.
 */
import { posix } from 'node:path'
import type { Snapshot } from '../decision/snapshot.ts'
import { listDropInFiles } from '../kubelet/drop-in-files.ts'
import { hasWrongChecksum, isOfPodLevel } from '../kubelet/manager-checksum.ts'
import { parseManagerState, STATE_FILES } from '../kubelet/manager-state.ts'
import { rootDirectory } from '../kubelet/root-directory.ts'
import type { Activation } from '../ports/activation.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { Checkpoints } from '../ports/store.ts'
import { asArguments, flagValue } from '../systemd/command-line.ts'
import { readLocalConfig } from './node-configs.ts'

interface FlagParts {
  readonly files: Pick<Files, 'read' | 'list' | 'stat' | 'replace' | 'remove'>
  readonly checkpoints: Pick<Checkpoints, 'path'>
  readonly activation: Pick<Activation, 'readLocal'>
  readonly dynamicConfigDir: string
}

const NAME = 'states-fit'
/** Kubelet's drop-in looks there, whatever the agent's settings say. */
const DROP_INS_DIRECTORY = '/var/lib/kubelet-cfg-agent'
/** Any policy but none, a gate that changes the files, and any text that may spell one of them. */
const OTHER_POLICY =
  /(?:cpu|memory)ManagerPolicy\b(?!["']?[ \t]*[:=][ \t]*["']?none\b)|\b(?:PodLevelResourceManagers|AllAlpha|AllBeta)\b|\\[uxU]/i
const OTHER_FLAG = /^--(?:(?:cpu|memory)[-_]manager[-_]policy(?!=none$)|feature[-_]gates)(?:=|$)/i
const NO_POLICY = ['none', 'None']
const REMEMBERED = 64

export class StatesFlag {
  readonly #parts: FlagParts
  readonly #path: string
  /** Whether a file has another policy, by its path and identity. */
  readonly #known = new Map<string, boolean>()

  constructor(parts: FlagParts) {
    this.#parts = parts
    this.#path = posix.join(parts.dynamicConfigDir, NAME)
  }

  /**
   * Throws where the flag cannot be removed, which works on a full disk, or written.
   * @param snapshot undefined: the node cannot be read
   */
  refresh(snapshot: Snapshot | undefined): void {
    const isThere = this.#parts.files.stat(this.#path) !== undefined
    const mayDiffer = snapshot === undefined || this.#mayDiffer(snapshot)
    if (mayDiffer !== isThere) return
    if (mayDiffer) this.#parts.files.remove(this.#path)
    else this.#parts.files.replace(this.#path, '')
  }

  #mayDiffer(snapshot: Snapshot): boolean {
    const { unit, nextStart } = snapshot
    if (nextStart.kind === 'unknown' || unit.kind === 'unknown' || unit.wiring.kind === 'broken' || unit.setsStatesAside !== true)
      return true
    if (unit.command === undefined || unit.command.incomplete !== undefined) return true
    const { words, nextWords = [] } = unit.command
    const flags = [...words, ...nextWords]
    if (flags.some((word) => OTHER_FLAG.test(word))) return true
    const local = readLocalConfig(this.#parts.activation, unit)
    if (local.kind === 'found' ? isOtherConfig(local.text) : local.kind === 'unknown' || local.why === undefined) return true
    const root = rootDirectory(flagValue(asArguments(flags), 'root-dir'))
    if (root === undefined || STATE_FILES.some((name) => this.#ask(`${root}/${name}`, isOtherState))) return true
    try {
      const directory = flagValue(asArguments(flags), 'config-dir')
      const dropIns = directory === undefined ? [] : listDropInFiles(directory, this.#parts.files)
      return [...this.#listConfigs(snapshot), ...dropIns].some((path) => this.#ask(path, isOtherConfig))
    } catch {
      return true
    }
  }

  #listConfigs({ assigned, lastKnownGood, previous, left = [], nextStart }: Snapshot): readonly string[] {
    const held = [lastKnownGood, previous, ...left, ...(nextStart.kind === 'known' ? [nextStart.held] : [])].map(({ source }) => source)
    const sources = [...held, ...(assigned.kind === 'source' ? [assigned.source] : [])]
    return [...new Set(sources.flatMap((source) => (source === 'local' ? [] : [this.#parts.checkpoints.path(source)])))]
  }

  /** A file that does not exist is nothing that kubelet reads. */
  #ask(path: string, isOther: (text: string) => boolean): boolean {
    try {
      const identity = this.#parts.files.stat(path, 'follow')?.identity
      if (identity === undefined) return false
      const key = `${path}\n${identity}`
      const known = this.#known.get(key)
      if (known !== undefined) return known
      const text = this.#parts.files.read(path)?.toString()
      const found = text !== undefined && isOther(text)
      if (this.#known.size >= REMEMBERED) this.#known.clear()
      this.#known.set(key, found)
      return found
    } catch {
      return true
    }
  }
}

function isOtherConfig(text: string): boolean {
  return OTHER_POLICY.test(text)
}

function isOtherState(text: string): boolean {
  const state = parseManagerState(text)
  if (state === undefined || !NO_POLICY.includes(String(state.policyName))) return true
  return isOfPodLevel(state) || hasWrongChecksum(state) === true
}

/** For an agent that begins or ends: nobody sees what changes meanwhile. */
export function removeFlag(files: Pick<Files, 'remove'>, directory: string, log: Log): void {
  for (const place of [directory, DROP_INS_DIRECTORY]) {
    try {
      files.remove(posix.join(place, NAME))
    } catch (error) {
      log.warn("cannot remove the flag for kubelet's state files", { error })
    }
  }
}
