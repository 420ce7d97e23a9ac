// SPDX-License-Identifier: Apache-2.0
/**
 * Configs in the shape of those that people keep in public: what installers write, what handbooks
 * advise, and the mistakes of reports. Each file of `people/` has those of one origin, below lines
 * that begin with `--- # ` and say what each is. The header is left out where nothing is wrong with
 * it. The authority of clients is there, as it is on their nodes.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Candidate, HEAD, THERE } from './candidate.ts'

const FOLDER = join(import.meta.dirname, 'people')
const AUTHORITY = /("?clientCAFile"?: "?)[^\s",}]+/
const TITLE = /^--- # (.*)\n/gm

export function listPeoplesCandidates(): Candidate[] {
  return readdirSync(FOLDER).flatMap((file) => {
    const [, ...pieces] = readFileSync(join(FOLDER, file), 'utf8').split(TITLE)
    return pieces.flatMap((name, at): Candidate[] => {
      const text = pieces[at + 1]
      if (at % 2 === 1 || text === undefined) return []
      const whole = /apiVersion|kubeletconfig/.test(text) ? text : `${HEAD}${text}`
      return [{ name, text: whole.replace(AUTHORITY, `$1${THERE}`) }]
    })
  })
}

/** Configs that only the node can judge, with the words with which kubelet ends in the lab. */
export const JUDGED_BY_NODE: ReadonlyMap<string, string> = new Map([
  ['kind, a node', 'invalid configuration: cgroup'],
  ['kubeadm, swap is allowed', 'only supported with cgroupv2'],
  ['images by another service', 'validate CRI v1 image API'],
])
