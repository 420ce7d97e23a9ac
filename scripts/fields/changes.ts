// SPDX-License-Identifier: Apache-2.0
/**
 * The changes between two releases in the code that decides over a config, function by function.
 * Pure.
 */
import type { Release } from './release.ts'

interface CodeChange {
  /** Its package and name: `pkg/kubelet/apis/config/validation.ValidateKubeletConfiguration`. */
  readonly name: string
  readonly kind: 'new' | 'gone' | 'changed'
  /** The lines that went, each after `-`, and those that came, each after `+`. */
  readonly lines: readonly string[]
}

type Code = Pick<Release, 'functions'>

export function listChanges(before: Code, after: Code): CodeChange[] {
  const names = [...new Set([before, after].flatMap(({ functions }) => Object.keys(functions)))].sort()
  return names.flatMap((name): CodeChange[] => {
    const [old, now] = [before, after].map(({ functions }) => functions[name])
    if (old === now) return []
    const kind = old === undefined ? 'new' : now === undefined ? 'gone' : 'changed'
    return [{ name, kind, lines: diffLines(linesOf(old), linesOf(now)) }]
  })
}

function linesOf(code: string | undefined): readonly string[] {
  return code === undefined ? [] : code.split('\n')
}

/** The longest common subsequence, by a table: functions are short. */
function diffLines(old: readonly string[], now: readonly string[]): string[] {
  const longest = old.map(() => new Array<number>(now.length + 1).fill(0))
  const at = (row: number, column: number): number => longest[row]?.[column] ?? 0
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const length = old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
      longest[row]?.splice(column, 1, length)
    }
  const lines: string[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < now.length) {
    if (row < old.length && old[row] === now[column]) [row, column] = [row + 1, column + 1]
    else if (row < old.length && at(row + 1, column) >= at(row, column + 1)) lines.push(`-${old[row++]}`)
    else if (column < now.length) lines.push(`+${now[column++]}`)
    else lines.push(`-${old[row++]}`)
  }
  return lines
}

export function describeChanges(before: string, after: string, changes: readonly CodeChange[]): string {
  const parts = changes.map(({ name, kind, lines }) => [`${kind}: ${name}`, ...lines.map((line) => `  ${line}`)].join('\n'))
  return [`From ${before} to ${after}: ${changes.length} functions, types and values differ`, ...parts].join('\n')
}
