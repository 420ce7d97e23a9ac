// SPDX-License-Identifier: Apache-2.0
/**
 * A real control plane with the objects of a fleet: for each name a Node and a kubeconfig with the
 * node's own identity, and one ConfigMap that all Nodes are assigned by label. Certificates are
 * created in memory, because openssl would take longer for a thousand of them than the measurement.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueCertificate } from '../../demo/api-server/x509.ts'
import { openKubeApi } from '../../src/compose/kube-api.ts'
import { readKubeconfig } from '../../src/kube/credentials.ts'
import type { HttpsKubeApi, KubeconfigView } from '../../src/kube/kube-api.ts'
import { type ControlPlane, startControlPlane } from '../../test/real/lab/control-plane.ts'
import { findChild } from '../processes.ts'
import { someAtATime } from '../some-at-a-time.ts'
import { configMap, NAMESPACE, payload } from '../world/objects.ts'
import { readGauges, type ServerGauges } from './gauges.ts'
import { CONFIG_MAP, fleetNode, KUBELET } from './node.ts'

const AT_A_TIME = 8
const HEALTHZ_PORT = 10_248

export interface FleetCluster {
  readonly apiserverPid: number
  readonly etcdPid: number
  readonly port: number
  /** The kubeconfig of the administrator. */
  readonly kubeconfig: KubeconfigView
  /** The directory of the nodes' kubeconfigs, NAME.conf. */
  readonly kubeconfigs: string
  /** The size of the server's JSON. */
  readonly sizes: { readonly wholeBytes: number; readonly metadataBytes: number; readonly configMapBytes: number }
  /** The server's own metrics; with `collected`, after a garbage collection. */
  gauges(when: 'now' | 'collected'): Promise<ServerGauges>
  close(): Promise<void>
}

/**
 * @param storesConfigSource whether the server stores `spec.configSource`; if so, agents watch
 * whole Nodes
 */
export async function openFleetCluster(names: readonly string[], storesConfigSource: boolean): Promise<FleetCluster> {
  const plane = await startControlPlane({ dynamicKubeletConfig: storesConfigSource, onAllProcessors: true })
  try {
    const kubeconfig: KubeconfigView = viewOf(plane.adminKubeconfig)
    const api = openKubeApi(kubeconfig, { userAgent: KUBELET })
    await create(api, `/api/v1/namespaces/${NAMESPACE}/configmaps`, configMap(CONFIG_MAP, payload(1, HEALTHZ_PORT)))
    await plane.grantNodesConfigMap(NAMESPACE, CONFIG_MAP)
    await someAtATime(names, AT_A_TIME, (_, serial) => create(api, '/api/v1/nodes', fleetNode(serial, '2021-01-14T09:12:31Z')))
    const raw = async (path: string, as?: 'PartialObjectMetadata'): Promise<number> => {
      const answer = await api.request({ method: 'GET', path, ...(as === undefined ? {} : { as }) })
      return Buffer.byteLength(JSON.stringify(answer.kind === 'ok' ? answer.object : ''))
    }
    const [first = ''] = names
    return {
      apiserverPid: findChild('kube-apiserver'),
      etcdPid: findChild('etcd'),
      port: Number(new URL(plane.server).port),
      kubeconfig,
      kubeconfigs: writeKubeconfigs(plane, names, nodeUsers(plane)),
      sizes: {
        wholeBytes: await raw(`/api/v1/nodes/${first}`),
        metadataBytes: await raw(`/api/v1/nodes/${first}`, 'PartialObjectMetadata'),
        configMapBytes: await raw(`/api/v1/namespaces/${NAMESPACE}/configmaps/${CONFIG_MAP}`),
      },
      async gauges(when) {
        if (when === 'collected') await plane.kubectl(['get', '--raw', '/debug/pprof/heap?gc=1&debug=1'])
        return readGauges(await plane.kubectl(['get', '--raw', '/metrics']))
      },
      close: () => plane.stop(),
    }
  } catch (error) {
    await plane.stop()
    throw error
  }
}

export function viewOf(path: string): KubeconfigView {
  const reading = readKubeconfig(path, () => performance.now())
  return { current: () => reading, forget() {} }
}

export async function create(api: HttpsKubeApi, path: string, body: object): Promise<void> {
  const answer = await api.request({ method: 'POST', path, body })
  if (answer.kind !== 'ok') throw new Error(`POST ${path}: ${answer.detail}`)
}

/**
 * One kubeconfig a name, in a directory of its own.
 * @param userOf the credentials, as a kubeconfig has them
 */
export function writeKubeconfigs(
  { directory, server, caFile }: ControlPlane,
  names: readonly string[],
  userOf: (name: string) => object,
  into = join(directory, 'fleet'),
): string {
  mkdirSync(into)
  const ca = base64(readFileSync(caFile, 'utf8'))
  for (const name of names) {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'fleet', cluster: { server, 'certificate-authority-data': ca } }],
      users: [{ name: 'user', user: userOf(name) }],
      contexts: [{ name: 'fleet', context: { cluster: 'fleet', user: 'user' } }],
      'current-context': 'fleet',
    }
    writeFileSync(join(into, `${name}.conf`), JSON.stringify(config), { mode: 0o600 })
  }
  return into
}

/** The identities of nodes, `system:node:NAME`. */
export function nodeUsers({ directory, caFile }: ControlPlane): (name: string) => object {
  const authority = authorityOf(readFileSync(caFile, 'utf8'), readFileSync(join(directory, 'ca.key'), 'utf8'))
  return (name) => {
    const identity = issueCertificate(authority, { commonName: `system:node:${name}`, organizations: ['system:nodes'] }, { kind: 'client' })
    return { 'client-certificate-data': base64(identity.certificate), 'client-key-data': base64(identity.key) }
  }
}

function authorityOf(certificate: string, key: string): Parameters<typeof issueCertificate>[0] {
  const commonName = /^CN=(.*)$/m.exec(new X509Certificate(certificate).subject)?.[1] ?? ''
  return { certificate, key, signingKey: createPrivateKey(key), name: { commonName, organizations: [] } }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
