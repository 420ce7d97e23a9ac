// SPDX-License-Identifier: Apache-2.0
/**
 * A release by dnf, into an empty root of its own: installed and upgraded from its signed
 * repository, and refused if somebody without the key has changed it.
 */
import { strict as assert } from 'node:assert'
import { appendFile, copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Signer } from '../../../scripts/release/signer.ts'
import { writeYumRepository } from '../../../scripts/release/yum-repository.ts'
import { CommandError, type CommandOutput, makeScratch, run } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { findRpm } from '../node/install-agent.ts'
import { makeRpm, whatItRequires } from './small-rpm.ts'
import { withThrowAwayKeys } from './throw-away-keys.ts'

const AGENT = 'kubelet-cfg-agent'

/** Only where `npm run package` has made an rpm. */
export async function addYumScenario(): Promise<void> {
  const rpm = await findRpm()
  if (rpm === undefined) return
  scenario('release: dnf installs it, upgrades it, and refuses what was tampered with', (step) => {
    const home = makeScratch()
    return withThrowAwayKeys(home, async ({ ours, somebodyElses }) => {
      const root = new Root(home)
      const publish = async (name: string, packages: readonly string[], signer: Signer | undefined) => {
        await writeYumRepository(join(home, name), { packages, epoch: 1_795_000_000, signer })
        return join(home, name)
      }
      const version = basename(rpm).split('-').at(-2)
      const [first, second, evil] = await step('repositories are made', async () => {
        const distribution = await makeRpm(home, { name: 'distribution', version: '1', provides: await whatItRequires(rpm) })
        const earlier = await makeRpm(home, { name: AGENT, version: '0.0.1', provides: [] })
        const evilRpm = await makeRpm(home, { name: AGENT, version: '9.9.9', provides: [] })
        return [
          await publish('first', [distribution, earlier], ours),
          await publish('second', [distribution, earlier, rpm], ours),
          await publish('evil', [distribution, evilRpm], undefined),
        ] as const
      })
      await step("with the key of somebody else it is refused, and with the release's key installed", async () => {
        await root.use(first, somebodyElses)
        await root.refuses(['install', AGENT], /GPG signature verification error/)
        await root.use(first, ours)
        await root.dnf('install', AGENT)
        assert.equal(await root.version(), '0.0.1')
      })
      await step('a later version is an upgrade', async () => {
        await root.use(second, ours)
        await root.dnf('upgrade', AGENT)
        assert.equal(await root.version(), version)
        await root.rpm('--verify', '--nodeps', AGENT)
      })
      await step('refused: a repository without a signature', async () => {
        await root.use(evil, ours)
        await root.refuses(['upgrade', AGENT], /GPG signature is not available/)
      })
      await step('refused: an rpm without a signature, where the index is not checked', async () => {
        await root.use(evil, ours, { checksIndex: false })
        await root.refuses(['upgrade', AGENT], /is not signed/)
        await root.use(evil, ours)
      })
      await step('refused: an index under the signature of another', async () => {
        await copyFile(join(second, 'repodata/repomd.xml.asc'), join(evil, 'repodata/repomd.xml.asc'))
        await root.refuses(['upgrade', AGENT], /GPG signature verification error: Bad GPG signature/)
      })
      await step('refused: an index that the signed one does not name', async () => {
        await putUnder(join(second, 'repodata'), join(evil, 'repodata'))
        await root.use(evil, ours)
        await root.refuses(['upgrade', AGENT], /checksum doesn't match/)
      })
      await step('refused: another package under the name of a good one', async () => {
        const replaced = join(home, 'replaced')
        await cp(second, replaced, { recursive: true })
        const inside = join(replaced, 'Packages', basename(rpm))
        await appendFile(inside, 'x')
        await root.use(replaced, ours)
        await root.refuses(['reinstall', AGENT], /incorrect checksum/)
        assert.equal(await root.version(), version)
      })
      await step('rpmkeys takes the signature of the rpm, and sees a changed byte', async () => {
        const signed = join(second, 'Packages', basename(rpm))
        const { stdout } = await root.checkSignature(signed)
        assert.match(stdout, /digests signatures OK/)
        const bytes = await readFile(signed)
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
        const broken = join(home, 'broken.rpm')
        await writeFile(broken, bytes)
        await assert.rejects(root.checkSignature(broken), ({ stdout: said }: CommandError) => /NOT OK/.test(said))
        await assert.rejects(root.checkSignature(rpm), /./, 'an unsigned one, where a signature is asked for')
      })
    })
  })
}

/** The signed index of the one, and each list under the name that this index has for it. */
async function putUnder(good: string, evil: string): Promise<void> {
  const lists = await readdir(evil)
  for (const name of await readdir(good)) {
    const same = lists.find((list) => list.endsWith('.gz') && list.replace(/^[0-9a-f]+/, '') === name.replace(/^[0-9a-f]+/, ''))
    await copyFile(same === undefined ? join(good, name) : join(evil, same), join(evil, name))
  }
}

/** An empty root with a database of rpm's, and one repository. */
class Root {
  readonly #home: string
  readonly #config: string
  readonly #key: string

  constructor(home: string) {
    this.#home = join(home, 'root')
    this.#config = join(home, 'dnf.conf')
    this.#key = join(home, 'key.asc')
  }

  /** `tsflags`: the root has no shell for the package's scriptlets. */
  async use(repository: string, signer: Signer, { checksIndex } = { checksIndex: true }): Promise<void> {
    await mkdir(this.#home, { recursive: true })
    await rm(join(this.#home, 'var/cache/dnf'), { recursive: true, force: true })
    await signer.publicKey(this.#key)
    await writeFile(
      this.#config,
      `[main]
reposdir=/nonexistent
plugins=0
tsflags=noscripts
[agent]
name=agent
baseurl=file://${repository}
gpgcheck=1
repo_gpgcheck=${checksIndex ? 1 : 0}
gpgkey=file://${this.#key}
metadata_expire=0
`,
    )
  }

  dnf(...args: readonly string[]): Promise<CommandOutput> {
    const options = ['--assumeyes', '--config', this.#config, '--installroot', this.#home, '--releasever', '1']
    return run('dnf', [...options, ...args])
  }

  async refuses(args: readonly string[], why: RegExp): Promise<void> {
    const error = await this.dnf(...args).then(
      ({ stdout, stderr }) => assert.fail(`dnf ${args.join(' ')} passed:\n${stdout}${stderr}`),
      (cause: unknown) => cause,
    )
    assert(error instanceof CommandError)
    assert.match(error.stdout + error.stderr, why)
  }

  rpm(...args: readonly string[]): Promise<CommandOutput> {
    return run('rpm', ['--root', this.#home, ...args])
  }

  async version(): Promise<string> {
    return (await this.rpm('--query', '--queryformat', '%{VERSION}', AGENT)).stdout
  }

  /** With no key but that of `use`. */
  async checkSignature(file: string): Promise<CommandOutput> {
    const database = ['--dbpath', join(this.#home, 'keys')]
    await run('rpmkeys', [...database, '--import', this.#key])
    return run('rpmkeys', [...database, '--define', '_pkgverify_level all', '--checksig', file])
  }
}
