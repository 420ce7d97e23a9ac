// SPDX-License-Identifier: Apache-2.0
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import { createServer as createSocketServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createAuthority, issueCertificate } from '../../../demo/api-server/x509.ts'
import { KubeletPort } from '../../../src/preflight/configz/kubelet-port.ts'
import { identityOf, listen } from '../../kube/client-identity.ts'

const cluster = createAuthority('cluster')
const client = issueCertificate(cluster, { commonName: 'system:node:node-1', organizations: ['system:nodes'] }, { kind: 'client' })
const serving = (signer = createAuthority('node-1')) =>
  issueCertificate(signer, { commonName: 'node-1', organizations: [] }, { kind: 'server', hosts: ['node-1'] })
const PATIENT_MS = 3600_000
const TOKEN = { Authorization: 'Bearer secret' }

interface Seen {
  readonly requests: { readonly url: string | undefined; readonly token: string | undefined; readonly user: string | undefined }[]
  /** Client certificates of handshakes, whether or not a request followed. */
  readonly shown: (string | undefined)[]
}
type Handler = (request: IncomingMessage, response: ServerResponse) => void
const SAYS: Handler = (_, response) => void response.end('{"kubeletconfig":{"maxPods":5}}')

async function serve(t: Test, pair: { certificate: string; key: string }, handler = SAYS) {
  const seen: Seen = { requests: [], shown: [] }
  const options = { cert: pair.certificate, key: pair.key, ca: cluster.certificate, requestCert: true, rejectUnauthorized: false }
  const server: HttpsServer = createHttpsServer(options, (request, response) => {
    const user = (request.socket as TLSSocket).getPeerCertificate().subject?.CN
    seen.requests.push({ url: request.url, token: request.headers.authorization, user: user?.toString() })
    handler(request, response)
  })
  server.on('secureConnection', (socket: TLSSocket) => seen.shown.push(socket.getPeerCertificate().subject?.CN?.toString()))
  const target = await listen(server)
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { target, seen }
}

for (const [what, pair] of [
  ['a self-signed certificate', serving()],
  ["a certificate of the cluster's authority", serving(cluster)],
] as const)
  t.test(`the port that serves kubelet's own file is asked: ${what}`, async (t) => {
    const { target, seen } = await serve(t, pair)
    const port = new KubeletPort(identityOf(client, TOKEN), PATIENT_MS)
    const other = serving().certificate
    t.same(await port.askConfigz({ target, certificates: [other, `${pair.certificate}${pair.key}`] }), {
      kind: 'ok',
      object: { kubeletconfig: { maxPods: 5 } },
    })
    t.same(seen.requests, [{ url: '/configz', token: 'Bearer secret', user: 'system:node:node-1' }])
    t.same(
      seen.shown.filter((user) => user !== undefined),
      ['system:node:node-1'],
    )
  })

t.test('a token is enough', async (t) => {
  const pair = serving()
  const { target, seen } = await serve(t, pair)
  t.match(await new KubeletPort(identityOf(undefined, TOKEN), PATIENT_MS).askConfigz({ target, certificates: [pair.certificate] }), {
    kind: 'ok',
  })
  t.same(seen.requests, [{ url: '/configz', token: 'Bearer secret', user: undefined }])
})

t.test('a port with another certificate gets neither token nor client certificate, though the cluster signed it', async (t) => {
  const { target, seen } = await serve(t, serving(cluster))
  const port = new KubeletPort(identityOf(client, TOKEN), PATIENT_MS)
  for (const certificates of [[serving(cluster).certificate], [cluster.certificate], ['not a certificate'], []])
    t.match(await port.askConfigz({ target, certificates }), { kind: 'unproven', detail: /certificate/ })
  t.same([seen.requests, seen.shown.filter((user) => user !== undefined)], [[], []])
})

t.test('a server that takes the place of kubelet between the two connections gets no request', async (t) => {
  const pair = serving()
  const impostor = serving(cluster)
  const { target, seen } = await serve(t, pair)
  const second = await serve(t, impostor)
  let connections = 0
  // Passes the first connection to kubelet, and the second one to the impostor.
  const { connect } = await import('node:net')
  const relay = createSocketServer((socket) => {
    connections += 1
    const beyond = connect(connections === 1 ? target.port : second.target.port, '127.0.0.1')
    for (const end of [socket, beyond]) end.on('error', () => {})
    socket.pipe(beyond).pipe(socket)
  })
  const between = await listen(relay)
  t.teardown(() => relay.close())
  t.match(await new KubeletPort(identityOf(client, TOKEN), PATIENT_MS).askConfigz({ target: between, certificates: [pair.certificate] }), {
    kind: 'unproven',
  })
  t.same([seen.requests, second.seen.requests], [[], []])
})

t.test('what kubelet answers instead', async (t) => {
  let handler: Handler = (_, response) => void response.writeHead(403).end('Forbidden (user=x,\n subresource(s)=[configz proxy])\u0007')
  const pair = serving()
  const { target } = await serve(t, pair, (...exchange) => handler(...exchange))
  const ask = (timeoutMs = PATIENT_MS) =>
    new KubeletPort(identityOf(client), timeoutMs).askConfigz({ target, certificates: [pair.certificate] })
  t.same(await ask(), { kind: 'refused', by: 'kubelet', status: 403, detail: '403: Forbidden (user=x, subresource(s)=[configz proxy])' })
  handler = (_, response) => void response.writeHead(405).end('x'.repeat(5000))
  t.match(await ask(), { kind: 'refused', status: 405, detail: /^.{0,400}$/ })
  handler = (_, response) => void response.end('no JSON')
  t.match(await ask(), { kind: 'unreachable', detail: /not valid JSON/ })
  handler = (_, response) => {
    for (let sent = 0; sent < 90; sent++) response.write('x'.repeat(65536))
    response.end()
  }
  t.match(await ask(), { kind: 'unreachable', detail: /more than \d+ characters/ })
  handler = (request) => void request.socket.destroy()
  t.match(await ask(), { kind: 'unreachable' })
  handler = () => {}
  t.match(await ask(300), { kind: 'unreachable', detail: /no answer within 0\.3 s$/ })
})

t.test('no kubelet, no TLS, no credentials', async (t) => {
  const certificates = [serving().certificate]
  const nonsense = createSocketServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end('SSH-2.0-no\r\n'),
  )
  const target = await listen(nonsense)
  const port = new KubeletPort(identityOf(client, TOKEN), PATIENT_MS)
  t.match(await port.askConfigz({ target, certificates }), { kind: 'unreachable', detail: /^kubelet's port 127\.0\.0\.1:\d+: / })
  await new Promise((resolve) => nonsense.close(resolve))
  t.match(await port.askConfigz({ target, certificates }), { kind: 'unreachable', detail: /ECONNREFUSED/ })
  const nobody = new KubeletPort({ current: () => ({ kind: 'absent', detail: 'no kubeconfig' }) })
  t.same(await nobody.askConfigz({ target, certificates }), { kind: 'unreachable', detail: 'no kubeconfig' })
})
