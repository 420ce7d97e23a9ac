// SPDX-License-Identifier: Apache-2.0
/** `test/together.ts FILE...`: runs test files in one process, one after the other. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'

let tests = 0
t.on('subtestAdd', () => {
  tests += 1
})
let isLoaded = false
process.on('exit', () => {
  if (!isLoaded) process.exitCode = 1
})

for (const file of process.argv.slice(2)) {
  const before = tests
  await import(pathToFileURL(resolve(file)).href)
  if (tests === before) t.fail(`${file} has no tests`)
}
isLoaded = true
