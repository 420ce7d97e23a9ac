// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run fields`: reads the fields, defaults and feature gates of KubeletConfiguration from the
 * released modules of Kubernetes, and writes them as tables. Prints what changed between the two
 * newest releases in the code that our rules are read from, or between those of `--from 1.36 --to
 * 1.37`. Fails where a rule names code that the newest release does not have. It needs the Go
 * module proxy, and takes a minute or two.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../../test/real/lab/processes.ts'
import { describeChanges, listChanges } from './changes.ts'
import { isReleased, listCitations, listGone } from './citations.ts'
import { readDeclared, readReleases } from './read-release.ts'
import { modulesOf, type PinnedRelease, RELEASES } from './releases.ts'
import { seal } from './seal.ts'
import { defaultsModule, dependentModule, fieldsModule, GENERATED, gatesModule } from './write-tables.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Where the rules are that follow upstream's code. */
const RULES = ['src/preflight', 'src/kubelet']
const BIOME = join(ROOT, 'node_modules/.bin/biome')

const [newest, previous] = RELEASES.toReversed()
if (newest === undefined || previous === undefined) throw new Error('there are no two releases to compare')
const { values: asked } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } })
const compared = [choose(asked.from, previous), choose(asked.to, newest)] as const

const releases = await readReleases(RELEASES, console.log)
const versions = RELEASES.map(versionOf).join(' ')
const source = `Read from k8s.io/kubernetes and the modules k8s.io/kubelet, api, apiserver, apiextensions-apiserver, client-go, component-base, cloud-provider and controller-manager of the same releases: ${versions}.`

await write(GENERATED.fields, 'Every field of KubeletConfiguration: its type and the minors of 1.x that know it.', fieldsModule(releases))
await write(
  GENERATED.defaults,
  'The value of each field of KubeletConfiguration where the config does not set it.',
  defaultsModule(releases),
)
await write(GENERATED.gates, 'Every feature gate that a kubelet has known.', gatesModule(releases))
await write(
  GENERATED.dependent,
  'Defaults that depend on other fields or on feature gates: the code that sets them.',
  dependentModule(releases),
)

const [before, after] = compared.map(({ minor }) => releases.find((release) => release.minor === minor))
if (before !== undefined && after !== undefined)
  console.log(describeChanges(versionOf(compared[0]), versionOf(compared[1]), listChanges(before, after)))

const citations = RULES.flatMap(listSources)
  .flatMap((file) => listCitations(file, readFileSync(join(ROOT, file), 'utf8')))
  .filter(isReleased)
const paths = [...new Set(citations.map(({ path }) => path))].sort()
const gone = listGone(citations, await readDeclared(newest, paths, console.log))
for (const line of gone) console.error(`${line} from ${versionOf(newest)}`)
console.log(`${citations.length - gone.length} of the ${citations.length} names that our rules cite are in ${versionOf(newest)}`)
if (gone.length > 0) process.exitCode = 1

function choose(wanted: string | undefined, otherwise: PinnedRelease): PinnedRelease {
  if (wanted === undefined) return otherwise
  const found = RELEASES.find(({ minor }) => wanted === `1.${minor}`)
  if (found === undefined) throw new Error(`${wanted} is not in scripts/fields/releases.ts`)
  return found
}

function versionOf(release: PinnedRelease): string {
  return modulesOf(release).get('k8s.io/kubernetes') ?? ''
}

function listSources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => join(folder, name))
}

async function write(name: string, what: string, body: string): Promise<void> {
  const path = join(ROOT, name)
  mkdirSync(dirname(path), { recursive: true })
  const { stdout } = await run(BIOME, ['format', '--stdin-file-path', path], { cwd: ROOT, input: body })
  writeFileSync(path, seal([what, source], stdout))
}
