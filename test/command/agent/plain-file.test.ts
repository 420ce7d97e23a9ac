// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { defaultConfigFile } from '../../../scripts/package/default-config.ts'
import { readPlainFile } from '../../../src/command/agent/config-file.ts'
import { parseLocated } from '../../../src/kubelet/yaml.ts'

t.test('the installed file is plain, and so is one with simple values', async (t) => {
  t.same(readPlainFile(defaultConfigFile()), { apiVersion: 'kubelet-cfg-agent.io/v1alpha1', kind: 'AgentConfiguration' })
  t.same(readPlainFile('# a\n\nkind: A\ntrialDuration: 1h30m\ncrashLimit: 3\nkubeconfig: /etc/kubernetes/kubelet.conf\n'), {
    kind: 'A',
    trialDuration: '1h30m',
    crashLimit: 3,
    kubeconfig: '/etc/kubernetes/kubelet.conf',
  })
})

t.test('what YAML could take for anything else is left to it', async (t) => {
  for (const text of [
    '',
    '# a\n',
    'a: yes\n',
    'a: No\n',
    'a: ~\n',
    'a: 010\n',
    'a: 1:30\n',
    'a: 1_0\n',
    'a: 1e3\n',
    'a: 0x1f\n',
    'a: 1.5\n',
  ])
    t.equal(readPlainFile(text), undefined, text)
  for (const text of [
    'a: "b"\n',
    'a: [b]\n',
    'a: b # c\n',
    'a:\n  b: c\n',
    'a: b\na: c\n',
    'a: b\r\n',
    'a:  b\n',
    ' a: b\n',
    'a: b c\n',
    '---\na: b\n',
  ])
    t.equal(readPlainFile(text), undefined, text)
  for (const text of ['a: -\n', 'a: .inf\n', 'a: 2001-01-01\n', 'a: &b\n', 'a: <<\n', 'y: b\n'])
    t.equal(readPlainFile(text), undefined, text)
})

t.test('it never reads a file otherwise than the parser of YAML', async (t) => {
  const word = fc.stringMatching(/^[-A-Za-z0-9./:_~'"#&*[\]{} ]{1,8}$/)
  const some = fc.constantFrom(
    '1m',
    '0',
    '08',
    '1e3',
    '0x1',
    '1h2m3s',
    'a-b',
    '1-2',
    '/a',
    'a/b',
    '1.2',
    '.5',
    '0o7',
    '0b1',
    'NaN',
    'Infinity',
    'nan',
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,3}$/), fc.oneof(word, some)), { maxLength: 4 }), (lines) => {
      const text = lines.map(([key, value]) => `${key}: ${value}\n`).join('')
      const plain = readPlainFile(text)
      if (plain === undefined) return
      const parsed = parseLocated(text)
      if (!parsed.ok || JSON.stringify(parsed.value) !== JSON.stringify(plain)) throw new Error(JSON.stringify([text, plain, parsed]))
    }),
    { numRuns: 5000 },
  )
  t.pass('none of 5,000 files')
})
