// SPDX-License-Identifier: Apache-2.0
/**
 * The answer of `npm audit` about the libraries that are bundled, by the lockfile. A registry may
 * refuse to answer it, and then nothing is known.
 */
import { execFile } from 'node:child_process'
import { isObject } from '../../src/values/is-object.ts'

type Audit =
  | { readonly kind: 'clean' }
  | { readonly kind: 'found'; readonly findings: readonly string[] }
  | { readonly kind: 'unknown'; readonly why: string }

const LIMITS = { timeout: 120_000, maxBuffer: 64 * 1024 * 1024 }

export function audit(npm = 'npm'): Promise<Audit> {
  return new Promise((resolve) => {
    execFile(npm, ['audit', '--omit=dev', '--package-lock-only', '--json'], LIMITS, (error, stdout) => {
      // Findings are an exit code too.
      if (typeof error?.code === 'string' || error?.killed) resolve({ kind: 'unknown', why: error.killed ? 'it timed out' : error.message })
      else resolve(readAudit(stdout))
    })
  })
}

/** @param text what `npm audit --json` prints, whatever its exit code */
export function readAudit(text: string): Audit {
  const answer = parse(text)
  if (!isObject(answer)) return { kind: 'unknown', why: 'npm printed no JSON' }
  const { vulnerabilities, message, error } = answer
  if (isObject(vulnerabilities)) {
    const findings = Object.entries(vulnerabilities).map(([name, finding]) => describe(name, finding))
    return findings.length === 0 ? { kind: 'clean' } : { kind: 'found', findings }
  }
  const summary = isObject(error) ? error.summary : undefined
  const why = [message, summary].find((each) => typeof each === 'string' && each !== '')
  return { kind: 'unknown', why: typeof why === 'string' ? why : 'npm printed no report' }
}

function describe(name: string, finding: unknown): string {
  if (!isObject(finding)) return name
  const { severity, range, via } = finding
  const titles = Array.isArray(via) ? via.flatMap((each) => (isObject(each) && typeof each.title === 'string' ? [each.title] : [])) : []
  return [`${name} ${range}: ${severity}`, ...titles].join(', ')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The text about the findings; undefined: there is nothing to say.
 * @param despite whether somebody has looked at the findings
 * @throws if it stops the release
 */
export function judgeAudit(found: Audit, despite: boolean): string | undefined {
  switch (found.kind) {
    case 'clean':
      return undefined
    case 'unknown':
      return `npm audit did not answer, so nothing is known of vulnerable libraries: ${found.why}`
    case 'found': {
      const list = found.findings.map((finding) => `\n  ${finding}`).join('')
      if (despite) return `npm audit finds, and the release goes on (--despite-audit):${list}`
      throw new Error(`npm audit finds:${list}\nUpdate these libraries. If they do no harm here, say so with --despite-audit`)
    }
  }
}
