// SPDX-License-Identifier: Apache-2.0
/**
 * On which kubelet and which Debian the nodes of a run are: what its command line asks for, which
 * `main.ts` puts into the environment, so that each lane has it too.
 */
import { MODERN_MINORS, NEWEST_MINOR } from './build-modern-kubernetes.ts'

/** The last release with Dynamic Kubelet Configuration of which Debian has the source. */
export const OLD_MINOR = 20
export const MINORS: readonly number[] = [OLD_MINOR, ...MODERN_MINORS]

/** By their code names, with the version of systemd: 247, 252 and 257. */
export const SUITES = ['bullseye', 'bookworm', 'trixie'] as const
export type Suite = (typeof SUITES)[number]

export interface NodeChoice {
  /** undefined: each scenario has kubelet 1.20 or the newest one, as it needs. */
  readonly kubeletMinor: number | undefined
  /** undefined: bookworm for the old kubelet, trixie for the others. */
  readonly suite: Suite | undefined
}

const KUBELET = 'KCA_LAB_KUBELET'
const ROOT = 'KCA_LAB_ROOT'

/** For this process and those that it starts. Throws an error that a person understands. */
export function chooseNodes({ kubelet, root }: { readonly kubelet?: string | undefined; readonly root?: string | undefined }): NodeChoice {
  if (kubelet !== undefined) {
    if ((process.env.KUBEBUILDER_ASSETS ?? '') !== '') throw new Error('KUBEBUILDER_ASSETS gives the kubelet: unset it to choose one')
    process.env[KUBELET] = kubelet
  }
  if (root !== undefined) process.env[ROOT] = root
  return nodeChoice()
}

export function nodeChoice(): NodeChoice {
  const { [KUBELET]: kubelet, [ROOT]: root } = process.env
  const kubeletMinor = MINORS.find((minor) => nameOfMinor(minor) === kubelet)
  if (kubelet !== undefined && kubeletMinor === undefined) {
    throw new Error(`no kubelet ${kubelet} is known here, only ${MINORS.map(nameOfMinor).join(', ')}`)
  }
  const suite = SUITES.find((one) => one === root)
  if (root !== undefined && suite === undefined) throw new Error(`no root ${root} is known here, only ${SUITES.join(', ')}`)
  return { kubeletMinor, suite }
}

export function nameOfMinor(minor: number): string {
  return `1.${minor}`
}

/** Of today, where no other is chosen. */
export function modernKubeletMinor(): number {
  const { kubeletMinor = NEWEST_MINOR } = nodeChoice()
  return kubeletMinor === OLD_MINOR ? NEWEST_MINOR : kubeletMinor
}

export function suiteFor(kubeletMinor: number): Suite {
  return nodeChoice().suite ?? (kubeletMinor === OLD_MINOR ? 'bookworm' : 'trixie')
}
