// SPDX-License-Identifier: Apache-2.0
/**
 * The admission policy of rollouts as a module of the plugin, which has no files beside it. Made
 * from deploy/admission/rollout.yaml. Pure.
 */
import { parseDocuments } from '../../src/kubelet/yaml.ts'

export function rolloutPolicyModule(manifest: string): string {
  const parsed = parseDocuments(manifest)
  const [policy] = parsed.ok ? parsed.documents : []
  if (policy === undefined) throw new Error('deploy/admission/rollout.yaml holds no policy')
  const text = JSON.stringify(policy.value).replaceAll('\\', '\\\\').replaceAll("'", "\\'")
  return `// SPDX-License-Identifier: Apache-2.0
/** Made by \`npm run docs\` from deploy/admission/rollout.yaml. Data only. */

/** JSON. */
export const ROLLOUT_POLICY =
  '${text}'
`
}
