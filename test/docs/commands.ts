// SPDX-License-Identifier: Apache-2.0
/** Faults of the command lines in the documents. Each problem is one line. */
import { SETTING_NAMES, VARIABLE_PREFIX, variableName } from '../../src/settings/settings.ts'
import { isJsonObject } from './blocks.ts'
import type { Page } from './markdown.ts'
import { findPluginProblem, findUsageProblem, OWN_FLAGS, PROGRAM } from './program.ts'
import { type CommandLine, listCommandLines } from './shell.ts'

/** Commands of npm that need no script. */
const NPM_OWN = ['audit', 'ci', 'install']
/** Flags of other programs that the documents mention by name alone. */
export const FOREIGN_FLAGS: readonly string[] = [
  '--cert-dir',
  '--config-dir',
  '--container-runtime-endpoint',
  '--containerd',
  '--crash',
  '--delete-emptydir-data',
  '--despite-audit',
  '--force-confold',
  '--hostname-override',
  '--identities',
  '--kube-reserved',
  '--kubelet-arg',
  '--max-mutating-requests-inflight',
  '--max-requests-inflight',
  '--minutes',
  '--modes',
  '--node-labels',
  '--nodes',
  '--only',
  '--processes',
  '--quick',
  '--stop',
  '--storms',
  '--table',
  '--url',
]

export async function findWrongCommands(pages: readonly Page[], npmScripts: readonly string[]): Promise<readonly string[]> {
  const problems: string[] = []
  for (const command of pages.flatMap(listCommandLines)) {
    const detail = await describeCommand(command, npmScripts)
    if (detail !== undefined) problems.push(`${command.where}: ${command.words.join(' ')}: ${detail}`)
  }
  return problems
}

async function describeCommand({ words, isInline }: CommandLine, npmScripts: readonly string[]): Promise<string | undefined> {
  const [program = '', ...args] = words
  if (args.length > 0) {
    if (program === PROGRAM) return findUsageProblem(args, isInline)
    if (program === 'npm') return describeNpm(args, npmScripts)
    if (program === 'kubectl' && args[0] === 'kubelet-config') return findPluginProblem(args.slice(1), isInline)
    if (program === 'kubectl' && !findPatches(args).every(isJsonObject)) return 'the patch is not a JSON object'
  }
  const isFlag = isInline && program.startsWith('--') && !OWN_FLAGS.has(program.replace(/=.*$/, ''))
  return isFlag && !FOREIGN_FLAGS.includes(program.replace(/=.*$/, ''))
    ? 'no command has this flag, and FOREIGN_FLAGS does not list it'
    : undefined
}

function describeNpm([verb = '', name = '']: readonly string[], npmScripts: readonly string[]): string | undefined {
  if (verb !== 'run' && NPM_OWN.includes(verb)) return undefined
  return npmScripts.includes(verb === 'run' ? name : verb) ? undefined : 'package.json has no such script'
}

/** After -p and --patch. */
function findPatches(args: readonly string[]): readonly string[] {
  return args.flatMap((word, index) => (word === '-p' || word === '--patch' ? [args[index + 1] ?? ''] : []))
}

/** Variables of the agent's settings, wherever code mentions them. */
export function findUnknownVariables(pages: readonly Page[]): readonly string[] {
  const known: ReadonlySet<string> = new Set(SETTING_NAMES.map(variableName))
  return pages.flatMap(({ path, inlineCode, blocks }) =>
    [...inlineCode, ...blocks].flatMap(({ text, line }) =>
      [...text.matchAll(new RegExp(`${VARIABLE_PREFIX}[A-Z_]*`, 'g'))]
        .filter(([name]) => !known.has(name))
        .map(([name]) => `${path}:${line}: ${name}: no setting has this variable`),
    ),
  )
}
