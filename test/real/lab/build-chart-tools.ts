// SPDX-License-Identifier: Apache-2.0
/**
 * helm and kustomize, built once into the lab's cache, and the definitions of Prometheus Operator's
 * resources, which an API server needs to take such objects. The folders of `chart-tools/` pin all
 * of it. Run by itself it prepares the cache:
 * `node --import tsx test/real/lab/build-chart-tools.ts`.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from './build.ts'
import { ensureGoCommands, type Report, readGoModule } from './build-go-commands.ts'
import { findGo } from './go-toolchain.ts'
import { run } from './processes.ts'

export interface ChartTools {
  readonly helm: string
  readonly kustomize: string
  /** Files. */
  readonly definitions: readonly string[]
}

const FOLDER = join(import.meta.dirname, 'chart-tools')
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator'
const DEFINITIONS = ['podmonitors', 'prometheusrules'].map((name) => `monitoring.coreos.com_${name}.yaml`)

export async function ensureChartTools(report: Report = console.log): Promise<ChartTools> {
  const build = (name: string, required: string) => ensureGoCommands({ name, ...readGoModule(join(FOLDER, name), required) }, report)
  const helm = await build('helm', 'helm.sh/helm/v3')
  const kustomize = await build('kustomize', 'sigs.k8s.io/kustomize/kustomize/v5')
  const definitions = await ensureDefinitions(report)
  // Go names a command after its import path, without the version of the module.
  return {
    helm: join(helm, 'helm'),
    kustomize: join(kustomize, 'kustomize'),
    definitions: DEFINITIONS.map((name) => join(definitions, name)),
  }
}

async function ensureDefinitions(report: Report): Promise<string> {
  const module = join(FOLDER, 'prometheus-operator')
  const hash = createHash('sha256').update(JSON.stringify([DEFINITIONS, readFileSync(join(module, 'go.sum'), 'utf8')]))
  const kept = join(cacheDirectory(), `prometheus-operator-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(kept)) return kept
  const work = `${kept}.making-${process.pid}`
  await mkdir(work, { recursive: true })
  const go = await findGo(join(work, 'go'), report)
  const { stdout } = await run(go.file, ['mod', 'download', '-json', OPERATOR], { cwd: module, env: go.env, timeoutMs: 15 * 60_000 })
  const { Dir } = JSON.parse(stdout)
  const made = join(work, 'made')
  await mkdir(made)
  for (const name of DEFINITIONS) await copyFile(join(Dir, 'example/prometheus-operator-crd', name), join(made, name))
  if (!existsSync(kept)) await rename(made, kept)
  await rm(work, { recursive: true })
  return kept
}

if (import.meta.filename === process.argv[1]) console.log(await ensureChartTools())
