// SPDX-License-Identifier: Apache-2.0
/**
 * The administrator of the cluster: prints a kubectl command and sends the request that kubectl
 * would send, because kubectl may not be installed.
 */
import { request } from 'node:https'
import { isJsonObject, type KubeObject, section } from './api-server/objects.ts'
import { ADMIN } from './api-server/request.ts'
import type { ApiServer } from './api-server/server.ts'
import { lastLine } from './configs.ts'

export const NAMESPACE = 'kube-system'
export const KEY = 'kubelet'

/** The patch that assigns a ConfigMap to a Node, or removes the assignment. */
export function assignmentPatch(configMap: string | undefined): string {
  const source = configMap === undefined ? null : { configMap: { name: configMap, namespace: NAMESPACE, kubeletConfigKey: KEY } }
  return JSON.stringify({ spec: { configSource: source } })
}

export class Administrator {
  readonly #api: ApiServer
  readonly #node: string
  readonly #token: string
  readonly #say: (text: string, isTrouble?: boolean) => void

  constructor(api: ApiServer, node: string, say: (text: string, isTrouble?: boolean) => void) {
    this.#api = api
    this.#node = node
    this.#token = api.issueToken(ADMIN)
    this.#say = say
  }

  /** @returns the resourceVersion */
  createConfigMap(name: string, config: string): Promise<string> {
    this.#say(`kubectl -n ${NAMESPACE} create configmap ${name} --from-file=${KEY}   # ${lastLine(config)}`)
    const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { [KEY]: config } }
    return this.#send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, JSON.stringify(body))
  }

  async createEmptyConfigMap(name: string): Promise<void> {
    this.#say(`kubectl -n ${NAMESPACE} create configmap ${name}`)
    const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } }
    await this.#send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, JSON.stringify(body))
  }

  async annotateConfigMap(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    const words = Object.entries(annotations).map(([key, value]) => (/[ ,]/.test(value) ? `'${key}=${value}'` : `${key}=${value}`))
    this.#say(`kubectl -n ${NAMESPACE} annotate configmap ${name} ${words.join(' ')}`)
    await this.#send('PATCH', `/api/v1/namespaces/${NAMESPACE}/configmaps/${name}`, JSON.stringify({ metadata: { annotations } }))
  }

  /** @returns the new resourceVersion */
  editConfigMap(name: string, config: string): Promise<string> {
    this.#say(`kubectl -n ${NAMESPACE} edit configmap ${name}   # ${lastLine(config)}`)
    const patch = { data: { [KEY]: config } }
    return this.#send('PATCH', `/api/v1/namespaces/${NAMESPACE}/configmaps/${name}`, JSON.stringify(patch))
  }

  async assign(configMap: string | undefined): Promise<void> {
    const patch = assignmentPatch(configMap)
    this.#say(`kubectl patch node ${this.#node} -p '${patch}'`)
    await this.#send('PATCH', `/api/v1/nodes/${this.#node}`, patch)
  }

  async #send(method: 'POST' | 'PATCH', path: string, body: string): Promise<string> {
    const contentType = method === 'POST' ? 'application/json' : 'application/strategic-merge-patch+json'
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': contentType }
    const text = await new Promise<string>((resolve, reject) => {
      const sent = request(new URL(path, this.#api.url), { method, ca: this.#api.caPem, headers, agent: false }, async (answer) => {
        let received = ''
        for await (const chunk of answer.setEncoding('utf8')) received += chunk
        resolve(received)
      })
      sent.on('error', reject).end(body)
    })
    return versionOf(JSON.parse(text))
  }
}

function versionOf(object: KubeObject | Record<string, unknown>): string {
  const { resourceVersion } = section(object, 'metadata')
  if (isJsonObject(object) && object.kind !== 'Status' && typeof resourceVersion === 'string') return resourceVersion
  throw new Error(`the API server rejected the request: ${String(object.message)}`)
}
