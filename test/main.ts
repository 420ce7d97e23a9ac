/**
 * `npm test [-- ARGUMENTS OF tap]`: all tests, by tap. Files that may share a process do so. Where
 * the arguments name files, each has a process of its own, as with `npx tap`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { planProcesses } from './processes.ts'

const ROOT = join(import.meta.dirname, '..')
const TAP = join(ROOT, 'node_modules/.bin/tap')
/** Modules that import the files of one process each. */
const SHARED = join(ROOT, '.tap/shared')

const args = process.argv.slice(2)
const named = args.some((arg) => !arg.startsWith('-'))
const child = spawn(process.execPath, [TAP, ...args, ...(named ? [] : writeProcesses())], { cwd: ROOT, stdio: 'inherit' })
child.on('exit', (status) => {
  process.exitCode = status ?? 1
})

/** @returns what tap shall start a process for */
function writeProcesses(): readonly string[] {
  const tests = execFileSync(process.execPath, [TAP, 'list'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const { alone, shared } = planProcesses(tests, (path) =>
    existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined,
  )
  rmSync(SHARED, { recursive: true, force: true })
  mkdirSync(SHARED, { recursive: true })
  const modules = Array.from(shared, ([name, files]) => {
    const module = join(SHARED, `${name}.test.mjs`)
    // One after the other: modules that wait do not wait for each other when they are imported.
    writeFileSync(module, files.map((file) => `await import(${JSON.stringify(join(ROOT, file))})\n`).join(''))
    return module
  })
  // The longest begin first.
  return [...modules, ...alone]
}
