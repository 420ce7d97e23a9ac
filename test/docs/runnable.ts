// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the command lines of blocks marked `sh run` as processes, from source, without root and
 * network. Files that they need are the page's own blocks `yaml file=NAME` and the repository's
 * `deploy/`. A block that follows and is marked `text output` is what the last command prints;
 * `...` in it stands for the rest.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { LOADER } from '../typescript/loader.ts'
import type { Block, Page } from './markdown.ts'
import { ROOT } from './pages.ts'
import { PROGRAM } from './program.ts'
import { splitCommands } from './shell.ts'

interface Example {
  readonly where: string
  readonly commands: readonly (readonly string[])[]
  /** Of the last command. */
  readonly exitCode: number
  /** undefined: the page does not show what it prints. */
  readonly output: string | undefined
}

export function listExamples({ path, blocks }: Page): readonly Example[] {
  return blocks.flatMap((block, index) => {
    const [language, mark, ...options] = block.info.split(' ')
    if (language !== 'sh' || mark !== 'run') return []
    const next = blocks[index + 1]
    const exits = options.find((option) => option.startsWith('exits='))?.slice('exits='.length)
    return [
      {
        where: `${path}:${block.line}`,
        commands: block.text.split('\n').flatMap(splitCommands),
        exitCode: Number(exits ?? 0),
        output: next?.info === 'text output' ? next.text : undefined,
      },
    ]
  })
}

/** @returns what was not as the page says */
export function runExamples(page: Page): readonly string[] {
  const examples = listExamples(page)
  if (examples.length === 0) return []
  const directory = mkdtempSync(join(tmpdir(), 'docs-'))
  try {
    symlinkSync(join(ROOT, 'deploy'), join(directory, 'deploy'))
    for (const block of page.blocks) writeFixture(block, directory)
    return examples.flatMap((example) => runExample(example, directory))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function writeFixture({ info, text }: Block, directory: string): void {
  const name = /^yaml file=(\S+)$/.exec(info)?.[1]
  if (name !== undefined) writeFileSync(join(directory, basename(name)), `${text}\n`)
}

function runExample({ where, commands, exitCode, output }: Example, directory: string): readonly string[] {
  const problems: string[] = []
  for (const [index, [program, ...args]] of commands.entries()) {
    const isLast = index === commands.length - 1
    const shown = `${where}: ${[program, ...args].join(' ')}`
    if (program !== PROGRAM) {
      problems.push(`${shown}: only ${PROGRAM} is run here`)
      continue
    }
    const ran = runProgram(args, directory)
    const wanted = isLast ? exitCode : 0
    if (ran.status !== wanted) problems.push(`${shown}: it exits with ${ran.status}, not ${wanted}: ${ran.stderr.trim()}`)
    else if (isLast && output !== undefined && !isShown(output, ran.stdout)) problems.push(`${shown}: it prints\n${ran.stdout}`)
  }
  return problems
}

function runProgram(args: readonly string[], cwd: string) {
  // Nothing of this machine's environment may change what is printed.
  const env = { PATH: process.env.PATH ?? '', NO_COLOR: '1' }
  return spawnSync(process.execPath, ['--import', LOADER, join(ROOT, 'src/main.ts'), ...args], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  })
}

function isShown(shown: string, printed: string): boolean {
  const [before = ''] = shown.split('\n...')
  const isWhole = before === shown
  return isWhole ? printed.trimEnd() === shown.trimEnd() : printed.startsWith(before)
}
