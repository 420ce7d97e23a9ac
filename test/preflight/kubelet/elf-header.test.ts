// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { HEADER, isProgram, isUnloadable } from '../../../src/preflight/kubelet/binaries.ts'

/** A program in 64 bits with ten segments. */
function program({ machine = 62, size = 5000, bits = 2 } = {}) {
  const head = Buffer.alloc(HEADER)
  head.write('\x7fELF', 'latin1')
  head.writeUInt8(bits, 4)
  head.writeUInt8(1, 5)
  head.writeUInt16LE(machine, 18)
  head.writeBigUInt64LE(64n, 32)
  head.writeUInt16LE(56, 54)
  head.writeUInt16LE(10, 56)
  return { head: head.subarray(0, size), size }
}

t.test('a program that no kernel of this machine loads', async (t) => {
  const own = program()
  const cases: [what: string, file: ReturnType<typeof program>, unloadable: boolean][] = [
    ['one like our own', program({ size: 624 }), false],
    ['for another processor', program({ machine: 183 }), true],
    ['in 32 bits', program({ machine: 3, bits: 1 }), false],
    ['it ends in its table of segments', program({ size: 623 }), true],
    ['it ends in its header', program({ size: 63 }), true],
  ]
  for (const [what, file, unloadable] of cases) {
    t.equal(isProgram(file), true, what)
    t.equal(isUnloadable(file, own), unloadable, what)
  }
  t.equal(isProgram({ head: Buffer.from('\x7fEL', 'latin1'), size: 3 }), false)
  t.equal(isProgram({ head: Buffer.from('#!/bin/sh\n'), size: 10 }), false)
})
