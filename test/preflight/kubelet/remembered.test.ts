// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { JudgeRequest } from '../../../src/preflight/kubelet/judgement.ts'
import { type JudgementFile, RememberedJudgements, requestKey } from '../../../src/preflight/kubelet/remembered.ts'

const FORGETFUL: JudgementFile = { read: () => undefined, write: () => {} }
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
  const remembered = new RememberedJudgements(FORGETFUL)
  const key = requestKey(REQUEST, 'binary 1')
  remembered.remember(key, 'deep', ACCEPTED)
  t.same(remembered.recall(requestKey({ ...REQUEST, files: { other: 'x', kubelet: 'text' } }, 'binary 1')), ACCEPTED)
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
  const remembered = new RememberedJudgements(FORGETFUL)
  remembered.remember('q', 'load', { kind: 'unjudged', detail: 'a timeout' })
  t.equal(remembered.recall('q'), undefined)
})

t.test('a refusal is not remembered: a missing file may exist at the next request', async (t) => {
  const remembered = new RememberedJudgements(FORGETFUL)
  remembered.remember('q', 'load', { kind: 'refused', reason: 'validate', message: 'unable to load client CA file /etc/ca.crt' })
  t.equal(remembered.recall('q'), undefined)
})

t.test('drops the least recently used judgement', async (t) => {
  const remembered = new RememberedJudgements(FORGETFUL)
  remembered.remember('first', 'load', ACCEPTED)
  remembered.remember('second', 'load', ACCEPTED)
  for (let i = 0; i < 62; i++) remembered.remember(`q${i}`, 'deep', ACCEPTED)
  t.equal(remembered.recall('first'), ACCEPTED)
  remembered.remember('one more', 'load', ACCEPTED)
  t.equal(remembered.recall('second'), undefined)
  t.equal(remembered.recall('first'), ACCEPTED)
})

t.test('what a kubelet has loaded outlives the agent, and what it found as it started does not', async (t) => {
  let text: string | undefined
  const file: JudgementFile = { read: () => (text === undefined ? undefined : Buffer.from(text)), write: (written) => (text = written) }
  const before = new RememberedJudgements(file)
  before.remember('deep', 'deep', ACCEPTED)
  before.remember('load', 'load', ACCEPTED)
  before.forget()
  t.equal(before.recall('deep'), undefined)
  t.same(before.recall('load'), ACCEPTED)
  const after = new RememberedJudgements(file)
  t.equal(after.recall('deep'), undefined)
  t.same(after.recall('load'), ACCEPTED)
  const effective = { ...ACCEPTED, effective: 'maxPods: 1\n' }
  before.remember('new', 'load', effective)
  t.same(before.recall('new'), effective)
  t.same(new RememberedJudgements(file).recall('new'), ACCEPTED, 'the config itself is not written down')
  t.notMatch(text, 'maxPods')
  text = '{"q":"of an earlier agent"}'
  t.equal(new RememberedJudgements(file).recall('q'), undefined)
})

t.test('a file that cannot be used is as good as none', async (t) => {
  const broken = (): never => {
    throw new Error('EIO')
  }
  for (const file of [
    { read: broken, write: broken },
    ...['', '{', '[1]', '{"q":1}'].map((text) => ({ read: () => Buffer.from(text), write: () => {} })),
  ]) {
    const remembered = new RememberedJudgements(file)
    t.equal(remembered.recall('q'), undefined)
    remembered.remember('q', 'load', ACCEPTED)
    t.same(remembered.recall('q'), ACCEPTED)
  }
})
