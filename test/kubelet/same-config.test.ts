// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { stringify } from 'yaml'
import { SameConfigs } from '../../src/kubelet/same-config.ts'
import { IN_PLACE } from './in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const same = (a: string, b: string) => new SameConfigs(IN_PLACE).isSame(a, b)

t.test('what a person changes without a change', async (t) => {
  const text = `${HEAD}maxPods: 50\nclusterDNS: [10.96.0.10]\nevictionHard:\n  memory.available: 5%\n`
  for (const [what, other] of Object.entries({
    'a comment': `# for the new nodes & their pods\n${text}`,
    'a comment behind a value': text.replace('50', '50 # as always'),
    'the order of keys': `${HEAD}evictionHard: {memory.available: 5%}\nclusterDNS: [10.96.0.10]\nmaxPods: 50\n`,
    quotes: text.replace('5%', '"5%"').replace('10.96.0.10', "'10.96.0.10'").replace('maxPods', '"maxPods"'),
    whitespace: `${text.replace('maxPods: 50', 'maxPods:   50')}\n\n`,
    JSON: JSON.stringify({
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      evictionHard: { 'memory.available': '5%' },
      clusterDNS: ['10.96.0.10'],
      maxPods: 50,
    }),
    'a document marker': `---\n${text}`,
  }))
    t.equal(await same(text, other), true, what)
  for (const [one, other] of [
    ['failSwapOn: True', 'failSwapOn: true'],
    ['evictionHard:', 'evictionHard: null'],
    ['evictionHard: Null', 'evictionHard: null'],
    ['clusterDomain: "a\\x2eb"', 'clusterDomain: a.b'],
  ])
    t.equal(await same(`${HEAD}${one}\n`, `${HEAD}${other}\n`), true, `${one} and ${other}`)
})

t.test('what is another config', async (t) => {
  const text = `${HEAD}maxPods: 50\nclusterDNS: [10.96.0.10, 10.96.0.11]\nclusterDomain: "1"\n`
  for (const [what, other] of Object.entries({
    'another value': text.replace('50', '51'),
    'another type': text.replace('"1"', '1'),
    'the order of a list': text.replace('10.96.0.10, 10.96.0.11', '10.96.0.11, 10.96.0.10'),
    'one more key': `${text}podPidsLimit: 1\n`,
    'a key without a value': `${text}podPidsLimit:\n`,
    'an unknown key': `${text}maxPod: 1\n`,
  }))
    t.equal(await same(text, other), false, what)
})

t.test('values that only look alike', async (t) => {
  for (const [a, b] of [
    ['2001-12-14', '2002-12-14'],
    ['0.0', '-0.0'],
    ['null', '"null"'],
    ['"a,b"', '[a, b]'],
    ['{}', '[]'],
  ])
    t.equal(await same(`${HEAD}clusterDomain: {x: ${a}}\n`, `${HEAD}clusterDomain: {x: ${b}}\n`), false, `${a} and ${b}`)
})

t.test('of two spellings of kind, the last in the text of JSON counts', async (t) => {
  const [kind, version] = ['"kind":"KubeletConfiguration"', '"apiVersion":"kubelet.config.k8s.io/v1beta1"']
  const first = `{"Kind":"Other",${kind},${version}}`
  const last = `{${kind},"Kind":"Other",${version}}`
  t.equal(await same(first, ` ${first}`), true)
  t.equal(await same(first, last), false)
})

