// SPDX-License-Identifier: Apache-2.0
/** The tables of docs/rollout-figures.md, in Markdown. */
import type { Nature } from './content.ts'
import { type OneEdit, type Outcome, runOneEdit } from './one-edit.ts'

const SIZES = [3, 10, 100, 1000, 5000, 10_000, 15_000] as const
const DEAD = [0, 0.2] as const
const FAILS_AFTER_US = 60_000_000
const BACKGROUND = 0.0005

const BAD: readonly (readonly [name: string, nature: Nature])[] = [
  ['Fails on every node', { kind: 'fails', share: 1, afterUs: FAILS_AFTER_US }],
  ['Kills every node', { kind: 'kills', share: 1, afterUs: FAILS_AFTER_US }],
  ['Kills 20 %', { kind: 'kills', share: 0.2, afterUs: FAILS_AFTER_US }],
  ['Fails on 10 %', { kind: 'fails', share: 0.1, afterUs: FAILS_AFTER_US }],
  ['Fails on 1 %', { kind: 'fails', share: 0.01, afterUs: FAILS_AFTER_US }],
]

/** Small fleets differ much from seed to seed. */
function seedsFor(nodes: number): number {
  return nodes <= 10 ? 40 : nodes <= 100 ? 10 : nodes <= 1000 ? 3 : 1
}

export function printTables(print: (line: string) => void): void {
  print('## A good content\n')
  print('| Nodes | Dead | Last start after | Writes | Conflicts | Reads | Record | Watched, whole fleet | Watched, a node |')
  print('|---|---|---|---|---|---|---|---|---|')
  for (const nodes of SIZES) for (const dead of DEAD) printGood(print, nodes, dead)
  print('\n## A bad content\n')
  print(`| Nodes | Dead | ${BAD.map(([name]) => name).join(' | ')} |`)
  print('|---|---|---|---|---|---|---|')
  for (const nodes of SIZES)
    for (const dead of DEAD)
      print(`| ${thousands(nodes)} | ${percent(dead)} | ${BAD.map(([, nature]) => badCell(nodes, dead, nature)).join(' | ')} |`)
  print('\n## `maxVetoes` by the size of the fleet\n')
  print('| Nodes | 1 | 2 | 3 | 4 | 5 |')
  print('|---|---|---|---|---|---|')
  for (const nodes of SIZES) {
    const shares = [1, 2, 3, 4, 5].map((maxVetoes) => percent(haltedByChance(nodes, maxVetoes)))
    print(`| ${thousands(nodes)} | ${shares.join(' | ')} |`)
  }
}

function runAll(edit: Omit<OneEdit, 'seed'>): readonly Outcome[] {
  return Array.from({ length: seedsFor(edit.nodes) }, (_, index) => runOneEdit({ ...edit, seed: index + 1 }))
}

function printGood(print: (line: string) => void, nodes: number, dead: number): void {
  const outcomes = runAll({ nodes, dead, nature: { kind: 'good' } })
  const mean = meanOf(outcomes)
  const watched = mean(({ watchBytes }) => watchBytes)
  print(
    `| ${thousands(nodes)} | ${percent(dead)} | ${mean(({ minutes }) => minutes).toFixed(0)} min | ${mean(({ writes }) => writes).toFixed(0)} ` +
      `| ${mean(({ conflicts }) => conflicts).toFixed(0)} | ${thousands(mean(({ reads }) => reads))} ` +
      `| ${(mean(({ recordBytes }) => recordBytes) / 1000).toFixed(1)} kB | ${(watched / 1e6).toFixed(1)} MB | ${(watched / nodes / 1000).toFixed(0)} kB |`,
  )
}

function badCell(nodes: number, dead: number, nature: Nature): string {
  const outcomes = runAll({ nodes, dead, nature })
  const mean = meanOf(outcomes)
  const halted = outcomes.filter(({ isHalted }) => isHalted).length
  return (
    `${mean(({ started }) => started).toFixed(1)} / ${mean(({ failed }) => failed).toFixed(1)}, ` +
    `${halted} of ${outcomes.length}, ${mean(({ minutes }) => minutes).toFixed(0)} min`
  )
}

function meanOf(outcomes: readonly Outcome[]) {
  return (read: (outcome: Outcome) => number) => outcomes.reduce((sum, outcome) => sum + read(outcome), 0) / outcomes.length
}

/**
 * How often background failures halt a good content: so many of the nodes that start before the
 * last wave fail, each with the same chance; or the first node does.
 */
function haltedByChance(nodes: number, maxVetoes: number): number {
  const witnesses = Math.min(nodes, 21)
  const before = witnesses + Math.round((nodes - witnesses) / 2)
  let exactly = (1 - BACKGROUND) ** before
  let fewer = 0
  for (let count = 0; count < maxVetoes; count += 1) {
    fewer += exactly
    exactly *= ((before - count) / (count + 1)) * (BACKGROUND / (1 - BACKGROUND))
  }
  return 1 - fewer * (maxVetoes === 1 ? 1 : 1 - BACKGROUND)
}

function percent(share: number): string {
  const value = share * 100
  return `${value >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(value < 0.1 ? 2 : 1)} %`
}

function thousands(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',')
}
