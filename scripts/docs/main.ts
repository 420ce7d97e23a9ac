/** `npm run docs`: writes the generated pages of docs/. */
import { writeFileSync } from 'node:fs'
import { settingsPage } from './settings-page.ts'

const PAGES: Readonly<Record<string, string>> = { 'docs/settings.md': settingsPage() }

for (const [path, text] of Object.entries(PAGES)) writeFileSync(new URL(`../../${path}`, import.meta.url), text)
