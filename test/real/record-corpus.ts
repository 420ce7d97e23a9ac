// SPDX-License-Identifier: Apache-2.0
/**
 * Asks a real kubelet about every candidate of preflight's corpus, and records what it says:
 * `node --import tsx test/real/record-corpus.ts 1.20 KUBELET`. Asks only about those that are not
 * on record yet, unless `--all` follows.
 */
import { listCandidates } from '../preflight/corpus/candidates.ts'
import { readVerdicts, writeVerdicts } from '../preflight/corpus/recorded.ts'
import { askAll } from './kubelet-verdict.ts'

const [version = '', kubelet, all] = process.argv.slice(2)
if (kubelet === undefined) throw new Error('which kubelet?')
const minor = Number(version.replace(/^1\./, ''))
const known = all === '--all' ? new Map<string, string>() : readVerdicts(minor)
const candidates = listCandidates()
const asked = await askAll(
  { binary: kubelet, minor },
  candidates.filter(({ name }) => !known.has(name)),
  'load',
)
const verdicts = new Map(candidates.map(({ name }) => [name, asked.get(name) ?? known.get(name) ?? '']))
writeVerdicts(minor, verdicts)
console.log(`${asked.size} asked, ${verdicts.size} on record`)
