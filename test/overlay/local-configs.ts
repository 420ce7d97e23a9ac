// SPDX-License-Identifier: Apache-2.0
/** Local configs as a source of assignments reads them. */
import type { LocalConfigView, ReadLocalConfig } from '../../src/ports/assignment-source.ts'

export const LOCAL_PATH = '/var/lib/kubelet/config.yaml'

/** Where no part is assigned, nobody asks for it. */
export const NO_LOCAL: ReadLocalConfig = () => {
  throw new Error('the local config is read without need')
}

/** As kubeadm writes it. */
export function localConfig(fields: string): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}`
}

export function found(fields: string): LocalConfigView {
  return { kind: 'found', path: LOCAL_PATH, text: localConfig(fields) }
}
