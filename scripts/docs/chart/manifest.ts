// SPDX-License-Identifier: Apache-2.0
/** The manifests of deploy/, as kubectl takes them, and taken apart. Pure. */

/** What Prometheus takes, and not the API server. */
const RULES = 'monitoring/rules.yaml'

/** @param path below deploy/ */
export function readManifest(read: (path: string) => string, path: string): string {
  const text = read(`deploy/${path}`)
  return path === RULES ? prometheusRule(text) : text
}

/**
 * @returns its documents, each with the comment above it; but for the first, whose comment says
 * what the whole file is for
 */
export function splitManifest(text: string): readonly string[] {
  return text.slice(text.search(/^apiVersion:/m)).split(/^---\n/m)
}

/** For Prometheus Operator: the groups, with their comments, below `spec`. */
function prometheusRule(rules: string): string {
  const [head = '', groups] = rules.split(/^groups:$/m)
  if (groups === undefined) throw new Error(`deploy/${RULES} has no line "groups:"`)
  return `${head}apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: kubelet-cfg-agent
  namespace: kube-system
spec:
  groups:${groups.replace(/^(?=.)/gm, '  ')}`
}
