// SPDX-License-Identifier: Apache-2.0
import { totalmem } from 'node:os'
import t from 'tap'
import { type FactSources, findPrettyName, readMachineFacts } from '../../src/kubelet/node-facts.ts'

const sources: FactSources = {
  memory: async () => ({ total: 2 ** 34, available: 2 ** 33, swaptotal: 2 ** 31 }),
  osRelease: async () => 'NAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
}

t.test('this machine', async (t) => {
  const result = await readMachineFacts(10_000)
  if (!result.ok) return t.fail(result.detail)
  t.equal(result.facts.memoryBytes, totalmem())
  t.ok(result.facts.cpus > 0 && result.facts.memoryAvailableBytes > 0)
  t.match(result.facts.kernel, /^\d/)
})

t.test('os-release', async (t) => {
  t.equal(findPrettyName("A=1\nPRETTY_NAME='Alpine Linux v3.20'"), 'Alpine Linux v3.20')
  t.equal(findPrettyName('PRETTY_NAME=Flatcar\r\n'), 'Flatcar')
  t.equal(findPrettyName('PRETTY_NAME=""'), 'unknown')
  t.equal(findPrettyName(''), 'unknown')
})

t.test('never throws, and never exceeds its limit', async (t) => {
  const broken = { ...sources, memory: async () => Promise.reject(new Error('no /proc')) }
  t.same(await readMachineFacts(10_000, broken), { ok: false, detail: 'no /proc' })
  const stuck = { ...sources, memory: () => new Promise<never>(() => {}) }
  t.same(await readMachineFacts(1, stuck), { ok: false, detail: 'no answer within 1 ms' })
})
