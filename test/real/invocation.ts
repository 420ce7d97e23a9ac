// SPDX-License-Identifier: Apache-2.0
/** The command line of a run: which scenarios, and on which nodes. */
import { parseArgs } from 'node:util'
import { NEWEST_MINOR } from './lab/build-modern-kubernetes.ts'
import { chooseNodes, MINORS, type NodeChoice, nameOfMinor, OLD_MINOR, SUITES } from './lab/node-choice.ts'

interface Invocation extends NodeChoice {
  readonly words: readonly string[]
  readonly help: boolean
}

const HELP = `npm run test:real -- [--kubelet 1.MINOR] [--root DEBIAN] [WORD]...

Without options and words it runs all scenarios, on kubelet 1.${OLD_MINOR} and 1.${NEWEST_MINOR}.

  WORD               only scenarios with this word in their name, and with all others that are
                     given; 'one|two' stands for either, '!word' for scenarios without it
  --kubelet 1.MINOR  only scenarios with a real kubelet, on this one: ${MINORS.map(nameOfMinor).join(', ')}.
                     The API server of 1.${NEWEST_MINOR} serves all but 1.${OLD_MINOR}, which has its own
  --root DEBIAN      the Debian of the nodes: ${SUITES.join(', ')}.
                     Default: bookworm for kubelet 1.${OLD_MINOR}, trixie for the others`

/** Throws an error that a person understands. */
export function readInvocation(args: readonly string[]): Invocation {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { kubelet: { type: 'string' }, root: { type: 'string' }, help: { type: 'boolean', default: false } },
  })
  return { words: positionals, help: values.help, ...chooseNodes(values) }
}

/** Answers `--help`, and a command line that it does not understand, itself. */
export function readInvocationOrExit(args: readonly string[]): Invocation {
  try {
    const invocation = readInvocation(args)
    if (!invocation.help) return invocation
    console.log(HELP)
    process.exit(0)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`)
    process.exit(2)
  }
}
