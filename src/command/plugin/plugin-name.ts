// SPDX-License-Identifier: Apache-2.0
/** Under which names this program is the kubectl plugin. Pure. */
import { basename } from 'node:path'

/** The name that kubectl looks for when somebody types `kubectl kubelet-config`. */
export const PLUGIN = 'kubectl-kubelet_config'
/** The name that kubectl looks for when somebody presses Tab there. */
export const COMPLETER = 'kubectl_complete-kubelet_config'

/** @param path of the program as it was started, `process.argv[1]` */
export function isPluginStart(path: string | undefined): boolean {
  return [PLUGIN, COMPLETER].includes(nameOf(path))
}

export function isCompletion(path: string | undefined): boolean {
  return nameOf(path) === COMPLETER
}

function nameOf(path: string | undefined): string {
  return basename(path ?? '').replace(/\.mjs$/, '')
}
