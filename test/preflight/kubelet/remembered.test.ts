import t from 'tap'
import type { JudgeRequest } from '../../../src/preflight/kubelet/judgement.ts'
import { questionOf, RememberedJudgements } from '../../../src/preflight/kubelet/remembered.ts'

const ACCEPTED = { kind: 'accepted', detail: 'fine' } as const
const REQUEST: JudgeRequest = {
  binary: '/usr/bin/kubelet',
  flags: ['--a', '--b'],
  files: { kubelet: 'text', other: 'x' },
  key: 'kubelet',
  stage: 'load',
  signal: new AbortController().signal,
}

t.test('the same question has the same answer', async (t) => {
  const remembered = new RememberedJudgements()
  const question = questionOf(REQUEST, 'binary 1')
  remembered.remember(question, ACCEPTED)
  t.equal(remembered.recall(questionOf({ ...REQUEST, files: { other: 'x', kubelet: 'text' } }, 'binary 1')), ACCEPTED)
  for (const [other, identity] of [
    [REQUEST, 'binary 2'],
    [{ ...REQUEST, flags: ['--a --b'] }, 'binary 1'],
    [{ ...REQUEST, flags: ['--b', '--a'] }, 'binary 1'],
    [{ ...REQUEST, stage: 'deep' }, 'binary 1'],
    [{ ...REQUEST, key: 'other' }, 'binary 1'],
    [{ ...REQUEST, files: { kubelet: 'text', other: 'y' } }, 'binary 1'],
  ] as const)
    t.equal(remembered.recall(questionOf(other, identity)), undefined, JSON.stringify([other, identity]))
  remembered.forget()
  t.equal(remembered.recall(question), undefined)
})

t.test('that nothing could be told is not remembered', async (t) => {
  const remembered = new RememberedJudgements()
  remembered.remember('q', { kind: 'unjudged', detail: 'a timeout' })
  t.equal(remembered.recall('q'), undefined)
})

t.test('nor is a refusal: who asks again may have put there what was missing', async (t) => {
  const remembered = new RememberedJudgements()
  remembered.remember('q', { kind: 'refused', reason: 'validate', words: 'unable to load client CA file /etc/ca.crt' })
  t.equal(remembered.recall('q'), undefined)
})

t.test('it does not grow, and forgets what was not asked for longest', async (t) => {
  const remembered = new RememberedJudgements()
  remembered.remember('first', ACCEPTED)
  remembered.remember('second', ACCEPTED)
  for (let i = 0; i < 62; i++) remembered.remember(`q${i}`, ACCEPTED)
  t.equal(remembered.recall('first'), ACCEPTED)
  remembered.remember('one more', ACCEPTED)
  t.equal(remembered.recall('second'), undefined)
  t.equal(remembered.recall('first'), ACCEPTED)
})
