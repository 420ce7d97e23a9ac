// SPDX-License-Identifier: Apache-2.0
/**
 * A release on a node, by apt: installed and upgraded from its signed repository. What an attacker
 * makes of that repository, who has the web server and not the key, is refused.
 */
import { strict as assert } from 'node:assert'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { writeAptRepository } from '../../../scripts/release/apt-repository.ts'
import type { Signer } from '../../../scripts/release/signer.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { CommandError, run } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { findDeb } from '../node/install-agent.ts'
import { type Node, withNode } from '../node/node.ts'
import { keepingKubelet, withVersion } from '../node/packages.ts'
import { type FileServer, withFileServer } from './serve.ts'
import { type ThrowAwayKeys, withThrowAwayKeys } from './throw-away-keys.ts'

const AGENT = 'kubelet-cfg-agent'
const KEY = '/etc/apt/keyrings/kubelet-cfg-agent.asc'
const RELEASE = ['InRelease', 'Release', 'Release.gpg'].map((name) => `dists/stable/${name}`)

/** Only where `npm run package` has made a deb. */
export async function addAptScenario(plane: ControlPlane, program: string): Promise<void> {
  const deb = await findDeb()
  if (deb === undefined) return
  scenario('node: release: apt installs it, upgrades it, and refuses what was tampered with', (step) =>
    withNode(plane, program, { name: 'release', agent: 'absent' }, (node, admin) =>
      withThrowAwayKeys(plane.directory, (keys) =>
        withFileServer(async (server) => {
          const home = join(plane.directory, 'release')
          const publish = (name: string, packages: readonly string[], signer: Signer | undefined) =>
            writeRepository(join(home, name), packages, signer)
          const earlier = await step('an earlier version is made', async () => {
            await mkdir(home)
            return withVersion(join(home, 'earlier-deb'), deb, '0.0.1')
          })
          const first = await publish('first', [earlier], keys.ours)
          const second = await publish('second', [earlier, deb], keys.ours)
          const version = basename(deb).split('_')[1]
          await step("with the key of somebody else it is refused, and with the release's key installed", () =>
            keepingKubelet(node, async () => {
              server.directory = first
              await addSource(node, server, keys.somebodyElses)
              await refuses(node, ['update'], /is not signed/)
              await addSource(node, server, keys.ours)
              await node.exec('apt-get', 'update')
              await node.exec('apt-get', 'install', '--yes', AGENT)
              assert.equal(await versionOf(node), '0.0.1')
              await admin.untilStatus({})
              assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
              assert(
                server.served.some((path) => path.includes('/by-hash/SHA256/')),
                'apt asks for an index by its digest',
              )
            }),
          )
          await step('a later version is an upgrade', () =>
            keepingKubelet(node, async () => {
              server.directory = second
              await node.exec('apt-get', 'update')
              await node.exec('apt-get', 'install', '--only-upgrade', '--yes', AGENT)
              assert.equal(await versionOf(node), version)
            }),
          )
          const evil = await makeEvilDeb(home, deb)
          for (const { what, directory, why } of await tamper(home, { good: second, evil, keys })) {
            await step(`refused: ${what}`, async () => {
              server.directory = directory
              await forget(node)
              await refuses(node, ['update'], why)
              await refuses(node, ['install', '--yes', `${AGENT}=9.9.9`], /Version '9\.9\.9' for 'kubelet-cfg-agent' was not found/)
            })
          }
          await step('refused: a package with one changed byte', async () => {
            server.directory = join(home, 'changed')
            await cp(second, server.directory, { recursive: true })
            await changeByte(join(server.directory, 'pool/main', basename(deb)))
            await forget(node)
            await node.exec('apt-get', 'update')
            await refuses(node, ['install', '--yes', '--reinstall', AGENT], /Hash Sum mismatch/)
            assert.equal(await versionOf(node), version)
          })
          await step('from the good one it is installed again', async () => {
            server.directory = second
            await forget(node)
            await node.exec('apt-get', 'update')
            await node.exec('apt-get', 'install', '--yes', '--reinstall', AGENT)
            assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'active')
          })
        }),
      ),
    ),
  )
}

