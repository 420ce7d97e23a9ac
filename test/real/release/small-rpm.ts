// SPDX-License-Identifier: Apache-2.0
/** Rpms without files, for what a test needs beside the real one. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../lab/processes.ts'

interface SmallRpm {
  readonly name: string
  readonly version: string
  readonly provides: readonly string[]
}

/** @returns its path */
export async function makeRpm(home: string, { name, version, provides }: SmallRpm): Promise<string> {
  const top = join(home, `${name}-${version}`)
  await mkdir(top, { recursive: true })
  const spec = join(top, 'small.spec')
  const lines = provides.map((each) => `Provides: ${each}\n`).join('')
  const head = `Name: ${name}\nVersion: ${version}\nRelease: 1\nSummary: small\nLicense: none\nAutoReqProv: no\n`
  await writeFile(spec, `${head}${lines}\n%description\nSmall.\n\n%files\n`)
  const macros = { _topdir: top, _rpmdir: top, _rpmfilename: '%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm' }
  await run('rpmbuild', ['--quiet', '-bb', ...Object.entries(macros).flatMap((macro) => ['--define', macro.join(' ')]), spec])
  return join(top, `${name}-${version}-1.${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.rpm`)
}

/** The capabilities that a distribution has to provide for an rpm to be installed. */
export async function whatItRequires(rpm: string): Promise<string[]> {
  const { stdout } = await run('rpm', ['--query', '--package', '--requires', rpm])
  const lines = stdout.split('\n').filter((line) => line !== '' && !/^(rpmlib|config)\(/.test(line))
  return [...new Set(lines)]
}
