import t from 'tap'
import { askConfigz, type RunningKubelet } from '../../../src/main-configz.ts'
import type { KubeletVersion } from '../../../src/preflight/kubelet-version.ts'
import { unit } from '../../report/build.ts'
import { v } from '../change/configs.ts'

const FOLDER = '/var/lib/kubelet'

async function ask(version: KubeletVersion | undefined, kubelet: Partial<RunningKubelet> | undefined) {
  const asked: string[] = []
  const answer = await askConfigz(
    {
      // Without a kubeconfig, nothing is sent to kubelet's port.
      kubeconfig: { current: () => ({ kind: 'absent', detail: 'kubelet itself is asked' }) },
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
      versionOf: async () => version,
    },
    kubelet && { unit: unit(), path: `${FOLDER}/config.yaml`, config: {}, ...kubelet },
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
