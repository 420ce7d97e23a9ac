// SPDX-License-Identifier: Apache-2.0
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { KubeconfigReading } from '../../src/kube/access.ts'
import { KubeconfigFile, listKubeconfigs } from '../../src/kube/kubeconfig.ts'

const OK: KubeconfigReading = {
  kind: 'ok',
  credentials: {
    server: new URL('https://x'),
    access: async () => ({ ok: false, detail: '' }),
    nodeName: () => undefined,
    authorityHashes: () => [],
  },
}

function setUp(path: string) {
  let reads = 0
  let answer: KubeconfigReading = { kind: 'absent', detail: `${path} does not exist yet` }
  const logged: string[] = []
  const record = (message: string): void => void logged.push(message)
  const read = (): KubeconfigReading => {
    reads += 1
    return answer
  }
  const file = new KubeconfigFile(path, read, { debug: record, info: record, warn: record, error: record })
  return { file, logged, reads: () => reads, setAnswer: (next: KubeconfigReading) => (answer = next) }
}

t.test('logs once that it waits, and once that it continues', async (t) => {
  const { file, logged, setAnswer } = setUp(join(t.testdir({}), 'kubelet.conf'))
  let sleeps = 0
  await file.ready(async () => {
    sleeps += 1
    if (sleeps === 5) setAnswer(OK)
  }, new AbortController().signal)
  t.equal(sleeps, 5)
  t.equal(logged.length, 2)
  t.match(logged, [/does not exist yet/, /can be used/])
  t.equal(file.problem(), undefined)
  setAnswer({ kind: 'absent', detail: 'gone again' })
  file.forget()
  file.current()
  t.equal(file.problem(), 'gone again')
})

t.test('a malformed kubeconfig is reported as such', async (t) => {
  const { file, logged, setAnswer } = setUp(join(t.testdir({}), 'kubelet.conf'))
  setAnswer({ kind: 'malformed', detail: 'kubeconfig is not valid YAML' })
  file.current()
  t.same(logged, ['kubeconfig is not valid YAML: correct the file; it is read again before each request'])
})

t.test('waiting ends when the signal aborts', async (t) => {
  const { file } = setUp('/nope')
  const stopper = new AbortController()
  await file.ready(async () => stopper.abort(), stopper.signal)
  t.pass()
})

t.test('read again only if the file was replaced or the server refused the credentials', (t) => {
  const path = join(t.testdir({ 'kubelet.conf': 'one', new: 'two' }), 'kubelet.conf')
  const { file, reads, setAnswer } = setUp(path)
  setAnswer(OK)
  for (let i = 0; i < 5; i++) file.current()
  t.equal(reads(), 1)
  renameSync(join(path, '..', 'new'), path)
  for (let i = 0; i < 5; i++) file.current()
  t.equal(reads(), 2)
  file.forget()
  for (let i = 0; i < 5; i++) file.current()
  t.equal(reads(), 3)
  rmSync(path)
  file.current()
  t.equal(reads(), 4)
  t.end()
})

t.test('an unusable kubeconfig is read each time: files that it names may exist by now', (t) => {
  const path = join(t.testdir({}), 'kubelet.conf')
  writeFileSync(path, 'x')
  const { file, reads } = setUp(path)
  for (let i = 0; i < 3; i++) file.current()
  t.equal(reads(), 3)
  t.end()
})

t.test('the kubeconfigs of a user: the flag, then the variable, then the home directory', async (t) => {
  t.same(listKubeconfigs('/given', '/a:/b', '/root'), ['/given'])
  t.same(listKubeconfigs('', ':/a::/b', '/root'), ['/a', '/b'])
  t.same(listKubeconfigs(undefined, '', '/root'), ['/root/.kube/config'])
})
