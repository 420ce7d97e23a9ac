/**
 * Before the tests: transpiles all that they load, with one process of esbuild. Each process of a
 * test would start one of its own.
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
