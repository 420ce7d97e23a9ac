// SPDX-License-Identifier: Apache-2.0
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { ConfigFileFacts, findHealthPort } from '../../src/kubelet/config-file.ts'
import { NetworkHealthProbe } from '../../src/kubelet/health.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
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
  t.strictSame(await probe.healthz(target), { ok: false, detail: 'connection refused', unreached: 'refused' })

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
      { host: '0.0.0.0', port: 1 },
    ],
    [
      { healthzPort: null, healthzBindAddress: '::' },
      { host: '::', port: 10248 },
    ],
    [{ healthzBindAddress: '' }, { host: '127.0.0.1', port: 10248 }],
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
    list: (path: string) => files.list(path),
    read: (path: string) => {
      reads++
      return files.read(path)
    },
  }
  const facts = new ConfigFileFacts(counting, IN_PLACE)
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
  t.equal(await facts.of({ path: '/none' }), undefined, 'which port it is, is not known')
  disk.plant('/c', `${head}healthzPort: 0\ncontainerRuntimeEndpoint: unix:///run/c.sock\n`)
  reads = 0
  for (let i = 0; i < 3; i++) t.match(await facts.of({ path: '/c' }), { healthz: 'none', runtimeEndpoint: 'unix:///run/c.sock' })
  t.equal(reads, 1)
  disk.plant('/c', `${head}healthzPort: 7\n`)
  t.match(await facts.of({ path: '/c' }), { healthz: { port: 7 }, runtimeEndpoint: undefined })
  files.remove('/c')
  t.match(await facts.of({ path: '/c' }), { healthz: { port: 7 } }, 'a kubelet that was started with it runs on')
  disk.plant('/c', `${head}healthzPort: !!int 8\n`)
  t.match(await facts.of({ path: '/c' }), { healthz: { port: 8 } }, 'a probe is no harm, though kubelet may read it differently')
  const twice = '{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "healthzPort": 8, "healthzPort": 9}'
  disk.plant('/c', twice)
  t.match(await facts.of({ path: '/c' }), { healthz: { port: 8 } }, 'kubelet may read it differently')
  disk.plant('/new', twice)
  t.equal(await facts.of({ path: '/new' }), undefined, 'which port it is, is not known')
  disk.plant('/c', 'nonsense')
  t.match(await facts.of({ path: '/c' }), { healthz: { port: 10248 } })
  for (let i = 0; i < 20; i++) {
    disk.plant(`/many/${i}`, `${head}healthzPort: ${i + 1}\n`)
    t.match(await facts.of({ path: `/many/${i}` }), { healthz: { port: i + 1 } })
  }
})

t.test('the config is what kubelet makes of its file and the drop-ins, also those of other programs', async (t) => {
  const disk = new FakeDisk(() => 1)
  const files = new DurableFiles(disk)
  const facts = new ConfigFileFacts(files, IN_PLACE)
  const plant = (path: string, fields: string) =>
    disk.plant(path, `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}\n`)
  const [path, directory] = ['/d', '/d.d']
  plant(path, 'healthzPort: 7\ncontainerRuntimeEndpoint: unix:///run/d.sock')
  t.match(await facts.of({ path, directory }), { healthz: { port: 7 } }, 'the directory is missing')

  plant('/d.d/90-agent.conf', 'healthzPort: 8')
  const own = { path: '/d.d/90-agent.conf', content: undefined }
  t.match(await facts.of({ path, directory }), { healthz: { port: 8 }, runtimeEndpoint: 'unix:///run/d.sock' })
  t.match(await facts.of({ path }), { healthz: { port: 7 } }, 'a kubelet without drop-ins')
  t.match(await facts.of({ path, directory, own }), { healthz: { port: 7 } }, "the agent's is not in force")
  plant('/checkpoint', 'healthzPort: 9')
  t.match(await facts.of({ path, directory, own: { ...own, content: '/checkpoint' } }), { healthz: { port: 9 } }, 'another is in its place')
  t.match(await facts.of({ path, directory, own: { ...own, content: '/none' } }), { healthz: { port: 7 } }, 'that is missing')

  plant('/d.d/50-site.conf', 'healthzPort: 5\ncontainerRuntimeEndpoint: unix:///run/site.sock')
  plant('/d.d/readme.txt', 'healthzPort: 4')
  t.match(await facts.of({ path, directory }), { healthz: { port: 8 }, runtimeEndpoint: 'unix:///run/site.sock' }, 'one below')
  t.match(await facts.of({ path, directory, own }), { healthz: { port: 5 } })
  plant('/d.d/sub/10-late.conf', 'healthzPort: 6')
  t.match(await facts.of({ path, directory }), { healthz: { port: 6 } }, 'one above: kubelet goes through the directories in it, too')
  t.match(await facts.of({ path, directory, own: { ...own, content: '/checkpoint' } }), { healthz: { port: 6 } })
  files.remove('/d.d/sub/10-late.conf')
  t.match(await facts.of({ path, directory }), { healthz: { port: 8 } }, 'it is removed again')
  t.match(
    await facts.of({ path: undefined, directory }),
    { healthz: { port: 8 }, runtimeEndpoint: 'unix:///run/site.sock' },
    'without a file',
  )
})
