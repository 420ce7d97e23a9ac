// SPDX-License-Identifier: Apache-2.0
/**
 * Input and output of preflight: the contract between its parts, the composition and the command
 * line. Types only. The daemon runs the same checks before each restart as `validate` does by hand.
 */

import type { KubeletConfig } from '../kubelet/decode.ts'
import type { FieldPath } from '../kubelet/field-path.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import type { Incomplete, KnownUnit, KubeletCommand } from '../subject/unit-state.ts'
import type { Effect } from './change/effects.ts'
import type { ConfigDocument } from './document.ts'
import type { ConfigPlace, DropInsHere, MergeOrder } from './drop-ins/read-drop-ins.ts'
import type { Finding, PartResult, Report } from './finding.ts'
import type { KubeletVersion } from './kubelet-version.ts'

export interface InspectedConfig {
  /** For display: `kubelet.yaml`, `configmap/kube-system/my-config:kubelet`. */
  readonly name: string
  /** Every file of the checkpoint: a config may name the others by relative paths. */
  readonly files: ConfigMapData
  /** Name of the file that kubelet reads. */
  readonly key: string
  /** The config was given without its ConfigMap: the other files are not known. */
  readonly isAlone?: boolean
  /** Each node merges it over its local config, which is not known here. */
  readonly isPart?: boolean
  /**
   * Of a local config: the file that kubelet reads it from. A check of its copy elsewhere resolves
   * relative paths as there. undefined: it is a checkpoint's.
   */
  readonly localPath?: string | undefined
}

export interface InspectOptions {
  /** Path of the kubelet that judges the config. undefined: the unit's kubelet, if there is one. */
  readonly kubelet: string | undefined
  /**
   * Version that the fields are checked for. undefined: the version of that kubelet. A kubelet of
   * another version does not judge the config.
   */
  readonly version: KubeletVersion | undefined
  /**
   * Also compare with what the config means to this kubelet. `running`: the one that runs here.
   */
  readonly from?: KubeletVersion | 'running' | undefined
  /** undefined: as in the settings. */
  readonly unknownKeys: 'warn' | 'refuse' | undefined
  /** Whether to run the deep stage too: what kubelet rejects only at start. */
  readonly deep: 'no' | 'if-possible' | 'demanded'
  /** Whether the config is for this machine: use its facts, active config and kubelet flags. */
  readonly node: boolean
  /** Names of those that are run. Default: all that apply. */
  readonly parts?: readonly string[]
}

export type Inspect = (config: InspectedConfig, options: InspectOptions) => Promise<Report>

/** The kubelet that a config is for. */
export interface TargetKubelet {
  /** Absolute path of a kubelet: that of the unit, or another one before an upgrade. */
  readonly binary: string
  /** The arguments that it would be started with, without the program name. */
  readonly flags: readonly string[]
  /** Some of the flags, or parts of them, are not known: then most of them are not to blame. */
  readonly incomplete?: Incomplete | undefined
  /** Kubelet is started with variables that a check does not give it. */
  readonly ownEnvironment?: true | undefined
}

/** The node that a config is for. */
export interface TargetNode extends Pick<TargetKubelet, 'flags' | 'incomplete'> {
  /** The directory of the config: relative paths in it start there. */
  readonly folder: string
  /** The config that runs there now, with its drop-ins. undefined: unknown. */
  readonly running: KubeletConfig | undefined
  /**
   * The files of the checkpoint that runs. `elsewhere`: kubelet reads each config from one place,
   * where no relative path names a file of a ConfigMap. undefined: not known, or what runs is no
   * checkpoint.
   */
  readonly runningFiles?: ConfigMapData | 'elsewhere' | undefined
  readonly kubeletPid: number | undefined
  /** As of `UnitState`. */
  readonly setsStatesAside?: boolean | undefined
}

/** The target of a config, as far as it is known. */
export interface Recipient {
  readonly kubelet: TargetKubelet | undefined
  readonly version: KubeletVersion | undefined
  /**
   * The version of the kubelet that has the config now. undefined: not asked for, or there is no
   * kubelet.
   */
  readonly from?: KubeletVersion | 'unknown' | undefined
  /** undefined: the config is not for a particular node. */
  readonly node: TargetNode | undefined
  /** undefined: kubelet has no `--config-dir`, or the config is not for a particular node. */
  readonly dropIns?: DropInsHere | undefined
  readonly unknownKeys: 'warn' | 'refuse'
}

