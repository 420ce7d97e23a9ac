// SPDX-License-Identifier: Apache-2.0
/**
 * Builds kube-apiserver, kubectl and kubelet from a tree of Kubernetes 1.20.2 that carries its
 * vendored dependencies. GOPATH mode, since the Go that Debian 12 has refuses the tree's module
 * file; the one generated file that the tree lacks is made first, as upstream's
 * `Makefile.generated_files` does. Built with upstream's own tag `providerless`: no clients of
 * cloud providers, which halves the build and changes nothing that a test here looks at.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from './processes.ts'

const version = { gitVersion: 'v1.20.2', gitMajor: '1', gitMinor: '20' }
const versionPackages = ['component-base/version', 'client-go/pkg/version']
const vendored = 'k8s.io/kubernetes/vendor/k8s.io'

/** Whatever of the build decides what comes out: the cache is keyed by it. */
export const kubernetesRecipe = {
  source: 'kubernetes=1.20.5+really1.20.2-1.1+deb12u1',
  toolchain: ['golang-1.19-go', 'golang-1.19-src'],
  commands: ['kube-apiserver', 'kubectl', 'kubelet'],
  tags: 'providerless',
  linker: [
    '-s -w',
    ...versionPackages.flatMap((name) => Object.entries(version).map(([key, value]) => `-X ${vendored}/${name}.${key}=${value}`)),
  ].join(' '),
} as const

interface KubernetesBuild {
  /** Where the packages of `toolchain` are unpacked. */
  readonly toolchainRoot: string
  readonly tarball: string
  /** The GOPATH; made here. */
  readonly workspace: string
  /** Go's build cache: kept, it makes a second attempt short. */
  readonly goCache: string
  readonly outputDirectory: string
}

/** Unpacks the tarball and puts the commands into `outputDirectory`. Takes minutes. */
export async function buildKubernetes(build: KubernetesBuild, report: (line: string) => void): Promise<void> {
  const tree = join(build.workspace, 'src/k8s.io/kubernetes')
  await mkdir(tree, { recursive: true })
  await run('tar', ['--extract', '--file', build.tarball, '--strip-components=1', '--directory', tree])

  const goRoot = join(build.toolchainRoot, 'usr/lib/go-1.19')
  const env = {
    PATH: `${join(goRoot, 'bin')}:${process.env.PATH ?? ''}`,
    GOROOT: goRoot,
    GOPATH: build.workspace,
    GOCACHE: build.goCache,
    GOTMPDIR: build.workspace,
    GO111MODULE: 'off',
    CGO_ENABLED: '0',
    GOFLAGS: undefined,
    GOOS: undefined,
    GOARCH: undefined,
  }
  const inTree = (file: string, args: readonly string[]) => run(file, args, { cwd: tree, env, timeoutMs: 40 * 60_000 })

  report('generating the OpenAPI definitions')
  const generator = join(build.workspace, 'openapi-gen')
  await inTree('go', ['build', '-o', generator, './vendor/k8s.io/kube-openapi/cmd/openapi-gen'])
  const output = ['-O', 'zz_generated.openapi', '-p', 'k8s.io/kubernetes/pkg/generated/openapi']
  const header = ['-h', 'hack/boilerplate/boilerplate.generatego.txt', '-r', join(build.workspace, 'openapi-violations.txt')]
  await inTree(generator, [...output, ...header, '-i', (await findOpenApiPackages(tree)).join(',')])

  report(`compiling ${kubernetesRecipe.commands.join(', ')}: this takes minutes, once`)
  const flags = ['-tags', kubernetesRecipe.tags, '-ldflags', kubernetesRecipe.linker]
  const commands = kubernetesRecipe.commands.map((name) => `./cmd/${name}`)
  await inTree('go', ['build', ...flags, '-o', `${build.outputDirectory}/`, ...commands])
}

/**
 * Import paths of the packages that ask for OpenAPI definitions: a comment in any of their files.
 */
async function findOpenApiPackages(tree: string): Promise<string[]> {
  const packages = new Set<string>()
  for (const [folder, importPath] of [
    ['pkg', 'k8s.io/kubernetes/pkg'],
    ['staging/src/k8s.io', vendored],
  ] as const) {
    for (const file of await readdir(join(tree, folder), { recursive: true })) {
      if (!file.endsWith('.go') || notServed.some((part) => file.includes(part))) continue
      const text = await readFile(join(tree, folder, file), 'utf8')
      if (text.includes('+k8s:openapi-gen=true')) packages.add(join(importPath, dirname(file)))
    }
  }
  return [...packages].sort()
}

/** Examples, which need definitions of their own, and the text of the generator itself. */
const notServed = ['_examples/', 'sample-apiserver/', 'openapi-gen/']
