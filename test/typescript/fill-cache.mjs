// SPDX-License-Identifier: Apache-2.0
/**
 * Before the tests: removes the types of all that they load, in one process. Else each process of a
 * test would load TypeScript's parser for what it is the first to need.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { load } from './hooks.mjs'

const ROOT = join(import.meta.dirname, '../..')

for (const folder of ['src', 'test', 'demo', 'scripts', 'bench']) {
  for (const file of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
    if (file.isFile() && file.name.endsWith('.ts')) load(pathToFileURL(join(file.parentPath, file.name)).href)
  }
}
