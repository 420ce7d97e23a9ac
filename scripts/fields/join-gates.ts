// SPDX-License-Identifier: Apache-2.0
/**
 * Joins the feature gates of all releases, and packs each into one word:
 * `CPUManager:B20,G26!,-33` was beta and on in 1.20, has been stable and locked from 1.26 on, and
 * 1.33 no longer knew it. a, b, g, d: alpha, beta, generally available, deprecated; a capital is
 * on by default; `!` is locked. Pure.
 */
import type { Release, ReleaseGate } from './release.ts'

export function packGates(releases: readonly Release[]): string[] {
  return namesIn(releases, ({ gates }) => Object.keys(gates)).map(
    (name) => `${name}:${packChanges(releases, ({ gates }) => packGate(gates[name]), '-').join()}`,
  )
}

/** `A:35>B,C;36>B`: from 1.35 on A needs B and C, from 1.36 on only B. */
export function packNeeds(releases: readonly Release[]): string[] {
  const names = namesIn(releases, ({ dependencies }) => Object.keys(dependencies).filter((name) => needsOf(name, dependencies) !== ''))
  return names.map((name) => {
    const lists = changesOf(releases, ({ dependencies }) => needsOf(name, dependencies), '')
    return `${name}:${lists.map(([minor, needs]) => `${minor}>${needs}`).join(';')}`
  })
}

function needsOf(name: string, dependencies: Release['dependencies']): string {
  return (dependencies[name] ?? []).join()
}

function namesIn(releases: readonly Release[], listNames: (release: Release) => readonly string[]): string[] {
  return [...new Set(releases.flatMap(listNames))].sort()
}

const LETTERS = { alpha: 'a', beta: 'b', ga: 'g', deprecated: 'd' } as const satisfies Record<ReleaseGate['stage'], string>

function packGate(gate: ReleaseGate | undefined): string {
  if (gate === undefined) return '-'
  const letter: string | undefined = LETTERS[gate.stage]
  if (letter === undefined) throw new Error(`unknown stage of a feature gate: ${gate.stage}`)
  return `${gate.default ? letter.toUpperCase() : letter}${gate.locked === true ? '!' : ''}`
}

function packChanges(releases: readonly Release[], read: (release: Release) => string, none: string): string[] {
  return changesOf(releases, read, none).map(([minor, state]) => `${state.charAt(0)}${minor}${state.slice(1)}`)
}

/** Only where the state changes; without a leading `none`. */
function changesOf(releases: readonly Release[], read: (release: Release) => string, none: string): (readonly [number, string])[] {
  const states = releases.map((release) => [release.minor, read(release)] as const)
  return states.filter(([, state], index) => state !== (states[index - 1]?.[1] ?? none))
}
