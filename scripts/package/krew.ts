// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin's manifest for krew, of the format krew.googlecontainertools.github.com/v1alpha2.
 * Pure.
 */

import { COMPLETER, PLUGIN } from '../../src/command/plugin/plugin-name.ts'
import { formatDocument } from '../../src/kubelet/yaml.ts'

interface KrewArchive {
  /** Both as krew names them. */
  readonly os: string
  readonly arch: string
  readonly uri: string
  readonly sha256: string
}

/**
 * krew links the plugin alone. A link to that link completes, and outlives an upgrade. krew takes a
 * directory with links and without plugins for one of an early krew, and refuses to work on it.
 */
export const LINK_COMPLETER = `ln -s ${PLUGIN} "\${KREW_ROOT:-$HOME/.krew}/bin/${COMPLETER}"`

export function krewManifest(version: string, archives: readonly KrewArchive[]): string {
  const platforms = archives.map(({ os, arch, uri, sha256 }) => ({
    selector: { matchLabels: { os, arch } },
    uri,
    sha256,
    files: [{ from: '*', to: '.' }],
    bin: PLUGIN,
  }))
  return formatDocument({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'kubelet-config' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Show and change the configs of kubelets',
      description: 'Shows and changes the configs of the kubelets of a cluster, where kubelet-cfg-agent runs on its nodes.',
      caveats: `To complete command lines, make a second link. Remove it before you uninstall the plugin:\n  ${LINK_COMPLETER}`,
      platforms,
    },
  })
}
