// SPDX-License-Identifier: Apache-2.0
/** The architectures of the packages, by each tool's own name. Pure. */

export interface Architecture {
  readonly deb: string
  readonly rpm: string
  /** In npm and Node.js. */
  readonly cpu: string
  /** Prefix of binutils. */
  readonly triplet: string
}

export const ARCHITECTURES: readonly Architecture[] = [
  { deb: 'amd64', rpm: 'x86_64', cpu: 'x64', triplet: 'x86_64-linux-gnu' },
  { deb: 'arm64', rpm: 'aarch64', cpu: 'arm64', triplet: 'aarch64-linux-gnu' },
]
