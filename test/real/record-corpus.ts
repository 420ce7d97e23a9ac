/**
 * Asks a real kubelet 1.20.2 about every candidate of preflight's corpus, and records what it says:
 * `node --import tsx test/real/record-corpus.ts KUBELET`. Asks only about those that are not on
 * record yet, unless `--all` follows.
 */
import { listCandidates } from '../preflight/corpus/candidates.ts'
import { readVerdicts, writeVerdicts } from '../preflight/corpus/recorded.ts'
import { askAll } from './kubelet-verdict.ts'
import { OLD_MINOR } from './lab/node-choice.ts'

const [kubelet, all] = process.argv.slice(2)
if (kubelet === undefined) throw new Error('which kubelet?')
const known = all === '--all' ? new Map<string, string>() : readVerdicts()
const candidates = listCandidates()
const asked = await askAll(
  { binary: kubelet, minor: OLD_MINOR },
  candidates.filter(({ name }) => !known.has(name)),
  'load',
)
const verdicts = new Map(candidates.map(({ name }) => [name, asked.get(name) ?? known.get(name) ?? '']))
writeVerdicts(verdicts)
console.log(`${asked.size} asked, ${verdicts.size} on record`)
