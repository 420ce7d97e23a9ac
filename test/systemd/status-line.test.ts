import t from 'tap'
import type { Desired } from '../../src/decision/desired.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { describeTurn } from '../../src/systemd/status-line.ts'
import { found, snapshot, source } from '../report/build.ts'

const rest = { kind: 'wait', phase: 'settled', detail: 'local', untilUs: 0 } as const
const line = (fields: Partial<Snapshot>) => describeTurn(rest, snapshot(fields))
const ref = { namespace: 'kube-system', name: 'node-config', kubeletConfigKey: 'kubelet' }

t.test('the reason for an unknown assignment comes before the state', async (t) => {
  const cases: [Desired, string][] = [
    [{ kind: 'local' }, 'settled: local'],
    [found(source()), 'settled: local'],
    [
      { kind: 'unknown', detail: 'kubeconfig /etc/kubernetes/kubelet.conf does not exist yet' },
      'waiting for the assignment: kubeconfig /etc/kubernetes/kubelet.conf does not exist yet (settled: local)',
    ],
    [{ kind: 'invalid', detail: 'configMap has no key' }, 'the assignment is not valid: configMap has no key (settled: local)'],
    [{ kind: 'config-map', ref, object: { kind: 'pending' } }, 'waiting for ConfigMap kube-system/node-config (settled: local)'],
    [
      { kind: 'config-map', ref, object: { kind: 'unavailable', reason: 'not-found', detail: 'it does not exist' } },
      'waiting for ConfigMap kube-system/node-config: it does not exist (settled: local)',
    ],
  ]
  for (const [desired, text] of cases) t.equal(line({ desired }), text)
})

t.test('a hold is named instead of the assignment', async (t) => {
  const requests = { hold: 'local', rollback: undefined, retry: false } as const
  t.equal(line({ requests, desired: { kind: 'unknown', detail: 'x' } }), 'held on the local config until resume (settled: local)')
})

t.test('always one bounded line of plain text', async (t) => {
  const text = describeTurn({ ...rest, detail: `a\nWATCHDOG=1\n\u001b[31mred ${'x'.repeat(1000)}` }, undefined)
  t.match(text, /^settled: a WATCHDOG=1 \?\[31mred x+\.\.\.$/)
  t.equal(text.length, 300)
})
