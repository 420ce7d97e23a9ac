// SPDX-License-Identifier: Apache-2.0
/** Builds an rpm from a payload with rpmbuild and the spec in packaging/rpm. */
import { resolve } from 'node:path'
import type { PackageInput } from './package-input.ts'
import { rpmDate } from './project.ts'
import { run } from './tools.ts'

/** @returns the path of the rpm */
export async function buildRpm({ payload, directory, architecture, compression, project }: PackageInput): Promise<string> {
  const { name, version, maintainer, epoch } = project
  const top = resolve(directory)
  const macros = {
    _topdir: top,
    _rpmdir: top,
    _rpmfilename: `${name}-%{version}-%{release}.%{_arch}.rpm`,
    payload: resolve(payload),
    the_version: version,
    maintainer,
    changelog_date: rpmDate(epoch),
    xz_level: String(compression.xz),
  }
  const defines = Object.entries(macros).flatMap(([macro, value]) => ['--define', `${macro} ${value}`])
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch) }
  await run('rpmbuild', ['-bb', '--target', `${architecture.rpm}-linux`, ...defines, `packaging/rpm/${name}.spec`], { env })
  return `${top}/${name}-${version}-1.${architecture.rpm}.rpm`
}
