import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { buildPlugin } from '../../scripts/package/plugin-archive.ts'
import type { Project } from '../../scripts/package/project.ts'

const PROJECT = { version: '1.2.3', epoch: 1_700_000_000 } as Project

/** A bundle that says under which name it was started. */
async function build(directory: string): Promise<string[]> {
  const agent = join(directory, 'agent')
  mkdirSync(agent, { recursive: true })
  writeFileSync(join(agent, 'kubelet-cfg-agent.mjs'), 'console.log(process.argv[1].split("/").at(-1), ...process.argv.slice(2))\n')
  return buildPlugin(join(directory, 'work'), { project: PROJECT, agent, url: 'https://example.org/x', licences: 'none' })
}

t.test('the archive starts the bundle under the name of the plugin, also by a link', async (t) => {
  const directory = t.testdir({ build: {}, unpacked: {}, bin: {} })
  const [archive = ''] = await build(join(directory, 'build'))
  execFileSync('tar', ['-xzf', archive, '-C', join(directory, 'unpacked')])
  for (const name of ['kubectl-kubelet_config', 'kubectl_complete-kubelet_config']) {
    const link = join(directory, 'bin', name)
    symlinkSync(join(directory, 'unpacked', name), link)
    t.equal(execFileSync(link, ['get', '-w'], { encoding: 'utf8' }), `${name} get -w\n`)
  }
  t.match(execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }), /README\n[\s\S]*lib\/kubelet-cfg-agent\.mjs/)
})

t.test('the manifest for krew has its checksum, for four platforms', async (t) => {
  const directory = t.testdir({ one: {}, two: {} })
  const [archive = '', manifest = ''] = await build(join(directory, 'one'))
  const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex')
  const { metadata, spec } = parse(readFileSync(manifest, 'utf8'))
  t.equal(metadata.name, 'kubelet-config')
  t.equal(spec.version, 'v1.2.3')
  t.same(
    spec.platforms.map(({ selector }: { selector: { matchLabels: { os: string; arch: string } } }) =>
      Object.values(selector.matchLabels).join('/'),
    ),
    ['linux/amd64', 'linux/arm64', 'darwin/amd64', 'darwin/arm64'],
  )
  for (const platform of spec.platforms)
    t.match(platform, { sha256, uri: 'https://example.org/x/kubectl-kubelet_config_1.2.3.tar.gz', bin: 'kubectl-kubelet_config' })
  const [again = ''] = await build(join(directory, 'two'))
  t.same(readFileSync(again), readFileSync(archive), 'the same bytes')
})
