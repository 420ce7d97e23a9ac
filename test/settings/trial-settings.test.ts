// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { ALL_REQUIRED } from '../../src/evidence/kinds.ts'
import { CONFIG_API_VERSION, resolveSettings } from '../../src/settings/resolve-settings.ts'
import { evidenceKind } from '../../src/settings/trial-settings.ts'

t.test('kinds that are not named are required', async (t) => {
  t.same(evidenceKind.parse(''), { ok: true, value: ALL_REQUIRED })
  t.same(evidenceKind.parse('lease=watched, pods=off'), { ok: true, value: { ...ALL_REQUIRED, lease: 'watched', pods: 'off' } })
})

t.test('what is shown is read as the same', async (t) => {
  for (const text of ['', 'runtime=watched,pods=off']) {
    const parsed = evidenceKind.parse(text)
    t.equal(parsed.ok && evidenceKind.show(parsed.value), text)
  }
})

t.test('what cannot be meant is refused', async (t) => {
  const problem = (text: string) => {
    const parsed = evidenceKind.parse(text)
    return parsed.ok ? '' : parsed.detail
  }
  t.match(problem('leases=off'), /"leases" is not one of runtime, lease, /)
  t.match(problem('process=off'), /"process" is not one of/, 'a crash loop always rolls back')
  t.match(problem('lease=no'), /"lease=no" must be lease=LEVEL, where LEVEL is one of required, watched, off/)
  t.match(problem('lease'), /must be lease=LEVEL/)
  t.match(problem('lease=off=off'), /must be lease=LEVEL/)
  t.match(problem('lease=off,lease=off'), /names lease twice/)
  t.match(problem('lease=off,'), /"" is not one of/)
})

const read = (evidence: unknown) => {
  const value = { apiVersion: CONFIG_API_VERSION, kind: 'AgentConfiguration', evidence }
  const resolution = resolveSettings({ flags: {}, env: {}, file: { kind: 'document', path: '/config.yaml', value } })
  return resolution.ok ? resolution.settings.evidence : resolution.problems
}

t.test('the settings file may have a mapping, a list or the text', async (t) => {
  const expected = { ...ALL_REQUIRED, lease: 'watched', pods: 'off' }
  t.same(read({ lease: 'watched', pods: 'off' }), expected)
  t.same(read(['lease=watched', 'pods=off']), expected)
  t.same(read('lease=watched,pods=off'), expected)
  t.match(read({ lease: null }), [/config.yaml: evidence: "lease=" must be lease=LEVEL/])
  t.match(read({ 'lease=off,pods': 'off' }), [/config.yaml: evidence: must be a mapping with keys without commas and =/])
  t.match(read({ lease: ['off'] }), [/config.yaml: evidence: "lease=" must be/])
})
