import t from 'tap'
import type { JudgeRequest } from '../../../src/preflight/kubelet/judgement.ts'
import { RememberedJudgements, requestKey } from '../../../src/preflight/kubelet/remembered.ts'

const ACCEPTED = { kind: 'accepted', detail: 'fine' } as const
const REQUEST: JudgeRequest = {
  binary: '/usr/bin/kubelet',
  flags: ['--a', '--b'],
  files: { kubelet: 'text', other: 'x' },
  key: 'kubelet',
  stage: 'load',
  signal: new AbortController().signal,
}

t.test('the same request gets the remembered judgement', async (t) => {
  const remembered = new RememberedJudgements()
  const key = requestKey(REQUEST, 'binary 1')
  remembered.remember(key, ACCEPTED)
  t.equal(remembered.recall(requestKey({ ...REQUEST, files: { other: 'x', kubelet: 'text' } }, 'binary 1')), ACCEPTED)
  for (const [other, identity] of [
    [REQUEST, 'binary 2'],
    [{ ...REQUEST, flags: ['--a --b'] }, 'binary 1'],
    [{ ...REQUEST, flags: ['--b', '--a'] }, 'binary 1'],
    [{ ...REQUEST, stage: 'deep' }, 'binary 1'],
    [{ ...REQUEST, key: 'other' }, 'binary 1'],
    [{ ...REQUEST, others: [{ path: '/d/1.conf', config: {} }] }, 'binary 1'],
    [{ ...REQUEST, files: { kubelet: 'text', other: 'y' } }, 'binary 1'],
  ] as const)
    t.equal(remembered.recall(requestKey(other, identity)), undefined, JSON.stringify([other, identity]))
  remembered.forget()
  t.equal(remembered.recall(key), undefined)
})

t.test('unjudged is not remembered', async (t) => {
  const remembered = new RememberedJudgements()
  remembered.remember('q', { kind: 'unjudged', detail: 'a timeout' })
  t.equal(remembered.recall('q'), undefined)
})

t.test('a refusal is not remembered: a missing file may exist at the next request', async (t) => {
  const remembered = new RememberedJudgements()
  remembered.remember('q', { kind: 'refused', reason: 'validate', message: 'unable to load client CA file /etc/ca.crt' })
  t.equal(remembered.recall('q'), undefined)
})

t.test('drops the least recently used judgement', async (t) => {
  const remembered = new RememberedJudgements()
  remembered.remember('first', ACCEPTED)
  remembered.remember('second', ACCEPTED)
  for (let i = 0; i < 62; i++) remembered.remember(`q${i}`, ACCEPTED)
  t.equal(remembered.recall('first'), ACCEPTED)
  remembered.remember('one more', ACCEPTED)
  t.equal(remembered.recall('second'), undefined)
  t.equal(remembered.recall('first'), ACCEPTED)
})
