import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import t from 'tap'
import { FakeDisk } from '../../src/checkpoint/fake/fake-disk.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { ConfigFileFacts } from '../../src/kubelet/config-file.ts'
import { NetworkHealthProbe } from '../../src/kubelet/health.ts'
import { findHealthPort } from '../../src/kubelet/health-target.ts'
import { IN_PLACE } from './in-place-yaml.ts'

const listen = (server: Server) =>
  new Promise<{ host: string; port: number }>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }))
  })

t.test('healthz: all outcomes', async (t) => {
  const probe = new NetworkHealthProbe(3600_000)
  const impatient = new NetworkHealthProbe(300)
  const server = createServer(({ url }, response) => {
    if (url === '/healthz') response.writeHead(status).end('whatever')
  })
  let status = 200
  const target = await listen(server)
  t.strictSame(await probe.healthz(target), { ok: true, detail: 'ok' })
  status = 500
  t.strictSame(await probe.healthz(target), { ok: false, detail: 'HTTP 500' })
  server.close()
  server.closeAllConnections()
  t.strictSame(await probe.healthz(target), { ok: false, detail: 'connection refused' })

  const silent = createServer(() => {})
  t.strictSame(await impatient.healthz(await listen(silent)), { ok: false, detail: 'no answer within 0.3 s' })
  const trickling = createServer((_, response) => {
    response.writeHead(200).write('o')
  })
  t.match(await impatient.healthz(await listen(trickling)), { ok: false })
  const nonsense = createSocketServer((socket) => socket.on('error', () => {}).end('SSH-2.0-no\r\n'))
  t.match(await probe.healthz(await listen(nonsense)), { ok: false })
  for (const server of [silent, trickling]) server.closeAllConnections()
  for (const server of [silent, trickling, nonsense]) server.close()
})

t.test('the health endpoint of a config', async (t) => {
  const cases: [config: Record<string, unknown>, target: unknown][] = [
    [{}, { host: '127.0.0.1', port: 10248 }],
    [{ healthzPort: 0 }, 'none'],
    [
      { healthzPort: 1, healthzBindAddress: '0.0.0.0' },
      { host: '127.0.0.1', port: 1 },
    ],
    [
      { healthzPort: null, healthzBindAddress: '::' },
      { host: '::1', port: 10248 },
    ],
    [{ healthzBindAddress: '10.0.0.5' }, { host: '10.0.0.5', port: 10248 }],
  ]
  for (const [config, target] of cases) t.strictSame(findHealthPort(config), target)
})

t.test('a config file is read again only when it has changed', async (t) => {
  const disk = new FakeDisk(() => 1)
  const files = new DurableFiles(disk)
  let reads = 0
  const counting = {
    stat: (path: string) => files.stat(path),
    read: (path: string) => {
      reads++
      return files.read(path)
    },
  }
  const facts = new ConfigFileFacts(counting, IN_PLACE)
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
  t.match(await facts.of('/none'), { healthz: undefined, runtimeEndpoint: undefined }, 'which port it is, is not known')
  disk.plant('/c', `${head}healthzPort: 0\ncontainerRuntimeEndpoint: unix:///run/c.sock\n`)
  reads = 0
  for (let i = 0; i < 3; i++) t.match(await facts.of('/c'), { healthz: 'none', runtimeEndpoint: 'unix:///run/c.sock' })
  t.equal(reads, 1)
  disk.plant('/c', `${head}healthzPort: 7\n`)
  t.match(await facts.of('/c'), { healthz: { port: 7 }, runtimeEndpoint: undefined })
  files.remove('/c')
  t.match(await facts.of('/c'), { healthz: { port: 7 } }, 'a kubelet that was started with it runs on')
  disk.plant('/d', `${head}healthzPort: 7\ncontainerRuntimeEndpoint: unix:///run/d.sock\n`)
  t.match(await facts.of('/d', '/d.d/90.conf'), { healthz: { port: 7 } }, 'a drop-in that is missing')
  disk.plant('/d.d/90.conf', `${head}healthzPort: 8\n`)
  t.match(
    await facts.of('/d', '/d.d/90.conf'),
    { healthz: { port: 8 }, runtimeEndpoint: 'unix:///run/d.sock' },
    'is merged when it is there',
  )
  t.match(await facts.of('/d'), { healthz: { port: 7 } })
  disk.plant('/c', 'nonsense')
  t.match(await facts.of('/c'), { healthz: { port: 10248 } })
  for (let i = 0; i < 20; i++) {
    disk.plant(`/many/${i}`, `${head}healthzPort: ${i + 1}\n`)
    t.match(await facts.of(`/many/${i}`), { healthz: { port: i + 1 } })
  }
})
