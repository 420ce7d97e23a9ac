// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { checkEffects } from '../../../src/command/agent/check-effects.ts'
import type { CommandContext } from '../../../src/command/agent/command.ts'
import type { KubeAnswer } from '../../../src/ports/kube-api.ts'
import type { RunningEffects } from '../../../src/preflight/running-effects.ts'
import { defaults } from '../../settings/settled-settings.ts'

const NONE: RunningEffects = { shutdown: undefined, skipped: [], asksForCertificate: false }
const ASKS = { ...NONE, asksForCertificate: true }

const request = (name: string, minute: number, more: object = {}, username = 'system:node:node-1') => ({
  metadata: { name, creationTimestamp: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z` },
  spec: { username, signerName: 'kubernetes.io/kubelet-serving' },
  status: {},
  ...more,
})
const condition = (type: string, message = '') => ({ status: { conditions: [{ type, status: 'True', reason: 'Because', message }] } })
const list = (...items: readonly object[]): KubeAnswer => ({ kind: 'ok', object: { items } })

async function check(
  effects: RunningEffects | undefined,
  answer: KubeAnswer | readonly KubeAnswer[] = list(),
  more: Partial<CommandContext> = {},
) {
  const answers = [answer].flat()
  const paths: string[] = []
  const api: CommandContext['api'] = {
    request: async ({ path, query = {} }) => {
      paths.push(`${path}?${new URLSearchParams(query)}`)
      return answers[Math.min(paths.length, answers.length) - 1] ?? list()
    },
  }
  const found = await checkEffects({ readEffects: async () => effects, api, nodeName: () => 'node-1', settings: defaults, ...more })
  return { paths, lines: found.map(({ topic, level, text }) => `${level} ${topic}: ${text}`) }
}

t.test('what of the config has no effect', async (t) => {
  t.same(await check(undefined), { paths: [], lines: [] }, 'no kubelet runs')
  t.same(await check(NONE), { paths: [], lines: [] })
  const { lines } = await check({ ...NONE, shutdown: 'no lock', skipped: ['a.yaml is skipped', 'b is skipped'] })
  t.same(lines, ['warn shutdown: no lock', 'warn config-dir: a.yaml is skipped', 'warn config-dir: b is skipped'])
})

t.test('a serving certificate that waits for approval', async (t) => {
  const { paths, lines } = await check(ASKS, list(request('csr-a', 1)))
  t.same(paths, [
    '/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=spec.signerName%3Dkubernetes.io%2Fkubelet-serving&limit=150',
  ])
  t.match(lines, [
    /^warn certificate: request csr-a of the serving certificate waits for approval: kubectl certificate approve csr-a; until/,
  ])
  for (const [what, items, expected] of [
    ['none', [], undefined],
    ['of another node', [request('csr-a', 1, {}, 'system:node:node-10')], undefined],
    ['the newest counts', [request('csr-b', 2), request('csr-a', 1)], /csr-b .* waits/],
    ['the newest is approved', [request('csr-b', 2, condition('Approved')), request('csr-a', 1)], undefined],
    ['an older one was approved', [request('csr-b', 2), request('csr-a', 1, condition('Approved'))], /csr-b .* waits/],
    ['denied', [request('csr-a', 1, condition('Denied', 'no such node'))], /csr-a .* has Denied: no such node;/],
    ['failed', [request('csr-a', 1, condition('Failed'))], /csr-a .* has Failed: Because;/],
    ['not a list', [null, 'x', {}], undefined],
  ] as const)
    t.match((await check(ASKS, { kind: 'ok', object: { items } })).lines, expected === undefined ? [] : [expected], what)
})

t.test('the newest of all pages counts', async (t) => {
  const first = { kind: 'ok', object: { items: [request('csr-a', 1)], metadata: { continue: 'next' } } } as const
  const { paths, lines } = await check(ASKS, [first, list(request('csr-b', 2))])
  t.match(paths, [/limit=150$/, /limit=150&continue=next$/])
  t.match(lines, [/request csr-b .* waits/])
})

t.test('nothing is said where it cannot be read, or there is no API server', async (t) => {
  const forbidden = { kind: 'refused', status: 403, reason: 'Forbidden', detail: '403', retryAfterMs: undefined } as const
  t.same((await check(ASKS, forbidden)).lines, [])
  t.same((await check(ASKS, { kind: 'unreachable', detail: 'no' })).lines, [])
  t.same(await check(ASKS, list(request('csr-a', 1)), { settings: { ...defaults, manifestDir: '/m' } }), { paths: [], lines: [] })
})