t.test('in doubt two texts differ', async (t) => {
  for (const [what, line] of Object.entries({
    'a key twice': 'maxPods: 1\nmaxPods: 1',
    'an anchor': 'clusterDNS: &dns [10.96.0.10]',
    'a merge': 'evictionHard: {<<: {a: b}}',
    'a tag': 'clusterDomain: !!str a',
    'a truth of YAML 1.1': 'failSwapOn: yes',
    'an octal number': 'maxPods: 0100',
    'a hexadecimal number': 'maxPods: 0x10',
    'a number with underscores': 'maxPods: 1_000',
    'a sexagesimal number': 'maxPods: 1:30',
    'a number with an exponent': 'kubeAPIQPS: 1.0e+1',
    'a number beyond 2^53': 'podPidsLimit: 9007199254740993',
    'bytes that are not UTF-8': 'clusterDomain: a\ufffd',
    'a second document': 'maxPods: 1\n---\nmaxPods: 2',
    'no config': 'maxPods: [1]',
  }))
    t.equal(await same(`${HEAD}${line}\n`, `# a comment\n${HEAD}${line}\n`), false, what)
  const twice = '{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","maxPods":1,"maxPods":2}'
  t.equal(await same(twice, ` ${twice}`), false, 'a key twice in JSON')
  t.equal(await same('a: [', 'a:  ['), false, 'what cannot be parsed')
  t.equal(await same('a: [', 'a: ['), true, 'unless it is the same text')
})

t.test('one config in many forms, and never two configs', async () => {
  const config = fc.record({
    maxPods: fc.integer({ min: 1, max: 1000 }),
    clusterDomain: fc.stringMatching(/^[a-z%.-]{0,8}$/),
    clusterDNS: fc.array(fc.ipV4(), { maxLength: 3 }),
    failSwapOn: fc.boolean(),
    evictionHard: fc.dictionary(fc.constantFrom('memory.available', 'nodefs.available'), fc.constantFrom('5%', '100Mi', '1')),
  })
  const forms = (value: object) => {
    const whole = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...value }
    const turned = Object.fromEntries(Object.entries(whole).reverse())
    return [
      JSON.stringify(whole),
      JSON.stringify(turned, null, 2),
      stringify(turned, { version: '1.1', defaultStringType: 'QUOTE_DOUBLE' }),
    ]
  }
  await fc.assert(
    fc.asyncProperty(config, config, async (one, other) => {
      const [first = '', ...more] = forms(one)
      for (const form of more) if (!(await same(first, form))) return false
      const isEqual = JSON.stringify(one) === JSON.stringify(other)
      for (const form of forms(other)) if (!isEqual && (await same(first, form))) return sameValues(one, other)
      return true
    }),
    { numRuns: 200 },
  )
})

function sameValues(one: object, other: object): boolean {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).map(([key, inner]) => [key, Object.entries(inner).sort()]))
  return sorted(one) === sorted(other)
}

t.test('texts of other letters are not parsed', async (t) => {
  const never = new SameConfigs({ ...IN_PLACE, first: () => Promise.reject(new Error('parsed')) })
  for (const [a, b] of [
    ['maxPods: 50', 'maxPods: 51'],
    ['maxPods: 50', 'maxPods: 50\npodPidsLimit: 1'],
    ['maxPods: 50', 'maxPods: 50 # podPidsLimit: 1\npodPidsLimit: 1'],
    ['clusterDomain: "é1"', 'clusterDomain: "ü2"'],
  ] as const)
    t.equal(await never.isSame(`${HEAD}${a}\n`, `${HEAD}${b}\n`), false, b)
})

t.test('each text is parsed once, however often it is compared', async (t) => {
  const parsed: string[] = []
  const configs = new SameConfigs({
    ...IN_PLACE,
    first: (text, signal) => {
      parsed.push(text)
      if (parsed.length === 1) return Promise.reject(new Error('too busy'))
      return IN_PLACE.first(text, signal)
    },
  })
  const [a = '', b = '', c = ''] = ['a, b', 'b, a', 'ab'].map((servers) => `${HEAD}clusterDNS: [${servers}]\n`)
  await t.rejects(configs.isSame(a, b), /too busy/)
  t.equal(await configs.isSame(a, b), false, 'a parser that could not run is asked again')
  t.equal(await configs.isSame(c, a), false)
  t.equal(await configs.isSame(c, b), false)
  t.equal(await configs.isSame(`# a comment\n${c}`, c), true)
  t.same(parsed, [a, a, b, c, `# a comment\n${c}`])
})
