// SPDX-License-Identifier: Apache-2.0
/**
 * The image of deploy/install/daemonset.yaml, without a container engine: a busybox, the scripts of
 * packaging/image, a deb and an rpm, for each architecture. It becomes an OCI layout in a tar,
 * which skopeo and containerd read.
 */
import { chmod, copyFile, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ARCHITECTURES, type Architecture } from './architectures.ts'
import { type Busybox, fetchBusybox } from './busybox.ts'
import { digestOf } from './digest.ts'
import { imageBill } from './image-bill.ts'
import { type ArchitectureImage, type Layer, ociLayout } from './oci.ts'
import type { Project } from './project.ts'
import { packTree } from './tar.ts'
import { run } from './tools.ts'

const SCRIPTS = 'packaging/image'
const SPEC = 'packaging/rpm/kubelet-cfg-agent.spec'
const GPL = '/usr/share/common-licenses/GPL-2'
const DESCRIPTION = 'Installs kubelet-cfg-agent on the node of its pod'
interface ImageFiles {
  readonly project: Pick<Project, 'name' | 'version' | 'epoch'>
  /** Paths of the deb, the rpm and the bill of materials of each architecture. */
  readonly packages: readonly string[]
  /** Where what is fetched stays for the next build. */
  readonly fetched: string
}

/** @returns the path of the tar */
export async function buildImage(work: string, { project, packages, fetched }: ImageFiles): Promise<string> {
  const { version, epoch } = project
  const name = `${project.name}-install`
  const layout = join(work, 'layout')
  await rm(work, { recursive: true, force: true })
  await mkdir(join(layout, 'blobs/sha256'), { recursive: true })
  const images: ArchitectureImage[] = []
  for (const architecture of ARCHITECTURES) {
    const found = await findFiles(architecture, project.name, packages)
    const busybox = await fetchBusybox(architecture.deb, fetched)
    const layers = await layOut(join(work, architecture.deb), { busybox, epoch, ...found })
    const files = await Promise.all(
      [found.deb, found.rpm].map(async ({ path }) => ({ name: basename(path), sha256: await digestOf(path) })),
    )
    const packageBill = await readFile(found.bill, 'utf8')
    const bill = imageBill({ name, description: DESCRIPTION, architecture: architecture.deb, packageBill, files, busybox })
    images.push({ architecture: architecture.deb, layers, bill })
  }
  const annotations = {
    'org.opencontainers.image.created': new Date(epoch * 1000).toISOString(),
    'org.opencontainers.image.title': name,
    'org.opencontainers.image.description': DESCRIPTION,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': (await run('git', ['rev-parse', 'HEAD'])).trim(),
    'org.opencontainers.image.licenses': await readLicences(),
  }
  // Not root, unless the pod says so: what sleeps after the installation needs no rights.
  const process = { User: '65534:65534', Entrypoint: ['/installer/installer'], Env: ['PATH=/bin'] }
  for (const [path, bytes] of ociLayout({ annotations, tag: version, process, images })) await writeFile(join(layout, path), bytes)
  const archive = join(work, `${name}_${version}.oci.tar`)
  await packTree(layout, archive, epoch)
  return archive
}

interface Package {
  readonly path: string
  /** As the package manager knows it. */
  readonly version: string
}

interface Found {
  readonly deb: Package
  readonly rpm: Package
  readonly bill: string
}

/** Throws if one of them is missing. */
async function findFiles(architecture: Architecture, name: string, packages: readonly string[]): Promise<Found> {
  const find = (suffix: string) => {
    // The plugin's archives have bills too.
    const path = packages.find((each) => basename(each).startsWith(name) && each.endsWith(suffix))
    if (path === undefined) throw new Error(`the image needs a package that is not there: ${name}*${suffix}`)
    return path
  }
  const [deb, rpm] = [find(`_${architecture.deb}.deb`), find(`.${architecture.rpm}.rpm`)]
  const [debVersion, rpmVersion] = [
    await run('dpkg-deb', ['--field', deb, 'Version']),
    await run('rpm', ['--query', '--package', '--queryformat', '%{VERSION}-%{RELEASE}', rpm]),
  ]
  return {
    deb: { path: deb, version: debVersion.trim() },
    rpm: { path: rpm, version: rpmVersion.trim() },
    bill: find(`_${architecture.deb}.cdx.json`),
  }
}

interface LayerInput extends Found {
  readonly busybox: Busybox
  readonly epoch: number
}

/** What seldom changes comes first, so that registries and nodes have it already. */
async function layOut(work: string, { busybox, deb, rpm, epoch }: LayerInput): Promise<Layer[]> {
  const pack = async (name: string, comment: string, fill: (at: (path: string) => string) => Promise<void>): Promise<Layer> => {
    const root = join(work, name)
    const at = (path: string) => join(root, path)
    await mkdir(root, { recursive: true })
    await fill(at)
    const archive = `${root}.tar`
    await packTree(root, archive, epoch)
    const diffSha256 = await digestOf(archive)
    // The packages are compressed already. The compression of Node.js depends on the processor.
    await run('gzip', ['-n', '-1', archive])
    return { bytes: await readFile(`${archive}.gz`), diffSha256, comment }
  }
  const put = async ({ path, version }: Package, format: string, at: (path: string) => string) => {
    await mkdir(at('packages'))
    await copyFile(path, at(`packages/${version}.${format}`))
  }
  return [
    await pack('base', `busybox-static ${busybox.version} of Debian`, async (at) => {
      for (const folder of ['bin', 'usr/share/doc/busybox-static', 'usr/share/common-licenses', 'installer', 'settings'])
        await mkdir(at(folder), { recursive: true })
      await copyFile(join(busybox.root, 'bin/busybox'), at('bin/busybox'))
      // Its shell starts all other programs of busybox by itself.
      await symlink('busybox', at('bin/sh'))
      await copyFile(join(busybox.root, 'usr/share/doc/busybox-static/copyright'), at('usr/share/doc/busybox-static/copyright'))
      await copyFile(GPL, at('usr/share/common-licenses/GPL-2'))
      await cp(SCRIPTS, at('installer'), { recursive: true })
      for (const program of ['installer/installer', 'bin/busybox']) await chmod(at(program), 0o755)
    }),
    await pack('deb', `the deb of ${deb.version}`, (at) => put(deb, 'deb', at)),
    await pack('rpm', `the rpm of ${rpm.version}`, (at) => put(rpm, 'rpm', at)),
  ]
}

/** Of the packages, as the spec names them, and of busybox. */
async function readLicences(): Promise<string> {
  const licences = /^License: (.+)$/m.exec(await readFile(SPEC, 'utf8'))?.[1]
  if (licences === undefined) throw new Error(`${SPEC} names no licence`)
  return `${licences} AND GPL-2.0-only`
}
