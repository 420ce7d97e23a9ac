// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { isReport } from '../../src/helper/protocol.ts'

t.test('a report of another shape is none', async (t) => {
  const finding = { rule: 'fields/x', severity: 'warn', reason: 'load', path: ['a', 0], problem: 'p' }
  const report = { outcome: 'accepted', findings: [finding], parts: [{ part: 'fields', outcome: 'accepted', detail: 'd' }] }
  t.ok(isReport(report))
  t.ok(isReport({ ...report, parts: [{ part: 'kubelet', outcome: 'cannot-start', detail: 'd' }] }))
  t.notOk(isReport({ ...report, outcome: 'fine' }))
  t.notOk(isReport({ ...report, outcome: 'cannot-start' }))
  t.notOk(isReport({ ...report, findings: undefined }))
  t.notOk(isReport({ ...report, findings: [{ ...finding, severity: 'none' }] }))
  t.notOk(isReport({ ...report, parts: [{ part: 'fields' }] }))
})
