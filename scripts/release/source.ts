// SPDX-License-Identifier: Apache-2.0
/** The commit that a release is made from. A release belongs to a clean tree and to its tag. */
import { readFile } from 'node:fs/promises'
import type { Project } from '../package/project.ts'
import { run } from '../package/tools.ts'

interface Source {
  readonly commit: string
  /** undefined: a trial, whatever tags the commit has. */
  readonly tag: string | undefined
}

export async function readSource({ version, dirty }: Pick<Project, 'version' | 'dirty'>, trial: boolean): Promise<Source> {
  const commit = (await run('git', ['rev-parse', 'HEAD'])).trim()
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error(`git rev-parse HEAD prints no commit: ${commit}`)
  const tags = (await run('git', ['tag', '--points-at', 'HEAD'])).split('\n').filter((tag) => tag !== '')
  const changelog = await readFile('CHANGELOG.md', 'utf8')
  return { commit, tag: chooseTag({ version, dirty, tags, changelog, trial }) }
}

interface Facts {
  /** Of package.json. */
  readonly version: string
  readonly dirty: boolean
  /** All that are on the commit. */
  readonly tags: readonly string[]
  readonly changelog: string
  readonly trial: boolean
}

/** Throws if the commit is not one of a release. undefined: a trial is no release of a tag. */
export function chooseTag({ version, dirty, tags, changelog, trial }: Facts): string | undefined {
  const wanted = `v${version}`
  if (dirty) throw new Error('the working tree has uncommitted changes: a release is made of a commit')
  const other = tags.find((tag) => /^v\d/.test(tag) && tag !== wanted)
  if (other !== undefined) throw new Error(`the commit has the tag ${other}, but package.json has the version ${version}: correct either`)
  if (trial) return undefined
  if (!tags.includes(wanted)) throw new Error(`the commit has no tag ${wanted}: "git tag -s ${wanted}" makes it, --trial does without`)
  const isNamed = changelog.split('\n').some((line) => line === `## ${version}` || line.startsWith(`## ${version} `))
  if (!isNamed) throw new Error(`CHANGELOG.md has no section "## ${version}"`)
  return wanted
}
