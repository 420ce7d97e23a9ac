// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { QUICK } from '../../scripts/package/compression.ts'
import { LINK_COMPLETER } from '../../scripts/package/krew.ts'
import { PLUGIN_PINS } from '../../scripts/package/pins.ts'
import { buildPlugin } from '../../scripts/package/plugin-archive.ts'
import type { Project } from '../../scripts/package/project.ts'

const PROJECT = { version: '1.2.3', epoch: 1_700_000_000, licence: 'Apache-2.0', description: 'x' } as Project
const PLUGIN = 'kubectl-kubelet_config'
const COMPLETER = 'kubectl_complete-kubelet_config'

/** A bundle that says under which name it was started, and by which Node.js. */
const BUNDLE = `console.log(process.argv[1].split('/').at(-1), ...process.argv.slice(2), process.env.NODE_OPTIONS, process.env.STARTED)\n`

async function build(directory: string): Promise<string[]> {
  const agent = join(directory, 'agent')
  mkdirSync(agent, { recursive: true })
  writeFileSync(join(agent, 'kubelet-cfg-agent.mjs'), BUNDLE)
  const binary = join(directory, 'node')
  writeFileSync(binary, `#!/bin/sh\nSTARTED=own exec '${process.execPath}' "$@"\n`)
  const runtimes = PLUGIN_PINS.map((pin) => {
    const integrity = `sha512-${Buffer.alloc(64).toString('base64')}`
    const licence = { version: '22.0.0', integrity, licenceText: 'of Node.js' }
    const runtime = { name: 'Node.js', npmName: pin.npmName, licence: 'MIT', homepage: undefined, isStripped: false, parts: {}, ...licence }
    return { fetched: { pin: { ...pin, triplet: undefined }, binary, ...licence }, runtime }
  })
  return buildPlugin(join(directory, 'work'), {
    project: PROJECT,
    agent,
    components: [],
    runtimes,
    url: 'https://example.org/x',
    compression: QUICK,
  })
}

t.test('an archive', async (t) => {
  const directory = t.testdir({ build: {}, away: {}, 'with space': {}, bin: {}, tools: {} })
  const at = (...path: string[]) => join(directory, ...path)
  const [archive = ''] = await build(at('build'))
  const home = at('with space', 'home')
  mkdirSync(home)
  execFileSync('tar', ['-xzf', archive, '-C', home])
  symlinkSync(execFileSync('sh', ['-c', 'command -v readlink'], { encoding: 'utf8' }).trim(), at('tools/readlink'))
  const start = (file: string, { cwd = directory, path = '' } = {}) => {
    const env = { PATH: [at('tools'), path].join(delimiter), NODE_OPTIONS: '--no-such-option' }
    const { stdout, stderr, status } = spawnSync(file, ['get', '-w', ''], { cwd, env, encoding: 'utf8' })
    return status === 0 ? stdout : `${status}: ${stderr}`
  }
  const says = (name: string) => `${name}.mjs get -w  undefined own\n`

  t.test('starts the bundle with its own Node.js, where it lies and from anywhere', async (t) => {
    for (const name of [PLUGIN, COMPLETER]) {
      t.equal(start(join(home, name)), says(name), 'by its path')
      t.equal(start(`./${name}`, { cwd: home }), says(name), 'by a relative path')
      t.equal(start(`with space/home/${name}`), says(name))
    }
    t.equal(start(PLUGIN, { cwd: home, path: '.' }), says(PLUGIN), 'by a relative directory of the PATH')
  })

  t.test('follows links: absolute, relative, links to links, through linked directories', async (t) => {
    for (const name of [PLUGIN, COMPLETER]) {
      symlinkSync(join(home, name), at('bin', name))
      t.equal(start(at('bin', name)), says(name))
      t.equal(start(name, { path: at('bin') }), says(name), 'on the PATH')
      symlinkSync(`../bin/${name}`, at('away', name))
      t.equal(start(at('away', name)), says(name))
      t.equal(start(`away/${name}`), says(name))
    }
    symlinkSync(at('away'), at('linked'))
    t.equal(start(at('linked', PLUGIN)), says(PLUGIN))
  })

  t.test('is the completer by a second link to the link of krew', async (t) => {
    mkdirSync(at('krew/bin'), { recursive: true })
    symlinkSync(join(home, PLUGIN), at('krew/bin', PLUGIN))
    execFileSync('sh', ['-c', LINK_COMPLETER], { env: { PATH: process.env.PATH, KREW_ROOT: at('krew') } })
    t.equal(start(at('krew/bin', COMPLETER)), says(COMPLETER))
  })

  t.test('says what is wrong with a copy', async (t) => {
    copyFileSync(join(home, PLUGIN), at(PLUGIN))
    chmodSync(at(PLUGIN), 0o755)
    t.match(start(at(PLUGIN)), /^127: kubectl-kubelet_config: .*\/node is missing: .*link this program instead of copying it/)
  })

  t.test('has the licences and the bill of materials', async (t) => {
    t.match(readFileSync(join(home, 'THIRD-PARTY-LICENCES'), 'utf8'), /Node\.js 22\.0\.0, with the libraries[\s\S]*of Node\.js/)
    const bill = JSON.parse(readFileSync(join(home, 'sbom.cdx.json'), 'utf8'))
    t.match(bill.metadata.component, { name: PLUGIN, version: '1.2.3', properties: [{ value: 'linux/amd64' }] })
    t.match(bill.components, [{ name: 'Node.js', description: 'JavaScript runtime, as published' }])
    t.match(execFileSync('tar', ['--numeric-owner', '-tvzf', archive], { encoding: 'utf8' }), /-rwxr-xr-x 0\/0 .* 2023-11-14 .* \.\/node\n/)
  })
})

t.test('one archive for each platform, with its checksum in the manifest for krew', async (t) => {
  const directory = t.testdir({ one: {}, two: {} })
  const files = await build(join(directory, 'one'))
  const archives = files.filter((file) => file.endsWith('.tar.gz'))
  const { metadata, spec } = parse(readFileSync(files.at(-1) ?? '', 'utf8'))
  t.equal(metadata.name, 'kubelet-config')
  t.equal(spec.version, 'v1.2.3')
  const platforms = [
    { os: 'linux', arch: 'amd64' },
    { os: 'linux', arch: 'arm64' },
    { os: 'darwin', arch: 'amd64' },
    { os: 'darwin', arch: 'arm64' },
  ]
  t.strictSame(
    spec.platforms,
    platforms.map((matchLabels, index) => ({
      selector: { matchLabels },
      uri: `https://example.org/x/kubectl-kubelet_config_1.2.3_${matchLabels.os}_${matchLabels.arch}.tar.gz`,
      sha256: createHash('sha256')
        .update(readFileSync(archives[index] ?? ''))
        .digest('hex'),
      files: [{ from: '*', to: '.' }],
      bin: PLUGIN,
    })),
  )
  const again = await build(join(directory, 'two'))
  for (const [index, file] of files.entries())
    t.same(readFileSync(again[index] ?? ''), readFileSync(file), `the same bytes: ${basename(file)}`)
})
