// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the versions of kubelets on this machine: `kubelet --version`, once for each binary. Runs
 * only ELF programs for this machine, and never scripts, which could start a kubelet with other
 * arguments. Accepts only a program that identifies itself as kubelet, or as k3s, whose version is
 * that of its kubelet.
 */
import { closeSync, fstatSync, openSync, readlinkSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { type CommandResult, describeEnd, describeFailure, runCommand } from '../../process/run-command.ts'
import { CHILD_ENVIRONMENT } from '../../values/child-environment.ts'
import { errorMessage } from '../../values/errors.ts'
import { parseVersion } from '../kubelet-version.ts'
import { ENVIRONMENT_ERRORS } from './classify.ts'
import type { VersionAnswer } from './judgement.ts'

const OPTIONS = { timeoutMs: 10_000, maxOutputBytes: 1 << 16, env: CHILD_ENVIRONMENT, cwd: '/' }
/** The node's own kubelet, and some before and after upgrades. */
const MOST = 16

export class KubeletBinaries {
  readonly #known: Map<string, VersionAnswer>

  /** @param known by identity, kept from an earlier process; what is found out is added */
  constructor(known: Map<string, VersionAnswer> = new Map()) {
    this.#known = known
  }

  /** Never rejects. */
  async version(binary: string): Promise<VersionAnswer> {
    try {
      const identity = identify(binary)
      if (identity === undefined) return { ok: false, detail: `there is no kubelet at ${binary}` }
      const known = this.#known.get(identity)
      if (known !== undefined) return known
      const head = readHead(binary)
      if (!isProgram(head)) return { ok: false, detail: `${binary} is not an ELF program, so kubelet itself cannot check the config` }
      if (isUnloadable(head, readHead(process.execPath))) {
        const detail = `${binary} cannot run on this machine: it is damaged, or for another processor`
        return { ok: false, detail, ...(isNamedKubelet(binary) && { cannotRun: 'at-all' }) }
      }
      const answer = await readVersion(binary, identity)
      if (this.#known.size >= MOST) this.#known.clear()
      // Failures are not remembered: the machine may have been too busy.
      if (answer.ok) this.#known.set(identity, answer)
      return answer
    } catch (error) {
      return { ok: false, detail: errorMessage(error) }
    }
  }

  /**
   * The version of the program that a process runs, which the disk may not have any more. Never
   * rejects.
   *
   * @param binary what the process was started from, and what is on disk there now
   */
  async versionOfProcess(pid: number, binary: string): Promise<VersionAnswer> {
    try {
      const exe = `/proc/${pid}/exe`
      const [runs, here] = [exe, binary].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
      if (runs !== undefined && runs.ino === here?.ino && runs.dev === here.dev) return this.version(binary)
      const path = readlinkSync(exe).replace(/ \(deleted\)$/, '')
      if (basename(path) !== basename(binary)) return { ok: false, detail: `process ${pid} runs ${path}, not ${binary}` }
      return this.version(exe)
    } catch (error) {
      return { ok: false, detail: errorMessage(error) }
    }
  }
}

async function readVersion(binary: string, identity: string): Promise<VersionAnswer> {
  const result = await runCommand(binary, ['--version'], OPTIONS)
  const { end, stdout } = result
  const output = stdout.trim().split('\n', 1)[0]?.slice(0, 100) ?? ''
  const [, program] = /^(Kubernetes|k3s version) v/.exec(output) ?? []
  const version = program === undefined ? undefined : parseVersion(output)
  const cannotRun = findDefect(binary, result)
  if (cannotRun !== undefined) {
    const detail = `${binary} cannot run on this machine: ${binary} --version: ${describeFailure(result).split('\n', 1)[0]}`
    return { ok: false, detail, cannotRun }
  }
  if (end.kind !== 'exited') return { ok: false, detail: `${binary} --version: ${describeEnd(end)}` }
  if (version !== undefined && end.code === 0) return { ok: true, version, identity, ...(program !== 'Kubernetes' && { inside: true }) }
  return { ok: false, detail: `${binary} is not a kubelet: ${binary} --version printed ${JSON.stringify(output)}` }
}

type Defect = Extract<VersionAnswer, { ok: false }>['cannotRun']

/** How a program dies that is damaged, or made for another processor. */
const CRASHES: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP']

/**
 * Why the program itself is at fault, as one that is damaged, or made for another processor or C
 * library. The dynamic linker exits where it lacks a library, which variables of the unit may name.
 * A busy machine and the limits of the agent's unit are no fault of the program.
 */
function findDefect(binary: string, { end, stdout, stderr }: CommandResult): Defect {
  if (!isNamedKubelet(binary) || ENVIRONMENT_ERRORS.test(`${stdout}\n${stderr}`)) return undefined
  switch (end.kind) {
    case 'exited':
      return end.code === 0 ? undefined : 'without-environment'
    case 'signalled':
      return CRASHES.includes(end.signal) ? 'at-all' : undefined
    case 'not-started':
      // The file is there: ENOENT is the lack of its dynamic linker.
      return end.code === 'ENOEXEC' || end.code === 'ENOENT' ? 'at-all' : undefined
    case 'timed-out':
    case 'too-much-output':
    case 'aborted':
      return undefined
  }
}

/** A program of another name may be a wrapper that knows no `--version`. */
function isNamedKubelet(path: string): boolean {
  return basename(path).includes('kubelet')
}

/** undefined: no such file. An upgrade changes the identity, even at the same path. */
function identify(path: string): string | undefined {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (facts?.isFile() !== true) return undefined
  return [path, facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(':')
}

function readHead(path: string): ProgramHead {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(HEADER)
    return { head: head.subarray(0, readSync(file, head)), size: fstatSync(file).size }
  } finally {
    closeSync(file)
  }
}

/**
 * The head of a program (elf(5)). A program that the kernel refuses must not be started: the C
 * library then gives the file to a shell, which takes it for commands (execvp(3)).
 */
interface ProgramHead {
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
