// SPDX-License-Identifier: Apache-2.0
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import t from 'tap'
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../demo/api-server/server.ts'

async function start(t: Test, options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = await startApiServer(options)
  t.teardown(() => server.stop().catch(() => {}))
  server.objects.put({ kind: 'Node', metadata: { name: 'n1' }, spec: {}, status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  return server
}

interface Answer {
  readonly status: number
  readonly body: string
}

function send(server: ApiServer, token: string, method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type }
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${path}`, { method, headers, ca: server.caPem }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const ADMIN = { user: 'admin', groups: [] }
const SOURCE = { configMap: { namespace: 'kube-system', name: 'cfg', kubeletConfigKey: 'kubelet' } }
const MERGE = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'

t.test('requests without credentials are refused', async (t) => {
  const server = await start(t)
  t.equal((await send(server, 'nobody', 'GET', '/api/v1/nodes/n1')).status, 401)
  server.authorize = ({ verb }) => verb !== 'list'
  t.equal((await send(server, server.issueToken(ADMIN), 'GET', '/api/v1/nodes')).status, 403)
})

t.test('configSource is validated and stored, or dropped without an error', async (t) => {
  const server = await start(t)
  const token = server.issueToken(ADMIN)
  const patch = async (configSource: unknown) => {
    const { status, body } = await send(server, token, 'PATCH', '/api/v1/nodes/n1', { spec: { configSource } }, MERGE)
    return { status, configSource: JSON.parse(body).spec?.configSource }
  }
  t.same(await patch(SOURCE), { status: 200, configSource: SOURCE })
  for (const bad of [
    {},
    { configMap: null },
    { configMap: { name: 'A/b', uid: null } },
    { configMap: { uid: 'u' } },
    { configMap: { kubeletConfigKey: '..' } },
  ]) {
    await patch(null)
    if (Object.keys(bad).length > 0 && bad.configMap) await patch(SOURCE)
    t.equal((await patch(bad)).status, 422, JSON.stringify(bad))
  }
  server.store.storesConfigSource = false
  t.same(await patch(SOURCE), { status: 200, configSource: SOURCE }, 'a stored one may stay')
  await patch(null)
  t.same(await patch(SOURCE), { status: 200, configSource: undefined })
})

t.test('status and the rest are written separately', async (t) => {
  const server = await start(t)
  const token = server.issueToken(ADMIN)
  const active = { configMap: { ...SOURCE.configMap, uid: 'u', resourceVersion: '1' } }
  const body = { spec: { unschedulable: true }, status: { config: { active }, conditions: [{ type: 'KubeletConfigOk', status: 'True' }] } }
  await send(server, token, 'PATCH', '/api/v1/nodes/n1/status', body, STRATEGIC)
  const node = server.objects.get('Node', 'n1')
  t.match(node, { status: { config: { active }, conditions: [{ type: 'Ready' }, { type: 'KubeletConfigOk' }] } })
  t.same(node?.spec, {})
  await send(server, token, 'PATCH', '/api/v1/nodes/n1', body, MERGE)
  t.match(server.objects.get('Node', 'n1'), { spec: { unschedulable: true }, status: { conditions: [{}, {}] } })
  const incomplete = { status: { config: { active: SOURCE } } }
  t.equal((await send(server, token, 'PATCH', '/api/v1/nodes/n1/status', { status: { config: null } }, MERGE)).status, 200)
  t.equal((await send(server, token, 'PATCH', '/api/v1/nodes/n1/status', incomplete, MERGE)).status, 422)
})

t.test('conflicts, missing objects and writes without a change', async (t) => {
  const server = await start(t)
  const token = server.issueToken(ADMIN)
  const path = '/api/v1/namespaces/default/configmaps'
  const made = await send(server, token, 'POST', path, { metadata: { name: 'c' }, data: { a: '1' } })
  t.equal(made.status, 201)
  t.equal((await send(server, token, 'POST', path, { metadata: { name: 'c' } })).status, 409)
  const object = JSON.parse(made.body)
  const same = await send(server, token, 'PUT', `${path}/c`, object)
  t.equal(JSON.parse(same.body).metadata.resourceVersion, object.metadata.resourceVersion, 'no change, no new version')
  t.equal((await send(server, token, 'PUT', `${path}/c`, { ...object, data: { a: '2' } })).status, 200)
  t.equal((await send(server, token, 'PUT', `${path}/c`, { ...object, data: { a: '3' } })).status, 409)
  t.equal((await send(server, token, 'DELETE', `${path}/c`)).status, 200)
  for (const [method, where] of [
    ['GET', `${path}/c`],
    ['DELETE', `${path}/c`],
    ['GET', '/api/v1/pods'],
  ] as const)
    t.equal((await send(server, token, method, where)).status, 404)
})

t.test('a watch sends the events since its resourceVersion, and ends at its timeout', async (t) => {
  const server = await start(t, { secondMs: 10, bookmarkSeconds: 5 })
  const token = server.issueToken(ADMIN)
  const from = server.store.revision
  server.objects.put({ kind: 'Node', metadata: { name: 'n2' } })
  server.objects.put({ kind: 'Node', metadata: { name: 'n1', labels: { a: 'b' } } })
  server.objects.remove('Node', 'n1')
  const { body } = await send(
    server,
    token,
    'GET',
    `/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Dn1&resourceVersion=${from}&timeoutSeconds=12&allowWatchBookmarks=true`,
  )
  const types = body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).type)
  t.same(types.slice(0, 2), ['MODIFIED', 'DELETED'])
  t.same([...new Set(types.slice(2))], ['BOOKMARK'])
  server.store.compact()
  const late = await send(server, token, 'GET', `/api/v1/nodes?watch=1&resourceVersion=${from}`)
  t.match(JSON.parse(late.body), { type: 'ERROR', object: { code: 410, reason: 'Expired' } })
})

t.test('stopped and started again: the same port, the same objects', async (t) => {
  const server = await start(t)
  const { url } = server
  const token = server.issueToken(ADMIN)
  await server.stop()
  await t.rejects(send(server, token, 'GET', '/version'))
  await server.start()
  t.equal(server.url, url)
  t.equal((await send(server, token, 'GET', '/api/v1/nodes/n1')).status, 200)
})

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

t.test('kubectl works against it', { skip: hasKubectl() ? false : 'kubectl is not installed' }, async (t) => {
  const server = await start(t)
  const directory = t.testdir({ config: 'kind: KubeletConfiguration\n' })
  writeFileSync(join(directory, 'kubeconfig'), server.kubeconfig(), { mode: 0o600 })
  const env = { ...process.env, KUBECONFIG: join(directory, 'kubeconfig'), HOME: directory, EDITOR: 'sed -i s/KubeletConfiguration/Other/' }
  const kubectl = async (...args: string[]): Promise<string> => (await promisify(execFile)('kubectl', args, { env })).stdout

  t.match(await kubectl('get', 'nodes'), /NAME\s+STATUS\s+AGE\s+VERSION\nn1\s+Ready/)
  t.match(await kubectl('-n', 'kube-system', 'create', 'configmap', 'cfg', `--from-file=kubelet=${directory}/config`), /created/)
  await kubectl('patch', 'node', 'n1', '-p', JSON.stringify({ spec: { configSource: SOURCE } }))
  t.same(JSON.parse(await kubectl('get', 'node', 'n1', '-o', 'json')).spec, { configSource: SOURCE })
  await kubectl('-n', 'kube-system', 'edit', 'configmap', 'cfg')
  t.match(await kubectl('-n', 'kube-system', 'get', 'configmap', 'cfg', '-o', 'yaml'), /kind: Other/)
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace: 'default' }, data: { a: 'b' } }
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest))
  t.match(await kubectl('apply', '-f', join(directory, 'manifest.json')), /created/)
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify({ ...manifest, data: { a: 'c' } }))
  t.match(await kubectl('apply', '-f', join(directory, 'manifest.json')), /configured/)
  await kubectl('patch', 'node', 'n1', '--type', 'merge', '-p', '{"spec":{"configSource":null}}')
  t.same(JSON.parse(await kubectl('get', 'node', 'n1', '-o', 'json')).spec, {})
  t.match(await kubectl('-n', 'kube-system', 'delete', 'configmap', 'cfg'), /deleted/)
  const involvedObject = { kind: 'Node', name: 'n1' }
  server.objects.put({
    kind: 'Event',
    metadata: { name: 'n1.1' },
    involvedObject,
    reason: 'KubeletConfigChanged',
    message: 'restarting',
    type: 'Normal',
  })
  t.match(await kubectl('get', 'events'), /Normal\s+KubeletConfigChanged\s+node\/n1\s+restarting/)
})
