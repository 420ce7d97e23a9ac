/** One candidate of the corpus: a text that somebody might put into a ConfigMap, by a name that says what is special about it. */
export interface Candidate {
  readonly name: string
  readonly text: string
}

export const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
export const JSON_HEAD = '"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration"'

/** Below the two lines that each config opens with. */
export function below(lines: string): Candidate {
  return { name: lines, text: `${HEAD}${lines}\n` }
}

/** Fields as JSON within YAML. */
export function withFields(fields: Readonly<Record<string, unknown>>): Candidate {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  return below(lines.join('\n'))
}
