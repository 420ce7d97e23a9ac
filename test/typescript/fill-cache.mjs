/** Before the tests: transpiles all that they load. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { transpile } from './hooks.mjs'

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = ['src', 'test', 'demo', 'scripts', 'bench']

await transpile(
  FOLDERS.flatMap((folder) => {
    const files = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    return files.filter((file) => file.isFile() && file.name.endsWith('.ts')).map(({ parentPath, name }) => join(parentPath, name))
  }),
)
