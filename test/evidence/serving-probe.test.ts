// SPDX-License-Identifier: Apache-2.0
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createSocketServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { createAuthority, issueCertificate } from '../../demo/api-server/x509.ts'
import { ServingProbe } from '../../src/evidence/serving-probe.ts'
import { identityOf, listen } from '../kube/client-identity.ts'

const authority = createAuthority('cluster')
const client = issueCertificate(authority, { commonName: 'system:node:node-1', organizations: ['system:nodes'] }, { kind: 'client' })
const server = issueCertificate(
  createAuthority('self-signed'),
  { commonName: 'node-1', organizations: [] },
  { kind: 'server', hosts: ['127.0.0.1'] },
)

type Handler = (request: IncomingMessage, response: ServerResponse) => void

t.test('what kubelet answers on its TLS port', async (t) => {
  let handler: Handler = (_, response) => void response.end()
  let presented = ''
  let asked: string | undefined
  const kubelet = createHttpsServer({
    cert: server.certificate,
    key: server.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  })
  kubelet.on('request', (request: IncomingMessage, response: ServerResponse) => {
    asked = request.url
    presented = String((request.socket as TLSSocket).getPeerCertificate().subject?.CN)
    handler(request, response)
  })
  const target = await listen(kubelet)
  const probe = new ServingProbe(identityOf(client), 3600_000)

  handler = (_, response) =>
    void response.writeHead(403).end('Forbidden (user=system:node:node-1, verb=get, resource=nodes, subresource=proxy)')
  const told = await probe.ask(target)
  t.match(told, { kind: 'answered', status: 403, user: 'system:node:node-1' })
  const { fromMs = Number.NaN, untilMs = Number.NaN } = (told.kind === 'answered' ? told.valid : undefined) ?? {}
  t.ok(fromMs <= Date.now() && Date.now() < untilMs, 'how long the client certificate is valid')
  t.equal(presented, 'system:node:node-1')
  t.equal(asked, '/healthz')
  handler = (_, response) => void response.writeHead(401).end('Unauthorized (user=nobody)')
  t.match(await probe.ask(target), { kind: 'answered', status: 401, user: undefined }, 'only who is refused has a name')
  handler = (_, response) => void response.writeHead(403).end(`${'x'.repeat(5000)} user=late`)
  t.match(await probe.ask(target), { kind: 'answered', status: 403, user: undefined }, 'only the beginning is kept')
  handler = (_, response) => void response.writeHead(200, { 'Content-Length': 100 }).write('cut', () => response.destroy())
  t.match(await probe.ask(target), { kind: 'no-tls', detail: /aborted/ }, 'kubelet ends while it answers')
  handler = (_, response) => void response.writeHead(403).end('x'.repeat(1_000_000))
  t.match(await probe.ask(target), { kind: 'answered', status: 403, user: undefined })
  handler = () => {}
  t.same(await new ServingProbe(identityOf(client), 300).ask(target), {
    kind: 'no-tls',
    detail: 'no answer within 0.3 s',
    isSilent: true,
  })
  kubelet.close()
  kubelet.closeAllConnections()
  t.match(await probe.ask(target), { kind: 'no-tls' })
})

t.test('a port that does not speak TLS', async (t) => {
  const nonsense = createSocketServer((socket) => socket.on('error', () => {}).end('SSH-2.0-no\r\n'))
  t.match(await new ServingProbe(identityOf(client), 3600_000).ask(await listen(nonsense)), { kind: 'no-tls' })
  nonsense.close()
})

t.test('a port that takes the connection and does not speak at all', async (t) => {
  const mute = createSocketServer((socket) => socket.on('error', () => {}))
  const answer = await new ServingProbe(identityOf(client), 300).ask(await listen(mute))
  t.same(answer, { kind: 'no-tls', detail: 'no answer within 0.3 s', isSilent: false })
  mute.close()
})

t.test('a port that speaks TLS and has no certificate yet', async (t) => {
  // RFC 8446, section 6: a fatal alert, 80 is internal_error. Go sends it if GetCertificate fails.
  const alert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 80])
  const kubelet = createSocketServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(alert)))
  t.match(await new ServingProbe(identityOf(client), 3600_000).ask(await listen(kubelet)), {
    kind: 'no-certificate',
    detail: /alert internal error/,
  })
  kubelet.close()
})

t.test('nothing is sent without a client certificate, least of all a token', async (t) => {
  const target = { host: '127.0.0.1', port: 1 }
  const none = { kind: 'not-asked', detail: 'the kubeconfig has no client certificate' }
  t.same(await new ServingProbe(identityOf(undefined, { Authorization: 'Bearer secret' })).ask(target), none)
  const current = identityOf(client).current()
  if (current.kind !== 'ok') return t.fail(current.detail)
  const { credentials } = current
  const outcome = await credentials.access()
  if (!outcome.ok) return t.fail('it has access')
  const askWith = (access: typeof credentials.access) =>
    new ServingProbe({ current: () => ({ kind: 'ok', credentials: { ...credentials, access } }) }).ask(target)
  for (const half of [{ cert: undefined }, { key: undefined }]) {
    const tls = { ...outcome.access.tls, ...half }
    t.same(await askWith(async () => ({ ok: true, access: { ...outcome.access, tls } })), none, 'nor with a half of it')
  }
  const unreadable = { ok: false, detail: 'its file cannot be read' } as const
  t.same(await askWith(async () => unreadable), { kind: 'not-asked', detail: unreadable.detail })
  t.match(await new ServingProbe({ current: () => ({ kind: 'absent', detail: 'no kubeconfig' }) }).ask(target), {
    kind: 'not-asked',
    detail: 'no kubeconfig',
  })
})

t.test('a certificate that cannot be used is no bug', async (t) => {
  t.match(await new ServingProbe(identityOf({ ...client, certificate: 'not a certificate' })).ask({ host: '127.0.0.1', port: 1 }), {
    kind: 'not-asked',
  })
})
