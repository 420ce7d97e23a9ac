// SPDX-License-Identifier: Apache-2.0
/**
 * One candidate of the corpus: a text of a ConfigMap, with a name that tells what is special about
 * it.
 */
export interface Candidate {
  readonly name: string
  readonly text: string
}

/** Stands for a file with a certificate that is there. Who asks a kubelet puts its own in place. */
export const THERE = '/there/ca.crt'

export const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
export const JSON_HEAD = '"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration"'

/** The lines after the header that each config starts with. */
export function below(lines: string): Candidate {
  return { name: lines, text: `${HEAD}${lines}\n` }
}

/** Fields as JSON within YAML. */
export function withFields(fields: Readonly<Record<string, unknown>>): Candidate {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  return below(lines.join('\n'))
}
