// SPDX-License-Identifier: Apache-2.0
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { kubeconfigWith } from '../../demo/api-server/kubeconfig.ts'
import { nodeIdentity } from '../../demo/api-server/request.ts'
import type { ApiServer } from '../../demo/api-server/server.ts'
import { until } from '../until.ts'
import { assertNoSecrets, assertPaced, NODE, putConfigMap, putNode, startWorld } from './world.ts'

const IDENTITY = nodeIdentity(NODE)

function assign(server: ApiServer): void {
  putNode(server, 'one')
  putConfigMap(server, 'one', 'a')
}

/** As kubelet does it: certificate and key in one file, replaced by a rename. */
function writePair(path: string, server: ApiServer): string {
  const { certificate, key } = server.issueCertificate(IDENTITY)
  writeFileSync(`${path}.new`, certificate + key, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return key
}

t.test('a kubeconfig that breaks later is told apart from a server that does not answer', async (t) => {
  const world = await startWorld(t)
  const { server, source, kubeconfigPath } = world
  assign(server)
  source.start(() => {})
  await until(() => world.seen() === 'one=a', 'found')
  const text = readFileSync(kubeconfigPath, 'utf8')
  const staleReason = () => {
    const desired = source.desired()
    return 'stale' in desired ? desired.stale?.reason : undefined
  }
  for (const broken of ['users: [', text.replace(/client-certificate-data: .*/, 'tokenFile: /nowhere/token')]) {
    writeFileSync(kubeconfigPath, broken)
    server.disconnectAll()
    await until(() => staleReason() === 'kubeconfig', 'it has no usable kubeconfig')
    t.equal(world.seen(), 'one=a')
    writeFileSync(kubeconfigPath, text)
    await until(() => staleReason() === undefined, 'read again')
  }
})

t.test('a kubeconfig that comes later, as after TLS bootstrap', async (t) => {
  const world = await startWorld(t, { kubeconfig: () => undefined })
  const { server, source, lines, kubeconfigPath } = world
  assign(server)
  source.start(() => {})
  await until(() => lines.length > 0, 'logged')
  const began = world.nowMs()
  await until(() => world.nowMs() - began > 600_000, 'ten minutes')
  t.equal(world.seen(), 'unknown')
  t.equal(lines.length, 1, 'logged once')
  t.equal(server.requests.length, 0)
  const pem = join(dirname(kubeconfigPath), 'client.pem')
  writeFileSync(kubeconfigPath, kubeconfigWith(server.url, server.caPem, [`client-certificate: ${pem}`, `client-key: ${pem}`]))
  await until(() => lines.length === 2, 'the certificate is still missing')
  writePair(pem, server)
  await until(() => world.seen() === 'one=a', 'found')
})

t.test('a client certificate that is rotated on disk is used for new connections, and idle ones are not reused', async (t) => {
  const world = await startWorld(t, {
    kubeconfig: (server) => kubeconfigWith(server.url, server.caPem, ['client-certificate: client.pem', 'client-key: client.pem']),
  })
  const { server, source, api } = world
  const pem = join(dirname(world.kubeconfigPath), 'client.pem')
  const secrets = [writePair(pem, server)]
  assign(server)
  source.start(() => {})
  await until(() => world.seen() === 'one=a', 'found')
  await until(() => server.requests.filter(({ verb }) => verb === 'watch').length === 2, 'watched')
  const requestCertificate = async () => {
    const answer = await api.request({ method: 'GET', path: `/api/v1/nodes/${NODE}` })
    t.equal(answer.kind, 'ok')
    return server.requests.at(-1)?.certificate
  }
  const before = await requestCertificate()
  t.equal(await requestCertificate(), before)
  secrets.push(writePair(pem, server))
  const after = await requestCertificate()
  t.not(after, before)
  putConfigMap(server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'open watches continue')
  server.disconnectAll()
  const count = server.requests.length
  await until(() => server.requests.slice(count).filter(({ verb }) => verb === 'watch').length >= 2, 'watched again')
  for (const { certificate } of server.requests.slice(count)) t.equal(certificate, after)
  assertNoSecrets(t, world, secrets)
})

t.test('HTTP/2: with a new certificate the old connection serves its watches to their end, and closes', async (t) => {
  const world = await startWorld(t, {
    kubeconfig: (server) => kubeconfigWith(server.url, server.caPem, ['client-certificate: client.pem', 'client-key: client.pem']),
  })
  const { server, api } = world
  const stopper = new AbortController()
  const pem = join(dirname(world.kubeconfigPath), 'client.pem')
  writePair(pem, server)
  assign(server)
  const versions: unknown[] = []
  const watch = api.watch({
    path: '/api/v1/nodes',
    query: {},
    inactivityMs: 3600_000,
    signal: stopper.signal,
    onEvent: ({ object }) => versions.push(object),
  })
  await until(() => versions.length === 1, 'watched')
  writePair(pem, server)
  const read = () => api.request({ method: 'GET', path: `/api/v1/nodes/${NODE}` })
  t.equal((await read()).kind, 'ok')
  t.equal((await read()).kind, 'ok')
  t.equal(server.connections, 2)
  putNode(server, 'two')
  await until(() => versions.length === 2, 'the watch runs on')
  stopper.abort()
  t.match(await watch, { kind: 'ended', detail: 'stopped' })
  await until(() => server.connections === 1, 'the old connection is closed')
  t.equal((await read()).kind, 'ok')
  t.equal(server.connections, 1)
})

t.test('a token file that is replaced', async (t) => {
  const tokens: string[] = []
  const world = await startWorld(t, { kubeconfig: (server) => kubeconfigWith(server.url, server.caPem, ['tokenFile: token']) })
  const { server, source } = world
  const replace = () => {
    const token = server.issueToken(IDENTITY)
    tokens.push(token)
    writeFileSync(join(dirname(world.kubeconfigPath), 'token'), `${token}\n`)
  }
  replace()
  assign(server)
  source.start(() => {})
  await until(() => world.seen() === 'one=a', 'found')
  server.revokeToken(tokens[0] ?? '')
  server.disconnectAll()
  await until(() => world.lines.some((line) => line.includes('401')), 'refused')
  replace()
  putConfigMap(server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'found')
  assertPaced(t, world)
  assertNoSecrets(t, world, tokens)
})

t.test('an exec plugin runs again when its token is refused', async (t) => {
  const user = ['exec:', '  apiVersion: client.authentication.k8s.io/v1', '  command: ./plugin', '  interactiveMode: Never']
  const world = await startWorld(t, { kubeconfig: (server) => kubeconfigWith(server.url, server.caPem, user) })
  const { server, source } = world
  const directory = dirname(world.kubeconfigPath)
  const tokens: string[] = []
  const replace = () => {
    const token = server.issueToken(IDENTITY)
    tokens.push(token)
    const status = { token, expirationTimestamp: new Date(Date.now() + 3600_000).toISOString() }
    const credential = JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })
    writeFileSync(join(directory, 'plugin'), `#!/bin/sh\necho run >> ${directory}/runs\necho '${credential}'\n`)
    chmodSync(join(directory, 'plugin'), 0o755)
  }
  const runs = () => (existsSync(join(directory, 'runs')) ? readFileSync(join(directory, 'runs'), 'utf8').split('\n').length - 1 : 0)
  replace()
  assign(server)
  source.start(() => {})
  await until(() => world.seen() === 'one=a', 'found')
  t.equal(runs(), 1)
  replace()
  server.revokeToken(tokens[0] ?? '')
  server.disconnectAll()
  putConfigMap(server, 'one', 'b')
  await until(() => world.seen() === 'one=b', 'found')
  t.ok(runs() >= 2)
  assertNoSecrets(t, world, tokens)
})

