// SPDX-License-Identifier: Apache-2.0
/**
 * Builds a deb from a payload with debhelper: packaging/deb becomes debian/, with the changelog and
 * the maintainer added.
 */
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PackageInput } from './package-input.ts'
import { debianDate, type Project } from './project.ts'
import { run } from './tools.ts'

/** @returns the path of the deb */
export async function buildDeb({ payload, directory, architecture, compression, project }: PackageInput): Promise<string> {
  const { name, version, maintainer, epoch } = project
  const source = join(directory, 'source')
  const debian = join(source, 'debian')
  await cp(payload, source, { recursive: true, preserveTimestamps: true })
  await cp('packaging/deb', debian, { recursive: true })
  const control = await readFile(join(debian, 'control'), 'utf8')
  await writeFile(
    join(debian, 'control'),
    control.replace('@MAINTAINER@', () => maintainer),
  )
  await writeFile(join(debian, 'changelog'), debianChangelog(project))
  // debhelper needs the unit here to write its part of the maintainer scripts.
  await cp(join(source, 'systemd', `${name}.service`), join(debian, `${name}.service`))
  const env = {
    ...process.env,
    SOURCE_DATE_EPOCH: String(epoch),
    DEB_BUILD_OPTIONS: 'nocheck noautodbgsym',
    DEB_BUILD_MAINT_OPTIONS: '',
    XZ_LEVEL: String(compression.xz),
  }
  // -d: nothing is compiled, so no compiler for the architecture is needed.
  await run('dpkg-buildpackage', ['--build=binary', '-us', '-uc', '-d', `--host-arch=${architecture.deb}`], { cwd: source, env })
  await rm(source, { recursive: true })
  return join(directory, `${name}_${version}_${architecture.deb}.deb`)
}

/** Git has the history. The package's changelog has only the version and its time. */
export function debianChangelog({ name, version, maintainer, epoch }: Pick<Project, 'name' | 'version' | 'maintainer' | 'epoch'>): string {
  return `${name} (${version}) unstable; urgency=medium\n\n  * Version ${version}.\n\n -- ${maintainer}  ${debianDate(epoch)}\n`
}
