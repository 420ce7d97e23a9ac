// SPDX-License-Identifier: Apache-2.0
/** Kubelet's program, read anew by each new reader. */
import { type BinaryWorld, FileKubeletBinary } from '../../src/systemd/binary-identity.ts'
import { silentLog } from '../checkpoint/silent-log.ts'

const NO_FILES = { read: () => undefined, makeDirectory: () => {}, replace: () => {} }
const NEVER = { now: () => ({ bootId: 'boot', monotonicUs: 0, wallMs: 0 }) }

export function openBinary(world: Partial<BinaryWorld> = {}): FileKubeletBinary {
  return new FileKubeletBinary({ files: NO_FILES, directory: '/run/agent', clock: NEVER, log: silentLog(), ...world })
}

export function uncachedBinary(patienceMs?: number): FileKubeletBinary {
  return openBinary(patienceMs === undefined ? {} : { patienceMs })
}
