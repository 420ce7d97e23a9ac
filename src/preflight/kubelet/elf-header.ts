/**
 * What the head of a program tells (elf(5)). Pure. A program that the kernel refuses must not be
 * started: the C library then gives the file to a shell, which takes it for commands (execvp(3)).
 */

export interface ProgramHead {
  /** The first bytes of the file, HEADER of them where it has as many. */
  readonly head: Buffer
  readonly size: number
}

/** The length of a header in 64 bits, and where its parts are. */
export const HEADER = 64
const MAGIC = Buffer.from('\x7fELF', 'latin1')
const CLASS_AND_ORDER = { from: 4, to: 6 }
const MACHINE = 18
const TABLE_START = 32
const ENTRY_SIZE = 54
const ENTRIES = 56

export function isProgram({ head }: ProgramHead): boolean {
  return head.subarray(0, MAGIC.length).equals(MAGIC)
}

/**
 * Whether the kernel refuses the program: it is for another processor, or the file ends before its
 * table of segments does. A program in 32 bits may run here, so this says nothing about it.
 * @param own the head of a program that runs on this machine
 */
export function isUnloadable({ head, size }: ProgramHead, own: ProgramHead): boolean {
  if (head.length < HEADER) return true
  if (!kindOf(head).equals(kindOf(own.head))) return false
  return machineOf(head) !== machineOf(own.head) || endOfTable(head) > size
}

function kindOf(head: Buffer): Buffer {
  return head.subarray(CLASS_AND_ORDER.from, CLASS_AND_ORDER.to)
}

function machineOf(head: Buffer): number {
  return head.readUInt16LE(MACHINE)
}

/** The agent runs on little-endian machines only. */
function endOfTable(head: Buffer): bigint {
  return head.readBigUInt64LE(TABLE_START) + BigInt(head.readUInt16LE(ENTRY_SIZE) * head.readUInt16LE(ENTRIES))
}
