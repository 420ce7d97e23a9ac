// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findExecPlugin, readCredential } from '../../src/kube/exec-plugin.ts'

const CLUSTER = { server: 'https://127.0.0.1:6443', authority: () => 'Q0E=', section: {} }
const HERE = { directory: '/etc/kubernetes', env: { PATH: '/bin', NOTIFY_SOCKET: '/run/systemd/notify' } }
const credential = (status: unknown) => readCredential(JSON.stringify({ kind: 'ExecCredential', status }))

t.test('a token, or a certificate with its key, and when they expire', async (t) => {
  t.same(credential({ token: 'x', expirationTimestamp: '2031-01-01T00:00:00Z' }), {
    token: 'x',
    cert: undefined,
    key: undefined,
    expiresAtMs: Date.UTC(2031, 0, 1),
  })
  const certificate = { clientCertificateData: 'a', clientKeyData: 'b' }
  for (const expirationTimestamp of ['never', { toString: 1 }, 0])
    t.match(credential({ ...certificate, expirationTimestamp }), { token: undefined, cert: 'a', key: 'b', expiresAtMs: undefined })
  for (const none of [
    undefined,
    null,
    'x',
    [],
    {},
    { token: '' },
    { token: 1 },
    { token: 'a\nb' },
    { token: 'é' },
    { clientCertificateData: 'a' },
  ])
    t.equal(credential(none), undefined, JSON.stringify(none))
  for (const text of ['', 'null', '1', '{}', '{"status":', '['.repeat(100_000)]) t.equal(readCredential(text), undefined, text.slice(0, 20))
})

t.test('the environment of a plugin, and the path of its program', async (t) => {
  const env = [null, { name: 1 }, { name: 'ODD' }, 'A=b', { name: 'EXTRA', value: 'x' }]
  const found = findExecPlugin(
    { command: '../plugin', args: ['a', { toString: 1 }], env, provideClusterInfo: true, apiVersion: 'v1' },
    CLUSTER,
    HERE,
  )
  t.match(found, { file: '/etc/plugin', args: ['a'], env: { PATH: '/bin', EXTRA: 'x', ODD: '', NOTIFY_SOCKET: undefined } })
  t.same(JSON.parse(found?.env.KUBERNETES_EXEC_INFO ?? ''), {
    apiVersion: 'v1',
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: CLUSTER.server, 'certificate-authority-data': 'Q0E=' } },
  })
  const told = {
    ...CLUSTER,
    tlsServerName: 'api',
    skipTLSVerify: true,
    proxyUrl: 'http://proxy:1',
    section: {
      'disable-compression': true,
      extensions: [null, { name: 'other', extension: 1 }, { name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }],
    },
  }
  const all = findExecPlugin({ command: 'aws', provideClusterInfo: true }, told, HERE)
  t.same(JSON.parse(all?.env.KUBERNETES_EXEC_INFO ?? '').spec.cluster, {
    server: CLUSTER.server,
    'tls-server-name': 'api',
    'insecure-skip-tls-verify': true,
    'certificate-authority-data': 'Q0E=',
    'proxy-url': 'http://proxy:1',
    'disable-compression': true,
    config: { audience: 'a' },
  })
  t.match(findExecPlugin({ command: 'aws' }, CLUSTER, HERE), { file: 'aws', args: [] }, 'one that is looked up in PATH')
  for (const none of [undefined, null, 'x', [], {}, { command: 1 }]) t.equal(findExecPlugin(none, CLUSTER, HERE), undefined)
})
