// SPDX-License-Identifier: Apache-2.0
/**
 * The agent as its package installs it, in a directory of the build: the bundle, the Node.js that
 * the package pins, and the launcher, whose options for Node.js count.
 */
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AGENT_PINS } from '../scripts/package/pins.ts'
import { fetchRuntime } from '../scripts/package/runtime.ts'

export interface Installed {
  /** The launcher: starts the agent with its arguments. */
  readonly program: string
  readonly node: string
  readonly bundle: string
  /** As in `v24.1.0`. */
  readonly version: string
}

const DIST = resolve(import.meta.dirname, '../dist')
const LIBRARY = '/usr/lib/kubelet-cfg-agent'
/** The unit makes it. */
const COMPILED = '/var/cache/kubelet-cfg-agent/compiled'
const NAME = 'kubelet-cfg-agent'

let installed: Promise<Installed> | undefined

export function install(): Promise<Installed> {
  installed ??= layOut()
  return installed
}

async function layOut(): Promise<Installed> {
  const pin = AGENT_PINS.find(({ os, cpu }) => os === process.platform && cpu === process.arch)
  if (pin === undefined) throw new Error(`the packages have no Node.js for ${process.platform} on ${process.arch}`)
  // The same directory as the build of the packages.
  const { binary, version } = await fetchRuntime(pin, join(DIST, 'package', `runtime-${pin.os}-${pin.cpu}`))
  const tree = join(DIST, 'bench')
  const library = join(tree, 'lib')
  rmSync(tree, { recursive: true, force: true })
  mkdirSync(library, { recursive: true })
  const bundle = join(library, `${NAME}.mjs`)
  copyFileSync(join(DIST, `${NAME}.mjs`), bundle)
  cpSync(join(DIST, 'lib'), join(library, 'lib'), { recursive: true })
  const node = join(library, 'node')
  symlinkSync(binary, node)
  const program = join(tree, NAME)
  const launcher = readFileSync(resolve(import.meta.dirname, '../packaging/common', NAME), 'utf8')
  const compiled = join(tree, 'compiled')
  mkdirSync(compiled)
  writeFileSync(program, launcher.replaceAll(LIBRARY, library).replaceAll(COMPILED, compiled))
  chmodSync(program, 0o755)
  return { program, node, bundle, version: `v${version}` }
}