t.test('an exec plugin that returned no credential once is run again', async (t) => {
  const user = ['exec:', '  apiVersion: client.authentication.k8s.io/v1', '  command: ./plugin', '  interactiveMode: Never']
  const later = new Date(Date.now() + 3600_000).toISOString()
  for (const first of ['{}', 'null', JSON.stringify({ status: { expirationTimestamp: later } })]) {
    const world = await startWorld(t, { kubeconfig: (server) => kubeconfigWith(server.url, server.caPem, user) })
    const directory = dirname(world.kubeconfigPath)
    const print = (credential: string) => {
      writeFileSync(join(directory, 'plugin'), `#!/bin/sh\necho '${credential}'\n`)
      chmodSync(join(directory, 'plugin'), 0o755)
    }
    assign(world.server)
    print(first)
    const ask = () => world.api.request({ method: 'GET', path: `/api/v1/nodes/${NODE}` })
    t.match(await ask(), { kind: 'unreachable', detail: /plugin .* returned no credential/ }, first)
    t.equal(world.server.requests.length, 0, 'no anonymous request is made')
    print(JSON.stringify({ status: { token: world.server.issueToken(IDENTITY) } }))
    t.equal((await ask()).kind, 'ok', first)
  }
})

t.test('an exec plugin that hangs is started once, and stopping does not wait for it', async (t) => {
  const user = ['exec:', '  apiVersion: client.authentication.k8s.io/v1', '  command: ./plugin', '  interactiveMode: Never']
  const world = await startWorld(t, {
    kubeconfig: (server) => kubeconfigWith(server.url, server.caPem, user),
    limits: { inactivityMs: 50, requestTimeoutMs: 50 },
  })
  const directory = dirname(world.kubeconfigPath)
  const script = `#!/bin/sh\necho run >> ${directory}/runs\nfor i in $(seq 36000); do [ -e ${directory}/end ] || sleep 0.1; done\necho > ${directory}/over\n`
  writeFileSync(join(directory, 'plugin'), script)
  chmodSync(join(directory, 'plugin'), 0o755)
  world.source.start(() => {})
  await until(() => world.calls.length > 5 && existsSync(join(directory, 'runs')), 'tries')
  t.equal(readFileSync(join(directory, 'runs'), 'utf8'), 'run\n')
  t.match(world.source.desired(), { kind: 'unknown', detail: /no answer in 50 ms/ })
  await world.source.stop()
  writeFileSync(join(directory, 'end'), '')
  await until(() => existsSync(join(directory, 'over')), 'the plugin is gone')
})
