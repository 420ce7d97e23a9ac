// SPDX-License-Identifier: Apache-2.0
/**
 * Draws the interesting part of the dynamic config directory as a tree, with a summary of each
 * file.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lastLine } from './configs.ts'
import { shorten } from './narrate.ts'

interface Entry {
  readonly name: string
  readonly summary: string
  readonly children: readonly Entry[]
}

const COLUMN = 28

export function drawTree(directory: string): string[] {
  const at = (path: string) => join(directory, path)
  const entries = [
    ...listFile(at('kubelet.env'), 'kubelet.env', (text) => shorten(/--config=[^\s"]+/.exec(text)?.[0] ?? '', directory)),
    ...['meta/assigned', 'meta/last-known-good'].flatMap((path) => listFile(at(path), path, describeRecord)),
    ...listNames(at('checkpoints')).map((uid) => ({
      name: shorten(`checkpoints/${uid}`, directory),
      summary: '',
      children: listNames(at(`checkpoints/${uid}`)).flatMap((version) =>
        listFile(at(`checkpoints/${uid}/${version}/kubelet`), `${version}/kubelet`, lastLine),
      ),
    })),
  ]
  return draw(entries, '')
}

function draw(entries: readonly Entry[], indent: string): string[] {
  return entries.flatMap(({ name, summary, children }, index) => {
    const isLast = index === entries.length - 1
    const line = `${indent}${isLast ? '└── ' : '├── '}${name}`
    return [summary === '' ? line : `${line.padEnd(COLUMN)} ${summary}`, ...draw(children, `${indent}${isLast ? '    ' : '│   '}`)]
  })
}

function describeRecord(text: string): string {
  if (text === '') return '(empty: local)'
  const field = (name: string) => new RegExp(`^ *${name}: "?([^"\\n]+)"?$`, 'm').exec(text)?.[1] ?? '?'
  return `${field('name')}@${field('resourceVersion')}`
}

function listFile(path: string, name: string, describe: (text: string) => string): Entry[] {
  return existsSync(path) ? [{ name, summary: describe(readFileSync(path, 'utf8')), children: [] }] : []
}

function listNames(path: string): string[] {
  return existsSync(path) ? readdirSync(path).sort() : []
}
