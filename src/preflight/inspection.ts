/**
 * What preflight is asked and what it answers with: the contract between its parts, whoever puts them together, and the command line. Types only.
 * The daemon asks the same question before each restart as `validate` does by hand.
 */
import type { ConfigMapData } from '../decision/config-source.ts'
import type { KubeletConfig } from '../kubelet/decode.ts'
import type { FieldPath } from '../kubelet/field-path.ts'
import type { ConfigDocument } from './document.ts'
import type { Finding, PartResult, Report } from './finding.ts'
import type { KubeletVersion } from './kubelet-version.ts'

export interface InspectedConfig {
  /** For people: `kubelet.yaml`, `configmap/kube-system/my-config:kubelet`. */
  readonly name: string
  /** Every file that would lie in the checkpoint: a config may name the others by relative paths. */
  readonly files: ConfigMapData
  /** Which of them kubelet reads. */
  readonly key: string
}

export interface InspectOptions {
  /** The kubelet that judges. undefined: that of the unit, where there is one. */
  readonly kubelet: string | undefined
  /** What the fields are checked for. undefined: the version of the kubelet that judges. Where it is of another version, it is not asked. */
  readonly version: KubeletVersion | undefined
  /** undefined: as the settings have it. */
  readonly unknownKeys: 'warn' | 'refuse' | undefined
  /** Also the stage that takes seconds: what kubelet rejects only while it starts. */
  readonly deep: 'no' | 'if-possible' | 'demanded'
  /** Whether the config is for this machine: its facts, its active config and its kubelet's flags count. */
  readonly node: boolean
}

export type Inspect = (config: InspectedConfig, options: InspectOptions) => Promise<Report>

/** The kubelet that a config is for. */
export interface KubeletToAsk {
  readonly binary: string
  /** Its real arguments, without its own name. */
  readonly flags: readonly string[]
}

/** The node that a config is for. */
export interface NodeToAsk {
  readonly flags: readonly string[]
  /** The folder that kubelet finds the config in: relative paths lead from there. */
  readonly folder: string
  /** What runs there now. undefined: that is not known. */
  readonly running: KubeletConfig | undefined
  readonly kubeletPid: number | undefined
}

/** Whom a config is for, as far as that is known. */
export interface Recipient {
  readonly kubelet: KubeletToAsk | undefined
  readonly version: KubeletVersion | undefined
  /** undefined: the config is for no node in particular. */
  readonly node: NodeToAsk | undefined
  readonly unknownKeys: 'warn' | 'refuse'
}

/** What a part is asked about. */
export interface PartInput extends Recipient {
  readonly config: InspectedConfig
  readonly document: ConfigDocument
  readonly options: InspectOptions
}

/** One part: `kubelet`, `kubelet-start` (the deep stage), `fields`, `node`, `change`. */
export interface InspectPart {
  readonly name: string
  /** It takes seconds, and is asked only about what the others let pass. */
  readonly slow: boolean
  /** undefined: it has no business with what was asked, and is not mentioned. */
  run(subject: PartInput): Promise<PartReport | undefined>
}
export interface PartReport {
  readonly outcome: PartResult['outcome']
  readonly detail: string
  readonly findings: readonly Finding[]
}

/** One field whose meaning differs, defaults and spelling aside. */
export interface ConfigChange {
  readonly path: FieldPath
  /** undefined: not set. Never a secret: `staticPodURLHeader` is replaced by a word that says so. */
  readonly before: unknown
  readonly after: unknown
  /** Class of risk, as in `restart`, `drain`, `reboot`. */
  readonly risk: string
  /** What that class means, in one line. */
  readonly meaning: string | undefined
  /** What the change policy of this agent makes of it; undefined: it was not asked. `rule` names what decided. */
  readonly policy: { readonly outcome: 'allowed' | 'denied' | 'drain'; readonly rule: string | undefined } | undefined
}

/** @param version whose defaults fill in what is not set; undefined: that of the unit's kubelet, where there is one */
export type Compare = (before: KubeletConfig, after: KubeletConfig, version: KubeletVersion | undefined) => Promise<readonly ConfigChange[]>