/** The input of a part. */
export interface PartInput extends Recipient {
  readonly config: InspectedConfig
  /** The config as it was given. */
  readonly assigned: ConfigDocument
  /** The config that kubelet makes of it with the drop-ins of this node. */
  readonly document: ConfigDocument
  readonly options: InspectOptions
  readonly yaml: YamlReader
  /** Ends a slow part, whose result is no longer wanted. */
  readonly signal: AbortSignal
}

/**
 * One part: `drop-ins`, `fields`, `meaning`, `node`, `change`, `kubelet`, `kubelet-start` (the deep
 * stage).
 */
export interface InspectPart {
  readonly name: string
  /**
   * The part may take seconds: it ends when another part refuses the config, and then does not
   * count.
   */
  readonly slow: boolean
  /** undefined: the part does not apply, and the report does not mention it. */
  run(subject: PartInput): Promise<PartReport | undefined>
}

export interface PartReport {
  readonly outcome: PartResult['outcome']
  readonly detail: string
  readonly findings: readonly Finding[]
  readonly changed?: PartResult['changed']
  /**
   * Of the part `fields`: the kubelet is newer than the tables, so it decides itself where it can.
   * The severity that counts for a field that the kubelet does not know.
   */
  readonly ownWord?: 'warn' | 'refuse' | undefined
  /** Of the part `kubelet`: see `KubeletJudgement`. */
  readonly ignored?: readonly string[] | undefined
}

/** One field whose meaning differs: defaults and spellings count as equal. */
export interface ConfigChange {
  readonly path: FieldPath
  /** undefined: not set. Never a secret: a placeholder replaces `staticPodURLHeader`. */
  readonly before: unknown
  readonly after: unknown
  /** Risk class, such as `restart`, `drain`, `reboot`. */
  readonly risk: string
  /** The meaning of that class, in one line. */
  readonly meaning: string | undefined
  /** The effect that the change does not have, or has besides, and what to do about it. */
  readonly effect?: Pick<Effect, 'problem' | 'advice'> | undefined
  /**
   * Decision of this agent's change policy; `rule` names the deciding rule. undefined: not
   * evaluated.
   */
  readonly policy: { readonly outcome: 'allowed' | 'denied' | 'drain'; readonly rule: string | undefined } | undefined
  /** Of a config that this node merges: the layer that sets or removes the field. */
  readonly layer?: string | undefined
}

/**
 * The config that kubelet makes of a config on this node, with its drop-ins.
 * @param place the config belongs to the node itself, or is (or would be) assigned to it
 */
export type MergeHere = (config: KubeletConfig, place: ConfigPlace) => Promise<MergedHere>

export interface MergedHere {
  readonly config: KubeletConfig
  /** The drop-ins that are merged with it; none: it is as it was given. */
  readonly order: MergeOrder | undefined
  /** As in TargetNode: no relative path names a file of a ConfigMap. */
  readonly isElsewhere?: boolean
}

/** @param version supplies the defaults; undefined: that of the unit's kubelet, if there is one */
export type Compare = (before: KubeletConfig, after: KubeletConfig, version: KubeletVersion | undefined) => Promise<readonly ConfigChange[]>

/**
 * Kubelet's unit as the next start of kubelet uses it. Preflight asks about the kubelet on disk,
 * and that one gets the flags that the unit has now: a person may have corrected them for an
 * upgrade while the process that runs has its earlier ones.
 */
export function asOfNextStart(unit: KnownUnit): KnownUnit {
  const { command } = unit
  if (command?.nextWords === undefined) return unit
  const { nextWords, ...others } = command
  return { ...unit, command: { ...others, words: nextWords } }
}

export function targetOf({ path, words, incomplete, ownEnvironment }: KubeletCommand): TargetKubelet {
  return { binary: path, flags: words, incomplete, ownEnvironment }
}
