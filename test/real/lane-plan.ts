/**
 * Which scenarios run side by side, in lanes. Five begin, one more when the busy ones have ended,
 * and each of the others when one ends. In their order here the last ones end together on two
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
    const { harm, fault, proof } = proofLanesOf(withModern ? TODAY : OLD)
    return [harm, fault, NODE_2, RIGHTS, NODE, ...old, proof, NODE_3, API, INSTALL, ROLLOUT, ...newest, CORPUS]
  }
  if (words.length === 1 && words[0] === 'proof:') return (withModern ? [TODAY, OLD] : [OLD]).flatMap(proofLanes)
  return undefined
}

const PACKAGES = 'pace:|a part over|the metrics as a file|the deb is|the rpm is|release:|judge:|preflight:'

const NODE: Lane = { name: 'node', words: ['node:', `!install:|interrupted:|modern:|proof:|${PACKAGES}`] }
const NODE_2: Lane = { name: 'node-2', words: ['node:', 'interrupted:|modern:', '!proof:'] }
const NODE_3: Lane = { name: 'node-3', words: ['node:', PACKAGES, '!install:|interrupted:|modern:|proof:'] }
const NODES: readonly Lane[] = [NODE, NODE_2, NODE_3]

const INSTALL: Lane = { name: 'install', words: ['node: install:'] }

/** With a simulated kubelet: what needs other rights or another API server, and what does not. */
const OF_RIGHTS = 'rights:|modern |plugin:|release:'
const RIGHTS: Lane = { name: 'rights', words: [OF_RIGHTS, '!node:|preflight corpus:|rollout:'] }
const API: Lane = { name: 'api', words: [`!node:|preflight corpus:|rollout:|${OF_RIGHTS}`] }

const ROLLOUT: Lane = { name: 'rollout', words: ['rollout:', '!node:'] }

const CORPUS: Lane = { name: 'corpus', words: ['preflight corpus:'], isBusy: true }

/** What each kubelet shows anew, on the newest one. The lanes of nodes have kubelet 1.20. */
const NEWEST: Lane = {
  name: `node ${nameOfMinor(NEWEST_MINOR)}`,
  kubelet: nameOfMinor(NEWEST_MINOR),
  words: ['workflow|crashes kubelet|transition table|an overlay|a part over|a reboot', '!proof:'],
}

const NEWEST_CORPUS: Lane = { ...CORPUS, name: `corpus ${nameOfMinor(NEWEST_MINOR)}`, kubelet: nameOfMinor(NEWEST_MINOR) }

const OLD_LANE: Lane = { name: `proof ${OLD}`, words: [`proof: ${OLD}`, WHERE_OLD_DIFFERS] }

/** What a trial sees of a config that harms the node. */
const HARM = 'static pods|cuts kubelet off|wrong authority|crash loop|hung kubelet|Type=notify|directory is lost|refusal'

function proofLanesOf(kubelet: string): Readonly<Record<'harm' | 'fault' | 'proof', Lane>> {
  return {
    harm: { name: `harm ${kubelet}`, words: [`proof: ${kubelet}`, HARM, '!fault:'] },
    fault: { name: `fault ${kubelet}`, words: [`proof: ${kubelet}`, 'fault:'] },
    proof: { name: `proof ${kubelet}`, words: [`proof: ${kubelet}`, `!fault:|${HARM}`] },
  }
}

function proofLanes(kubelet: string): readonly Lane[] {
  return Object.values(proofLanesOf(kubelet))
}
