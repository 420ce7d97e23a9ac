// SPDX-License-Identifier: Apache-2.0
/**
 * Which scenarios run side by side, in lanes. In their order here the last ones end together on two
 * cores.
 */
import { NEWEST_MINOR } from './lab/build-modern-kubernetes.ts'
import type { Lane } from './lab/lanes.ts'
import { nameOfMinor, OLD_MINOR } from './lab/node-choice.ts'

const TODAY = 'kubelet of today'
const OLD = 'kubelet 1.20'

/**
 * Kubelet 1.20 takes 6 s to start, and its first report after that is always NotReady. A config
 * that cuts it off is found out there by other evidence than with one of today.
 */
const WHERE_OLD_DIFFERS = 'a crash loop heals|cuts kubelet off|kubelet is stopped'

/**
 * @param words of the command line
 * @param withModern whether there is a kubelet of today; otherwise all proofs are for kubelet 1.20
 * @param kubeletMinor on which alone they run
 * @param canChoose whether a lane can choose its kubelet by `--kubelet`
 * @returns undefined: the words name scenarios, which run one after another
 */
export function chooseLanes(
  words: readonly string[],
  withModern: boolean,
  kubeletMinor: number | undefined,
  canChoose = true,
): readonly Lane[] | undefined {
  if (kubeletMinor !== undefined)
    return words.length === 0 ? [...proofLanes(kubeletMinor === OLD_MINOR ? OLD : TODAY), ...NODES, INSTALL, CORPUS] : undefined
  if (words.length === 0) {
    const old = withModern ? [OLD_LANE] : []
    const newest = withModern && canChoose ? [NEWEST, NEWEST_CORPUS] : []
    const { harm, trouble, outage, fault, proof } = proofLanesOf(withModern ? TODAY : OLD)
    const long = [proof, harm, NODE_3, NODE_2, fault, trouble, outage, MODERN, API, ...old, ROLLOUT]
    return [...long, NODE_4, NODE, KILLED, INSTALL, RIGHTS, ...newest, CORPUS]
  }
  if (words.length === 1 && words[0] === 'proof:') return (withModern ? [TODAY, OLD] : [OLD]).flatMap(proofLanes)
  return undefined
}

/**
 * Whether the words name only scenarios that share no cluster: it would cost its time, and a
 * hundredth of a processor until the end.
 */
export function needNoSharedCluster(words: readonly string[]): boolean {
  return [RIGHTS, MODERN, ROLLOUT, CORPUS].some((lane) => lane.words.every((word) => words.includes(word)))
}

const OF_OTHER_LANES = 'eks:|install:|interrupted:|modern:|proof:'
const PACKAGES = 'pace:|a part over|the metrics as a file|the deb is|the rpm is|release:|judge:|preflight:'

/** These and the rest of the lane `node` take as long as each other. */
const LONG_WAITS = 'an exit of kubelet|a unit that kubelet requires|the API server is away|another account|an overlay|the disk under'

const NODE: Lane = { name: 'node', words: ['node:', `!${OF_OTHER_LANES}|${PACKAGES}|${LONG_WAITS}`] }
const NODE_2: Lane = { name: 'node-2', words: ['node:', 'the power fails|modern:', '!proof:'] }
const KILLED: Lane = { name: 'killed', words: ['node: interrupted: the agent is killed'] }
const NODE_3: Lane = { name: 'node-3', words: ['node:', PACKAGES, `!${OF_OTHER_LANES}`] }
const NODE_4: Lane = { name: 'node-4', words: ['node:', LONG_WAITS, `!${OF_OTHER_LANES}`] }
const NODES: readonly Lane[] = [NODE, KILLED, NODE_2, NODE_3, NODE_4]

const INSTALL: Lane = { name: 'install', words: ['node: install:|node: eks:'] }

const NOT_ON_NODES = '!node:|preflight corpus:|rollout:'
/** Without a real kubelet: what needs other rights or another API server, and what does not. */
const OF_RIGHTS = 'rights:|release:|chart:'
const OF_TODAY = 'modern |plugin:|recipes:'
const RIGHTS: Lane = { name: 'rights', words: [OF_RIGHTS, `${NOT_ON_NODES}|${OF_TODAY}`] }
const MODERN: Lane = { name: 'modern', words: [OF_TODAY, NOT_ON_NODES] }
const API: Lane = { name: 'api', words: [`${NOT_ON_NODES}|${OF_RIGHTS}|${OF_TODAY}`] }

const ROLLOUT: Lane = { name: 'rollout', words: ['rollout:', '!node:'] }

const CORPUS: Lane = { name: 'corpus', words: ['preflight corpus:'], isBusy: true }

/**
 * The scenarios that each kubelet shows anew, on the newest one. The lanes of nodes have kubelet
 * 1.20.
 */
const NEWEST: Lane = {
  name: `node ${nameOfMinor(NEWEST_MINOR)}`,
  kubelet: nameOfMinor(NEWEST_MINOR),
  words: ['workflow|crashes kubelet|transition table|an overlay|a part over|a reboot|the CPU manager', '!proof:'],
}

const NEWEST_CORPUS: Lane = { ...CORPUS, name: `corpus ${nameOfMinor(NEWEST_MINOR)}`, kubelet: nameOfMinor(NEWEST_MINOR) }

const OLD_LANE: Lane = { name: `proof ${OLD}`, words: [`proof: ${OLD}`, WHERE_OLD_DIFFERS] }

/** Scenarios in which a trial sees a config that harms the node. */
const HARM = 'static pods|cuts kubelet off|wrong authority|Type=notify'
/** Scenarios in which something else keeps a node from the config that it should run. */
const TROUBLE = 'crash loop|hung kubelet|directory is lost|refusal'
const OUTAGE = 'fault: the API server'

function proofLanesOf(kubelet: string): Readonly<Record<'harm' | 'trouble' | 'outage' | 'fault' | 'proof', Lane>> {
  return {
    harm: { name: `harm ${kubelet}`, words: [`proof: ${kubelet}`, HARM, '!fault:'] },
    trouble: { name: `trouble ${kubelet}`, words: [`proof: ${kubelet}`, TROUBLE, '!fault:'] },
    outage: { name: `outage ${kubelet}`, words: [`proof: ${kubelet}`, OUTAGE] },
    fault: { name: `fault ${kubelet}`, words: [`proof: ${kubelet}`, 'fault:', `!${OUTAGE}`] },
    proof: { name: `proof ${kubelet}`, words: [`proof: ${kubelet}`, `!fault:|${HARM}|${TROUBLE}`] },
  }
}

function proofLanes(kubelet: string): readonly Lane[] {
  return Object.values(proofLanesOf(kubelet))
}
