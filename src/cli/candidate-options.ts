/** The options of all commands that judge or compare a config, and what is read from them. Pure. */

import { formatVersion, type KubeletVersion, parseVersion } from '../preflight/kubelet-version.ts'
import { accept, type Kind, pathKind, refuse, switchKind } from '../settings/setting-kinds.ts'
import { candidateKind } from './candidate.ts'
import type { CommandArgument, CommandOption, OptionValues } from './command.ts'

export const CANDIDATE: CommandArgument = {
  name: 'candidate',
  kind: candidateKind,
  required: true,
  help: 'a file (a config, or the manifest of a ConfigMap), - for standard input, or a ConfigMap in the cluster: configmap/NAME, configmap/NAMESPACE/NAME; with :KEY where that is not kubelet',
}

/** Unlike a setting's, it may be relative: a person names it. */
const fileKind: Kind<string> = {
  ...pathKind,
  parse: (text) => {
    return /\p{Cc}/u.test(text) ? refuse('it holds a control character') : accept(text)
  },
}

const versionKind: Kind<string> = {
  placeholder: '<version>',
  parse(text) {
    const version = text === '' ? undefined : parseVersion(text)
    if (text !== '' && version === undefined) return refuse(`"${text}" is no version of kubelet: write 1.28 or v1.28.3`)
    return accept(version === undefined ? '' : formatVersion(version))
  },
  show: (text) => text,
}

export const KUBELET_VERSION: CommandOption = {
  name: 'kubelet-version',
  kind: versionKind,
  initial: '',
  help: "judge for a kubelet of this version, as in 1.28; by default that of this machine's kubelet",
}

/** Not `no-overlay`: the parser of the command line takes that for the opposite of an `overlay`. */
export const WITHOUT_OVERLAY: CommandOption = {
  name: 'without-overlay',
  kind: switchKind,
  initial: 'false',
  help: "take configmap/NAME as the cluster has it, and not with this node's overlay",
}

export function wantsOverlay(options: OptionValues): boolean {
  return options[WITHOUT_OVERLAY.name] !== 'true'
}

export function fileOption(name: string, help: string): CommandOption {
  return { name, kind: fileKind, initial: '', help }
}

export function readVersionOption(options: OptionValues): KubeletVersion | undefined {
  const text = options[KUBELET_VERSION.name] ?? ''
  return text === '' ? undefined : parseVersion(text)
}

/** undefined: it was not given. */
export function readTextOption(options: OptionValues, name: string): string | undefined {
  const text = options[name] ?? ''
  return text === '' ? undefined : text
}
