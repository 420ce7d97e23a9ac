import t from 'tap'
import { decodePart } from '../../src/preflight/decode-part.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const judge = async (text: string, unknownKeys?: 'warn' | 'refuse') => {
  const options = { kubelet: undefined, version: undefined, unknownKeys, deep: false, node: false }
  const report = await decodePart.judge(text, { name: 'x', files: { kubelet: text }, key: 'kubelet' }, options)
  if (report === undefined) throw new Error('it always has something to say')
  return report
}

t.test('a good config', async (t) => {
  t.match(await judge(`${HEAD}maxPods: 64\n`), { outcome: 'accepted', findings: [] })
})

t.test('what kubelet cannot read, where the parser says where', async (t) => {
  t.match(await judge(''), {
    outcome: 'refused',
    findings: [{ rule: 'fields/load', severity: 'refuse', reason: 'load', position: undefined }],
  })
  t.match(await judge('a:\n  b: [\n'), { outcome: 'refused', findings: [{ position: { line: /[23]/ } }] })
})

t.test('what no version takes', async (t) => {
  const report = await judge(`${HEAD}kubeAPIQPS: -1\n`)
  t.match(report, {
    outcome: 'refused',
    findings: [{ rule: 'fields/value', reason: 'validate', problem: /must not be a negative number/ }],
  })
})

t.test('a key that nobody knows, with the nearest known one', async (t) => {
  const text = `${HEAD}maxPod: 64\n`
  const warned = await judge(text)
  t.match(warned, {
    outcome: 'accepted',
    findings: [{ rule: 'fields/unknown-key', severity: 'warn', path: ['maxPod'], position: { line: 3, column: 1 }, advice: /maxPods/ }],
  })
  t.match(await judge(text, 'refuse'), { outcome: 'refused', findings: [{ severity: 'refuse' }] })
})

t.test('a key twice', async (t) => {
  const report = await judge(`${HEAD}maxPods: 1\nmaxPods: 2\n`, 'refuse')
  t.match(report, { outcome: 'accepted', findings: [{ rule: 'fields/repeated-key', severity: 'warn', position: { line: 4, column: 1 } }] })
})
