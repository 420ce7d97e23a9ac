/**
 * What kubelets on this machine are: `kubelet --version`, asked once of each binary. It runs programs only, never a script, which would be free to start a
 * kubelet with arguments of its own, and takes nothing for a kubelet that does not call itself one: k3s, which has one inside, does not.
 */

import { execFile } from 'node:child_process'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { errorMessage } from '../../values/errors.ts'
import { parseVersion } from '../kubelet-version.ts'
import type { VersionAnswer } from './judgement.ts'

const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' }
const LIMITS = { timeout: 10_000, killSignal: 'SIGKILL', maxBuffer: 1 << 16, env: ENVIRONMENT, cwd: '/' } as const
/** elf(5). */
const MAGIC = Buffer.from('\x7fELF', 'latin1')
/** The node's own, one before an upgrade, one to judge for the next. */
const MOST = 16

export class KubeletBinaries {
  readonly #known = new Map<string, VersionAnswer>()

  /** Never rejects. */
  async version(binary: string): Promise<VersionAnswer> {
    try {
      const identity = identify(binary)
      if (identity === undefined) return { ok: false, detail: `there is no kubelet at ${binary}` }
      const known = this.#known.get(identity)
      if (known !== undefined) return known
      if (!isProgram(binary)) return { ok: false, detail: `${binary} is no program but may start one, so kubelet itself cannot be asked` }
      const answer = await ask(binary, identity)
      if (this.#known.size >= MOST) this.#known.clear()
      // A machine that was too busy to answer is asked again.
      if (answer.ok) this.#known.set(identity, answer)
      return answer
    } catch (error) {
      return { ok: false, detail: errorMessage(error) }
    }
  }
}

function ask(binary: string, identity: string): Promise<VersionAnswer> {
  return new Promise((resolve) => {
    const child = execFile(binary, ['--version'], LIMITS, (error, stdout) => {
      const said = stdout.trim().split('\n', 1)[0]?.slice(0, 100) ?? ''
      const version = said.startsWith('Kubernetes ') ? parseVersion(said) : undefined
      if (version !== undefined && error === null) resolve({ ok: true, version, identity })
      else if (error?.killed === true)
        resolve({ ok: false, detail: `${binary} --version gave no answer within ${LIMITS.timeout / 1000} s` })
      else resolve({ ok: false, detail: `${binary} is no kubelet by itself: asked for its version it says ${JSON.stringify(said)}` })
    })
    child.stdin?.end()
  })
}

/** undefined: no such file. An upgrade is another one, even at the same path. */
function identify(path: string): string | undefined {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (facts?.isFile() !== true) return undefined
  return [path, facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(':')
}

function isProgram(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(MAGIC.length)
    return readSync(file, head) === head.length && head.equals(MAGIC)
  } finally {
    closeSync(file)
  }
}
