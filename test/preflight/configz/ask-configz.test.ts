// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { askConfigz, askOrReadLog, findMisreadOf, type RunningKubelet } from '../../../src/preflight/configz/ask-configz.ts'
import { KubeletPort } from '../../../src/preflight/configz/kubelet-port.ts'
import type { KubeletVersion } from '../../../src/preflight/kubelet-version.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'
import { unit } from '../../report/build.ts'
import { v } from '../change/configs.ts'

const FOLDER = '/var/lib/kubelet'

async function ask(version: KubeletVersion | undefined, kubelet: Partial<RunningKubelet> | undefined) {
  const asked: string[] = []
  const answer = await askConfigz(
    {
      // Without a kubeconfig, nothing is sent to kubelet's port.
      port: new KubeletPort({ current: () => ({ kind: 'absent', detail: 'kubelet itself is asked' }) }),
      api: {
        request: async ({ method, path }) => {
          asked.push(`${method} ${path}`)
          return { kind: 'refused', status: 403, reason: 'Forbidden', detail: '403: no', retryAfterMs: undefined }
        },
      },
      nodeName: () => 'node-1',
      files: {
        read: (path) => {
          asked.push(path)
          if (path.startsWith('/secret')) throw new Error('EACCES')
          return path === '/tls.crt' ? Buffer.from('a certificate') : undefined
        },
      },
    },
    kubelet && { unit: unit(), path: `${FOLDER}/config.yaml`, version, config: {}, ...kubelet },
  )
  return { answer, asked }
}

const PROXY = {
  answer: { kind: 'refused', by: 'api-server', status: 403, detail: '403: no' },
  asked: ['GET /api/v1/nodes/node-1/proxy/configz'],
}

t.test('a kubelet before 1.33, or one of another machine, is asked through the API server', async (t) => {
  t.same(await ask(v(32), {}), PROXY)
  t.same(await ask(undefined, {}), PROXY, 'its version is not known')
  t.same(await ask(v(36), undefined), PROXY)
})

t.test('a kubelet from 1.33 on is asked itself, and never through nodes/proxy', async (t) => {
  const config = { tlsCertFile: '/tls.crt' }
  t.same(await ask(v(33), { config }), { answer: { kind: 'unreachable', detail: 'kubelet itself is asked' }, asked: ['/tls.crt'] })
})

t.test('a port whose certificate is not known is not asked', async (t) => {
  const nothing = await ask(v(36), {})
  t.match(nothing, { answer: { kind: 'unproven', detail: /\/var\/lib\/kubelet\/pki\/kubelet\.crt$/ } })
  t.match(await ask(v(36), { config: { tlsCertFile: '/secret/tls.crt' } }), { answer: { kind: 'unproven' } })
  t.match(await ask(v(36), { config: undefined }), { answer: { kind: 'unproven', detail: /config cannot be read/ }, asked: [] })
})

t.test('where kubelet does not serve its config, its log says what it made of it', async (t) => {
  const log = (lines: string) => `I1129 03:36:10.822396   21027 server.go:257] "Effective KubeletConfiguration" config=<\n${lines} >\n`
  const started: string[] = []
  const portsOf = (text: string | undefined, configz: unknown = undefined) => ({
    port: new KubeletPort({ current: () => ({ kind: 'absent', detail: 'nobody is asked' }) }),
    api: {
      request: async () =>
        configz === undefined ? ({ kind: 'unreachable', detail: 'no server' } as const) : ({ kind: 'ok', object: configz } as const),
    },
    nodeName: () => 'node-1',
    files: { read: () => undefined },
    yaml: IN_PLACE,
    lastWords: {
      atStart: async (id: string) => {
        started.push(id)
        return text
      },
    },
  })
  const running = (minor: number) => ({
    unit: unit({ invocationId: 'i1' }),
    path: '/c',
    version: v(minor),
    config: { maxPods: 42, podsPerCore: 7 },
  })
  const logged = log('\tmaxPods: 43\n\tpodsPerCore: 7\n')
  t.same(await askOrReadLog(portsOf(logged), running(37)), { kind: 'ok', object: { kubeletconfig: { maxPods: 43, podsPerCore: 7 } } })
  t.match(await askOrReadLog(portsOf('noise\n'), running(37)), { kind: 'unproven' })
  t.match(await askOrReadLog(portsOf(undefined), running(37)), { kind: 'unproven' }, 'the journal cannot be read')
  t.match(await askOrReadLog(portsOf(log('\t- 1\n')), running(37)), { kind: 'unproven' }, 'it is no config')
  t.same(started, ['i1', 'i1', 'i1', 'i1'])
  t.match(await askOrReadLog(portsOf(logged), running(36)), { kind: 'unproven' }, 'it logs none')
  t.match(await askOrReadLog(portsOf(logged, { kubeletconfig: {} }), running(32)), { kind: 'ok', object: { kubeletconfig: {} } })
  t.equal(started.length, 4)

  t.match(await findMisreadOf(running(37), portsOf(logged)), [{ path: ['maxPods'], meant: { value: 42 }, running: { value: 43 } }])
  t.same(await findMisreadOf(running(37), portsOf(log('\tmaxPods: 42\n\tpodsPerCore: 7\n'))), [])
  t.equal(await findMisreadOf(running(37), portsOf(undefined)), undefined)
  t.equal(await findMisreadOf({ ...running(37), config: undefined }, portsOf(logged)), undefined)
  t.same(await findMisreadOf(running(37), portsOf(log('\tmaxPods: 42\n'))), [], 'a line that the journal dropped is not known')
  const early =
    'Flag --max-pods has been deprecated, x\nW1129 03:36:10.822396   21027 feature_gate.go:352] Setting GA feature gate\nI1129 03:36:10.822396   21027 flags.go:64] FLAG: --v="1"\n'
  t.equal((await findMisreadOf(running(37), portsOf(`${early}${logged}`)))?.length, 1)
  const json =
    '{"ts":1795923371054.9958,"caller":"app/server.go:257","msg":"Effective KubeletConfiguration","v":0,"config":"maxPods: 43\\n"}\n'
  t.equal((await findMisreadOf(running(37), portsOf(json)))?.length, 1)
  for (const later of ['\ttail of another entry\n', 'I1129 03:36:11.000000   21027 server.go:545] "Kubelet version"\n'])
    t.equal(await findMisreadOf(running(37), portsOf(`${later}${logged}`)), undefined, 'the start has left the journal')
  const inside = unit({ invocationId: 'i1', command: { path: '/usr/local/bin/k3s', words: ['k3s', 'agent'] } })
  const incomplete = unit({ invocationId: 'i1', command: { path: '/k', words: ['/k'], incomplete: 'more' } })
  for (const partly of [inside, incomplete])
    t.equal(await findMisreadOf({ ...running(37), unit: partly }, portsOf(logged)), undefined, 'not all of its flags are known')
  const upgraded = { ...portsOf(logged), yaml: { ...IN_PLACE, firstOfAny: () => Promise.reject(new Error('ENOENT')) } }
  t.equal(await findMisreadOf(running(37), upgraded), undefined, 'the parser is missing for a moment')
  t.match(await askOrReadLog(upgraded, running(37)), { kind: 'unproven' })
})
