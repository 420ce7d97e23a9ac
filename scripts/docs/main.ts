/** `npm run docs`: writes the generated pages of docs/, and what the plugin has of deploy/. */
import { readFileSync, writeFileSync } from 'node:fs'
import { rolloutPolicyModule } from './rollout-policy.ts'
import { settingsPage } from './settings-page.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const PAGES: Readonly<Record<string, string>> = {
  'docs/settings.md': settingsPage(),
  'src/command/plugin/generated/rollout-policy.ts': rolloutPolicyModule(read('deploy/admission/rollout.yaml')),
}

for (const [path, text] of Object.entries(PAGES)) writeFileSync(new URL(`../../${path}`, import.meta.url), text)
