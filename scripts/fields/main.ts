/**
 * `npm run fields`: reads the fields, defaults and feature gates of KubeletConfiguration from the
 * released modules of Kubernetes, and writes them as tables. It needs the Go module proxy, and
 * takes a minute or two.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from '../../test/real/lab/processes.ts'
import { readReleases } from './read-release.ts'
import { modulesOf, RELEASES } from './releases.ts'
import { seal } from './seal.ts'
import { defaultsModule, dependentModule, fieldsModule, GENERATED, gatesModule } from './write-tables.ts'

const ROOT = join(import.meta.dirname, '../..')
const BIOME = join(ROOT, 'node_modules/.bin/biome')

const releases = await readReleases(RELEASES, console.log)
const versions = RELEASES.map((release) => modulesOf(release).get('k8s.io/kubernetes')).join(' ')
const source = `Read from k8s.io/kubernetes and the modules k8s.io/kubelet, api, apiserver, apiextensions-apiserver, client-go, component-base, cloud-provider and controller-manager of the same releases: ${versions}.`

await write(GENERATED.fields, 'Every field of KubeletConfiguration: its type and the minors of 1.x that know it.', fieldsModule(releases))
await write(GENERATED.defaults, 'What each field of KubeletConfiguration is where the config does not set it.', defaultsModule(releases))
await write(GENERATED.gates, 'Every feature gate that a kubelet has known.', gatesModule(releases))
await write(
  GENERATED.dependent,
  'Defaults that depend on other fields or on feature gates: the code that sets them.',
  dependentModule(releases),
)

async function write(name: string, what: string, body: string): Promise<void> {
  const path = join(ROOT, name)
  mkdirSync(dirname(path), { recursive: true })
  const { stdout } = await run(BIOME, ['format', '--stdin-file-path', path], { cwd: ROOT, input: body })
  writeFileSync(path, seal([what, source], stdout))
}
