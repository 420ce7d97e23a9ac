// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { hashConfig } from '../../../src/decision/rollout-hash.ts'
import type { KubeAnswer } from '../../../src/ports/kube-api.ts'
import { findRecordRef, getConfigOfRecord, getRecord } from '../../../src/source/rollout/read-record.ts'

const CONFIG = { namespace: 'kube-system', name: 'node-config', kubeletConfigKey: 'kubelet' }
const RECORD = { namespace: 'kube-system', name: 'rollouts' }

function answering(answer: KubeAnswer) {
  return { request: async () => answer }
}

function refused(status: number, reason: string): KubeAnswer {
  return { kind: 'refused', status, reason, detail: 'why', retryAfterMs: undefined }
}

const detailOf = (found: object) => ('detail' in found ? found.detail : found)
const recordDetail = async (answer: KubeAnswer) => detailOf(await getRecord(answering(answer), RECORD))
const configDetail = async (answer: KubeAnswer) => detailOf(await getConfigOfRecord(answering(answer), CONFIG, 'rollouts'))

t.test('a config that cannot be read: nobody is told to empty it, or to let nodes write it', async (t) => {
  t.equal(await configDetail(refused(404, 'NotFound')), 'ConfigMap kube-system/node-config does not exist: it was deleted a moment ago')
  t.equal(
    await configDetail(refused(403, 'Forbidden')),
    'ConfigMap kube-system/node-config may not be read: grant get of it by name (deploy/rbac/node-configmaps.yaml) (why)',
  )
})

t.test('a record that cannot be read: what to create, and what to grant', async (t) => {
  t.equal(
    await recordDetail(refused(404, 'NotFound')),
    'the record kube-system/rollouts does not exist: create it, empty (kubectl --namespace kube-system create configmap rollouts)',
  )
  t.equal(
    await recordDetail(refused(403, 'Forbidden')),
    'the record kube-system/rollouts may not be read: grant get, watch and patch of it by name (deploy/rbac/rollout.yaml) (why)',
  )
  t.equal(
    await recordDetail(refused(500, 'InternalError')),
    'the record kube-system/rollouts cannot be read: the API server answers 500 InternalError',
  )
})

t.test('no answer, one that is too long, and nothing that was asked', async (t) => {
  const unreachable = { kind: 'unreachable', detail: 'SECRET' } as const
  t.equal(await recordDetail(unreachable), 'the record kube-system/rollouts cannot be read: the API server does not answer')
  t.equal(
    await recordDetail({ ...unreachable, reason: 'too-long' }),
    'the record kube-system/rollouts cannot be read: the answer of the API server is too long',
  )
  t.equal(
    await configDetail({ ...unreachable, reason: 'kubeconfig' }),
    'ConfigMap kube-system/node-config cannot be read: there is no usable kubeconfig',
  )
})

t.test('credentials that are not accepted are no missing right', async (t) => {
  const expected = (what: string) => `${what} cannot be read: the API server does not accept the agent's credentials (why)`
  t.equal(await recordDetail(refused(401, 'Unauthorized')), expected('the record kube-system/rollouts'))
  t.equal(await configDetail(refused(401, 'Unauthorized')), expected('ConfigMap kube-system/node-config'))
})

t.test('an annotation that no longer names the record', async (t) => {
  const annotated = (record: string): KubeAnswer => {
    const annotations = { 'kubelet-cfg-agent.io/rollout': record }
    const metadata = { name: CONFIG.name, namespace: CONFIG.namespace, uid: 'u', resourceVersion: '9', annotations }
    return { kind: 'ok', object: { kind: 'ConfigMap', metadata, data: { kubelet: '' } } }
  }
  t.equal(await configDetail(annotated('off')), 'the rollout of ConfigMap kube-system/node-config has just been switched off')
  t.equal(
    await configDetail(annotated('other')),
    'the annotation kubelet-cfg-agent.io/rollout of ConfigMap kube-system/node-config no longer names the record rollouts; the agent reads it again',
  )
})

t.test('an annotation that names no record', async (t) => {
  const ref = (record: string | undefined) => findRecordRef({ config: CONFIG, record })
  t.same(ref('rollouts'), RECORD)
  t.equal(
    ref(undefined),
    'ConfigMap kube-system/node-config had a rollout, and its annotation kubelet-cfg-agent.io/rollout is missing: set it to the name of the record again, or to off to end the rollout',
  )
  t.equal(
    ref('No Name'),
    'the rollout of ConfigMap kube-system/node-config names the record "No Name", which is not a valid ConfigMap name: correct the annotation kubelet-cfg-agent.io/rollout',
  )
  t.equal(
    ref('node-config'),
    'the rollout of ConfigMap kube-system/node-config names the config itself as its record: create an empty ConfigMap beside it and name that one',
  )
})

t.test('the hash of a part covers what is under it, which is read after it', async (t) => {
  const read: string[] = []
  const objects: Record<string, { annotations: Record<string, string>; text: string }> = {
    'kube-system/node-config': {
      annotations: { 'kubelet-cfg-agent.io/rollout': 'rollouts', 'kubelet-cfg-agent.io/base': 'ns/pool' },
      text: 'a: 1',
    },
    'ns/pool': { annotations: { 'kubelet-cfg-agent.io/base': 'local' }, text: 'b: 1' },
  }
  const api = {
    request: async ({ path }: { path: string }): Promise<KubeAnswer> => {
      const [, namespace = '', name = ''] = /namespaces\/(.*)\/configmaps\/(.*)$/.exec(path) ?? []
      read.push(`${namespace}/${name}`)
      const found = objects[`${namespace}/${name}`]
      if (found === undefined) return refused(404, 'NotFound')
      const metadata = { name, namespace, uid: 'u', resourceVersion: '9', annotations: found.annotations }
      return { kind: 'ok', object: { kind: 'ConfigMap', metadata, data: { kubelet: found.text } } }
    },
  }
  const hashNow = async () => Object(await getConfigOfRecord(api, CONFIG, 'rollouts')).config?.hash
  const before = await hashNow()
  t.same(read, ['kube-system/node-config', 'ns/pool'])
  t.equal(before, hashConfig({ kubelet: 'a: 1' }, 'kubelet', { base: 'ns/pool', under: [{ base: 'local', text: 'b: 1' }] }))
  objects['ns/pool'] = { annotations: { 'kubelet-cfg-agent.io/base': 'kube-system/node-config' }, text: 'b: 1' }
  t.match(
    detailOf(await getConfigOfRecord(api, CONFIG, 'rollouts')),
    /^ConfigMap kube-system\/node-config: annotation kubelet-cfg-agent.io\/base: the bases form a cycle/,
    'a chain that does not end has no hash',
  )
  objects['ns/pool'] = { annotations: {}, text: 'b: 2' }
  t.not(await hashNow(), before)
  delete objects['ns/pool']
  t.equal(
    detailOf(await getConfigOfRecord(api, CONFIG, 'rollouts')),
    'ConfigMap ns/pool under ConfigMap kube-system/node-config: it does not exist',
  )
})
