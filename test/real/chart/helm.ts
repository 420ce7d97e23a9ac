// SPDX-License-Identifier: Apache-2.0
/** helm, with files of its own, and with or without a cluster. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChartTools } from '../lab/build-chart-tools.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { makeScratch, run } from '../lab/processes.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { type KubeObject, parseObjects } from './objects.ts'

export const ROOT = join(DEPLOY, '..')
export const CHART = join(ROOT, 'charts/kubelet-cfg-agent')
export const RELEASE = 'kubelet-cfg-agent'
export const NAMESPACE = 'kube-system'

export class Helm {
  readonly #program: string
  readonly #plane: ControlPlane | undefined
  readonly #home = makeScratch()
  #files = 0

  constructor({ helm }: ChartTools, plane?: ControlPlane) {
    this.#program = helm
    this.#plane = plane
  }

  /** Flags. */
  values(values: object): readonly string[] {
    const file = join(this.#home, `values-${this.#files++}.json`)
    writeFileSync(file, JSON.stringify(values))
    return ['--values', file]
  }

  async run(...args: readonly string[]): Promise<string> {
    const env = { HELM_CACHE_HOME: this.#home, HELM_CONFIG_HOME: this.#home, HELM_DATA_HOME: this.#home }
    return (await run(this.#program, [...args, '--namespace', NAMESPACE], { env })).stdout
  }

  async render(values: object, chart = CHART): Promise<readonly KubeObject[]> {
    return parseObjects(await this.run('template', RELEASE, chart, ...this.values(values)))
  }

  cluster(...args: readonly string[]): Promise<string> {
    return this.run(...args, ...(this.#plane === undefined ? [] : ['--kubeconfig', this.#plane.adminKubeconfig]))
  }
}
