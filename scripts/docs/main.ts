// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run docs`: writes what is generated: pages of docs/, what the plugin has of deploy/, the
 * Helm chart and the components of kustomize.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chartFiles, SCHEMA } from './chart/chart.ts'
import { kustomizeFiles } from './chart/kustomize.ts'
import { valuesTable } from './chart/values.ts'
import { replaceTable } from './replace-table.ts'
import { rolloutPolicyModule } from './rollout-policy.ts'
import { settingsPage } from './settings-page.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const PAGES: Readonly<Record<string, string>> = {
  'docs/settings.md': settingsPage(),
  'charts/kubelet-cfg-agent/README.md': replaceTable(read('charts/kubelet-cfg-agent/README.md'), valuesTable(JSON.parse(read(SCHEMA)))),
  'src/command/plugin/generated/rollout-policy.ts': rolloutPolicyModule(read('deploy/admission/rollout.yaml')),
  ...chartFiles(read),
  ...kustomizeFiles(read),
}

for (const [path, text] of Object.entries(PAGES)) {
  const file = new URL(`../../${path}`, import.meta.url)
  mkdirSync(dirname(fileURLToPath(file)), { recursive: true })
  writeFileSync(file, text)
}
