// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { adviseOnRefusal, Budget } from '../../src/report/request-pace.ts'

t.test('a burst, then the steady rate, and after a rest another burst', async (t) => {
  const budget = new Budget(3, 1000)
  t.same([budget.spend(0), budget.spend(0), budget.spend(0)], [0, 0, 1000])
  t.equal(budget.spend(1000), 1000)
  t.same([budget.spend(10_000), budget.spend(10_000), budget.spend(10_000)], [0, 0, 1000])
})

const FILE = 'deploy/rbac/status.yaml'
const refused = (status: number, detail: string) => ({ kind: 'refused', status, reason: '', detail, retryAfterMs: undefined }) as const

t.test('names the file where a right is missing, and nothing where none is', (t) => {
  const rbac =
    '403: nodes "n" is forbidden: User "system:serviceaccount:kube-system:kubelet-cfg-agent" cannot patch resource "nodes/status" in API group "" at the cluster scope'
  t.equal(adviseOnRefusal(refused(403, rbac), FILE), '; deploy/rbac/status.yaml grants it')
  const policy = `403: nodes "n" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: only the agent of this node`
  t.equal(adviseOnRefusal(refused(403, policy), FILE), '')
  t.match(adviseOnRefusal(refused(401, '401: Unauthorized'), FILE), 'identity of the kubeconfig')
  t.equal(adviseOnRefusal(refused(500, 'cannot patch resource x'), FILE), '')
  t.equal(adviseOnRefusal({ kind: 'unreachable', detail: '' }, FILE), '')
  t.end()
})
