/**
 * Which scenarios run side by side, in lanes of about the same length. The long ones come first, so
 * that the lanes end together.
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
    return words.length === 0 ? [...proofLanes(kubeletMinor === OLD_MINOR ? OLD : TODAY), ...NODES, CORPUS] : undefined
  if (words.length === 0) {
    const proofs = proofLanes(withModern ? TODAY : OLD)
    return [API, ...proofs, ...NODES, ROLLOUT, ...(withModern ? [OLD_LANE] : []), ...(withModern && canChoose ? [NEWEST] : []), CORPUS]
  }
  if (words.length === 1 && words[0] === 'proof:') return (withModern ? [TODAY, OLD] : [OLD]).flatMap(proofLanes)
  return undefined
}

const NODES: readonly Lane[] = [
  { name: 'node', words: ['node:', '!install:|interrupted:|modern:|proof:'] },
  { name: 'node-2', words: ['node:', 'interrupted:|modern:'] },
  { name: 'install', words: ['node: install:'] },
]

const API: Lane = { name: 'api', words: ['!node:', '!preflight corpus:', '!rollout:'] }

const ROLLOUT: Lane = { name: 'rollout', words: ['rollout:'] }

/** Short, and busy all the time: it takes the place of the first lane that ends. */
const CORPUS: Lane = { name: 'corpus', words: ['preflight corpus:'] }

/** What each kubelet shows anew, on the newest one. The lanes of nodes have kubelet 1.20. */
const NEWEST: Lane = {
  name: `node ${nameOfMinor(NEWEST_MINOR)}`,
  kubelet: nameOfMinor(NEWEST_MINOR),
  words: ['workflow|crashes kubelet|transition table|an overlay|a part over|a reboot|preflight corpus:'],
}

const OLD_LANE: Lane = { name: `proof ${OLD}`, words: [`proof: ${OLD}`, WHERE_OLD_DIFFERS] }

function proofLanes(kubelet: string): readonly Lane[] {
  return [
    { name: `fault ${kubelet}`, words: [`proof: ${kubelet}`, 'fault:'] },
    { name: `proof ${kubelet}`, words: [`proof: ${kubelet}`, '!fault:'] },
  ]
}
