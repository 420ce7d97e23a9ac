// SPDX-License-Identifier: Apache-2.0
/** The options of commands that check or compare a config, and how to read them. Pure. */

import { formatVersion, type KubeletVersion, parseVersion } from '../../preflight/kubelet-version.ts'
import { accept, type Kind, pathKind, refuse } from '../../settings/setting-kinds.ts'
import { type CommandArgument, type CommandOption, type OptionValues, switchOption } from '../command.ts'
import { candidateKind } from './candidate.ts'

export const CANDIDATE: CommandArgument = {
  placeholder: candidateKind.placeholder,
  kind: candidateKind,
  required: true,
  help:
    'a file (a config, or the manifest of a ConfigMap), - for standard input, or a ConfigMap in the cluster: ' +
    'configmap/NAME, configmap/NAMESPACE/NAME; append :KEY if the key is not kubelet',
}

/** Unlike the path of a setting, it may be relative. */
const fileKind: Kind<string> = {
  ...pathKind,
  parse: (text) => {
    return /\p{Cc}/u.test(text) ? refuse('the path contains a control character') : accept(text)
  },
}

const versionKind: Kind<string> = {
  placeholder: '<version>',
  parse(text) {
    const version = text === '' ? undefined : parseVersion(text)
    if (text !== '' && version === undefined) return refuse(`"${text}" is not a kubelet version: write 1.28 or v1.28.3`)
    return accept(version === undefined ? '' : formatVersion(version))
  },
  show: (text) => text,
}

export const KUBELET_VERSION: CommandOption = {
  name: 'kubelet-version',
  kind: versionKind,
  initial: '',
  help: "check for a kubelet of this version, as in 1.28; default: the version of this machine's kubelet",
}

export const FROM_VERSION: CommandOption = {
  name: 'from',
  kind: versionKind,
  initial: '',
  help: 'also compare with what the config means to a kubelet of this version, as in 1.36',
}

export const WITHOUT_OVERLAY: CommandOption = switchOption(
  'without-overlay',
  "use configmap/NAME without this node's overlay and the layers that match the node",
)

export function wantsOverlay(options: OptionValues): boolean {
  return options[WITHOUT_OVERLAY.name] !== 'true'
}

export function fileOption(name: string, help: string): CommandOption {
  return { name, kind: fileKind, initial: '', help }
}

export function readVersionOption(options: OptionValues, { name } = KUBELET_VERSION): KubeletVersion | undefined {
  const text = options[name] ?? ''
  return text === '' ? undefined : parseVersion(text)
}

/** undefined: the option was not given. */
export function readTextOption(options: OptionValues, name: string): string | undefined {
  const text = options[name] ?? ''
  return text === '' ? undefined : text
}
