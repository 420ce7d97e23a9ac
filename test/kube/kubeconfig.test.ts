import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { KubeconfigReading } from '../../src/kube/access.ts'
import { KubeconfigFile } from '../../src/kube/kubeconfig.ts'

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
  const said: string[] = []
  const say = (message: string): void => void said.push(message)
  const read = (): KubeconfigReading => {
    reads += 1
    return answer
  }
  const file = new KubeconfigFile(path, read, { debug: say, info: say, warn: say, error: say })
  return { file, said, reads: () => reads, setAnswer: (next: KubeconfigReading) => (answer = next) }
}

t.test('says once that it waits, and once that it goes on', async (t) => {
  const { file, said, setAnswer } = setUp(join(t.testdir({}), 'kubelet.conf'))
  let sleeps = 0
  await file.ready(async () => {
    sleeps += 1
    if (sleeps === 5) setAnswer(OK)
  }, new AbortController().signal)
  t.equal(sleeps, 5)
  t.equal(said.length, 2)
  t.match(said, [/does not exist yet/, /going on/])
  t.equal(file.problem(), undefined)
  setAnswer({ kind: 'absent', detail: 'gone again' })
  file.forget()
  file.current()
  t.equal(file.problem(), 'gone again')
})

t.test('waiting can be given up', async (t) => {
  const { file } = setUp('/nope')
  const stopper = new AbortController()
  await file.ready(async () => stopper.abort(), stopper.signal)
  t.pass()
})

t.test('read again when the file is replaced or what it held was not accepted, and only then', (t) => {
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

t.test('as long as it cannot be used it is read each time: the files it names may have come', (t) => {
  const path = join(t.testdir({}), 'kubelet.conf')
  writeFileSync(path, 'x')
  const { file, reads } = setUp(path)
  for (let i = 0; i < 3; i++) file.current()
  t.equal(reads(), 3)
  t.end()
})