async function writeRepository(directory: string, packages: readonly string[], signer: Signer | undefined): Promise<string> {
  await writeAptRepository(directory, { name: AGENT, description: 'a test', packages, epoch: 1_795_000_000, signer })
  return directory
}

/** Adds the only source that is asked. */
async function addSource(node: Node, { url }: FileServer, signer: Signer): Promise<void> {
  for (const name of ['sources.list', 'sources.list.d']) await rm(node.host('/etc/apt', name), { recursive: true, force: true })
  for (const name of ['sources.list.d', 'keyrings']) await mkdir(node.host('/etc/apt', name), { recursive: true })
  await signer.publicKey(node.host(KEY))
  await writeFile(
    node.host(`/etc/apt/sources.list.d/${AGENT}.sources`),
    `Types: deb\nURIs: ${url}\nSuites: stable\nComponents: main\nSigned-By: ${KEY}\n`,
  )
}

/** As a node that has not asked before. */
async function forget(node: Node): Promise<void> {
  await node.exec('apt-get', 'clean')
  await rm(node.host('/var/lib/apt/lists'), { recursive: true, force: true })
}

async function versionOf(node: Node): Promise<string> {
  return /^Version: (.*)$/m.exec((await node.exec('dpkg-query', '--status', AGENT)).stdout)?.[1] ?? 'none'
}

async function refuses(node: Node, args: readonly string[], why: RegExp): Promise<CommandError> {
  const error = await node.exec('apt-get', ...args).then(
    ({ stdout, stderr }) => assert.fail(`apt-get ${args.join(' ')} passed:\n${stdout}${stderr}`),
    (cause: unknown) => cause,
  )
  assert(error instanceof CommandError)
  assert.equal(error.exitStatus, 100)
  assert.match(error.stderr, why)
  return error
}

/** A package that everybody would install who trusted its version. */
async function makeEvilDeb(home: string, like: string): Promise<string> {
  const tree = join(home, 'evil')
  const architecture = basename(like).replace(/^.*_|\.deb$/g, '')
  await mkdir(join(tree, 'DEBIAN'), { recursive: true })
  await writeFile(
    join(tree, 'DEBIAN/control'),
    `Package: ${AGENT}\nVersion: 9.9.9\nArchitecture: ${architecture}\nMaintainer: nobody <nobody@example.org>\nDescription: evil\n`,
  )
  const deb = join(home, `${AGENT}_9.9.9_${architecture}.deb`)
  await run('dpkg-deb', ['--build', tree, deb])
  return deb
}

interface Loot {
  readonly good: string
  readonly evil: string
  readonly keys: ThrowAwayKeys
}

interface Attack {
  readonly what: string
  /** Of a repository that offers the evil one. */
  readonly directory: string
  /** The error of apt. */
  readonly why: RegExp
}

async function tamper(home: string, { good, evil, keys }: Loot): Promise<readonly Attack[]> {
  const under = (name: string) => join(home, name)
  const swapped = await writeRepository(under('swapped'), [evil], undefined)
  for (const path of RELEASE) await cp(join(good, path), join(swapped, path))
  const edited = await writeRepository(under('edited'), [evil], undefined)
  const release = await readFile(join(edited, 'dists/stable/Release'), 'utf8')
  const signed = await readFile(join(good, 'dists/stable/InRelease'), 'utf8')
  // The text of the one in the armour of the other.
  await writeFile(
    join(edited, 'dists/stable/InRelease'),
    signed.replace(/(?<=\n\n)Origin:[\s\S]*?(?=-----BEGIN PGP SIGNATURE)/, () => release),
  )
  const why = /^E: The repository .* is not signed/m
  const somebodyElses = await writeRepository(under('somebody-elses'), [evil], keys.somebodyElses)
  return [
    { what: 'an index that the signed Release does not name', directory: swapped, why: /Packages.*(unexpected size|Hash Sum mismatch)/ },
    { what: 'a Release without a signature', directory: await writeRepository(under('unsigned'), [evil], undefined), why },
    { what: 'a Release that somebody else signed', directory: somebodyElses, why },
    { what: 'a Release that was edited after it was signed', directory: edited, why },
  ]
}

async function changeByte(file: string): Promise<void> {
  const bytes = await readFile(file)
  const at = bytes.length >> 1
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  await writeFile(file, bytes)
}
