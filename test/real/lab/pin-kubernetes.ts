// SPDX-License-Identifier: Apache-2.0
/**
 * Pins a release of Kubernetes for the lab: writes its folder in `kubernetes/` anew, with the
 * module, the sums of all that it needs, and the commands that are built. What `kubernetes/` has
 * for the same minor keeps its commands; another minor gets kubelet alone. It needs the module
 * proxy: `node --import tsx test/real/lab/pin-kubernetes.ts 1.35.8`.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MODULES, readModule } from './build-modern-kubernetes.ts'
import { findGo } from './go-toolchain.ts'
import { run } from './processes.ts'

const KUBERNETES = 'k8s.io/kubernetes'
const TIDY_MS = 15 * 60_000
const TOOLS = `//go:build tools

package tools

import _ "${KUBERNETES}/cmd/kubelet"
`

interface ModuleFile {
  readonly Require: readonly { readonly Path: string; readonly Version: string }[]
}

/** @param version `1.35.8` */
async function pinKubernetes(version: string, report: (line: string) => void): Promise<void> {
  const [, minor, patch] = /^1\.(\d+)\.(\d+)$/.exec(version)?.map(Number) ?? []
  if (minor === undefined || patch === undefined) throw new Error(`not a release of Kubernetes: '${version}', which must be like 1.35.8`)
  const folder = join(MODULES, `1.${minor}`)
  const work = await mkdtemp(join(tmpdir(), 'pin-kubernetes-'))
  try {
    const go = await findGo(work, report)
    const ask = async (args: readonly string[], cwd: string) =>
      (await run(go.file, args, { cwd, env: { ...go.env, GOFLAGS: '-mod=mod -modcacherw' }, timeoutMs: TIDY_MS })).stdout
    await writeFile(join(work, 'go.mod'), 'module pin\n')
    const { GoMod } = JSON.parse(await ask(['mod', 'download', '-json', `${KUBERNETES}@v${version}`], work))
    const upstream: ModuleFile = JSON.parse(await ask(['mod', 'edit', '-json', GoMod], work))
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'go.mod'), moduleFile(minor, patch, upstream))
    if (!existsSync(join(folder, 'tools.go'))) await writeFile(join(folder, 'tools.go'), TOOLS)
    await rm(join(folder, 'go.sum'), { force: true })
    // Tests of its dependencies need what is not to be had: their errors are no obstacle.
    await ask(['mod', 'tidy', '-e'], folder)
    const pinned = readModule(minor)
    if (pinned.version !== `v${version}`) throw new Error(`${folder}/go.mod requires ${KUBERNETES} ${pinned.version}, not v${version}`)
    await ask(['list', '-mod=readonly', '-deps', ...pinned.commands], folder)
    report(`pinned ${KUBERNETES} v${version} in ${folder}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Kubernetes names the modules of its own repository by v0.0.0: each was published by itself. */
function moduleFile(minor: number, patch: number, { Require: requirements }: ModuleFile): string {
  const staged = requirements.filter(({ Version }) => Version === 'v0.0.0').map(({ Path }) => `\t${Path} => ${Path} v0.${minor}.${patch}`)
  return `module kubelet-cfg-agent.io/lab/kubernetes-1.${minor}

go 1.24.0

require ${KUBERNETES} v1.${minor}.${patch}

replace (
${staged.join('\n')}
)
`
}

for (const version of process.argv.slice(2)) await pinKubernetes(version, console.log)
