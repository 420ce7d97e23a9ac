// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { FIELDS, findMisfits } from '../../src/kubelet/fields.ts'

const NEWEST = 37
const misfitsOf = (config: Record<string, unknown>) =>
  findMisfits(config, FIELDS, NEWEST).map(({ path, advice }) => [path.join('.'), advice] as const)

t.test('says what to write in place of a value of the wrong type, and where it is', async (t) => {
  const flag = (text: string) => `this is the syntax of a flag; in a config, write ${text}`
  const signal = 'write it with its unit and in quotes, such as "500Mi" or "10%"'
  const cases: [config: Record<string, unknown>, path: string, advice: string | undefined][] = [
    [{ podPidsLimit: '4096' }, 'podPidsLimit', 'remove the quotes: 4096'],
    [{ podPidsLimit: 'many' }, 'podPidsLimit', undefined],
    [{ imageGCHighThresholdPercent: '80%' }, 'imageGCHighThresholdPercent', 'write the number alone, without quotes: 80'],
    [{ maxPods: 1.5 }, 'maxPods', 'write a whole number'],
    [{ enableServer: 'Yes' }, 'enableServer', 'write true, without quotes'],
    [{ failSwapOn: 0 }, 'failSwapOn', 'write false, without quotes'],
    [{ failSwapOn: 'maybe' }, 'failSwapOn', undefined],
    [{ syncFrequency: 30 }, 'syncFrequency', 'write it with its unit, such as "30s"'],
    [{ syncFrequency: '30' }, 'syncFrequency', 'write it with its unit, such as "30s"'],
    [{ syncFrequency: '2d' }, 'syncFrequency', 'the longest unit is h: write "48h"'],
    [{ syncFrequency: null }, 'syncFrequency', 'remove it, or write a duration, such as "30s"'],
    [{ reservedSystemCPUs: 0 }, 'reservedSystemCPUs', 'put it in quotes'],
    [{ clusterDomain: true }, 'clusterDomain', 'put it in quotes: "true"'],
    [{ systemReserved: { cpu: 0.5 } }, 'systemReserved.cpu', 'put it in quotes'],
    [{ kubeReserved: { memory: 512 } }, 'kubeReserved.memory', 'write it with its unit and in quotes, such as "512Mi"'],
    [{ evictionHard: { 'nodefs.available': 10 } }, 'evictionHard.nodefs.available', signal],
    [
      { evictionSoftGracePeriod: { 'nodefs.available': 90 } },
      'evictionSoftGracePeriod.nodefs.available',
      'write a duration, such as "90s"',
    ],
    [{ featureGates: { X: 'true' } }, 'featureGates.X', 'write true, without quotes'],
    [{ cpuManagerPolicyOptions: { 'full-pcpus-only': true } }, 'cpuManagerPolicyOptions.full-pcpus-only', 'put it in quotes: "true"'],
    [{ systemReserved: 'cpu=200m,memory=1Gi' }, 'systemReserved', flag('systemReserved: {"cpu": "200m", "memory": "1Gi"}')],
    [{ evictionHard: 'memory.available<300Mi' }, 'evictionHard', flag('evictionHard: {"memory.available": "300Mi"}')],
    [{ evictionHard: ['memory.available<1Gi'] }, 'evictionHard', flag('evictionHard: {"memory.available": "1Gi"}')],
    [{ featureGates: 'A=true, B=False' }, 'featureGates', flag('featureGates: {"A": true, "B": false}')],
    [{ featureGates: [{ A: true }] }, 'featureGates', flag('featureGates: {"A": true}')],
    [{ featureGates: 'A=maybe' }, 'featureGates', 'write each entry on a line of its own below the field, as in "name: value"'],
    [{ kubeReserved: ['cpu'] }, 'kubeReserved', 'write each entry on a line of its own below the field, as in "name: value"'],
    [
      { reservedMemory: '0:memory=1Gi;1:memory=2Gi' },
      'reservedMemory',
      flag('reservedMemory: [{"numaNode": 0, "limits": {"memory": "1Gi"}}, {"numaNode": 1, "limits": {"memory": "2Gi"}}]'),
    ],
    [
      { registerWithTaints: 'a=b:NoSchedule,c:NoExecute' },
      'registerWithTaints',
      flag('registerWithTaints: [{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "c", "effect": "NoExecute"}]'),
    ],
    [{ registerWithTaints: 'none' }, 'registerWithTaints', undefined],
    [
      { enforceNodeAllocatable: 'pods,system-reserved' },
      'enforceNodeAllocatable',
      'write a list: enforceNodeAllocatable: ["pods", "system-reserved"]',
    ],
    [{ clusterDNS: 'a b' }, 'clusterDNS', 'write a list: each item on a line of its own, behind "- "'],
    [{ clusterDNS: ['10.0.0.1', 5] }, 'clusterDNS.1', 'put it in quotes'],
    [{ maxPods: '110 // enough' }, 'maxPods', '// begins no comment of YAML: write # in its place'],
    [{ maxPods: '{{ n }}' }, 'maxPods', '{{ begins a template that was not rendered: render it first, and give the result'],
    [{ maxPods: '$\u007bN}' }, 'maxPods', '$\u007bN} is a placeholder that was not replaced: replace it, and give the result'],
    [
      { syncFrequency: '\u201c1m\u201d' },
      'syncFrequency',
      '\u201c (U+201C) is not a quotation mark of YAML or JSON: write " or \' in its place',
    ],
    [{ authentication: { webhook: { enabled: 'no' } } }, 'authentication.webhook.enabled', 'write false, without quotes'],
    [{ reservedMemory: [{ numaNode: '0' }, 5] }, 'reservedMemory.0.numaNode', 'remove the quotes: 0'],
  ]
  for (const [config, path, advice] of cases) {
    const found = misfitsOf(config).find(([where]) => where === path)
    t.strictSame(found, [path, advice], JSON.stringify(config))
  }
})

t.test('never repeats what may be a secret', async (t) => {
  const secrets = {
    staticPodURLHeader: { Authorization: 's3cret', b: { c: 's3cret' } },
    staticPodURL: ['s3cret'],
    clusterDNS: 's3cret key',
  }
  t.equal(misfitsOf(secrets).length, 4)
  t.notMatch(JSON.stringify(misfitsOf(secrets)), /s3cret/)
})

t.test('takes any value', async (t) => {
  const values = [{ toString: 5 }, [{ toString: 5 }], Object.create(null), [[]], { a: { b: [null] } }, -0, 1e300]
  for (const name of Object.keys(FIELDS)) for (const value of values) t.doesNotThrow(() => misfitsOf({ [name]: value }))
})

t.test('a hostile config has a bounded number of findings, and long values no long advice', async (t) => {
  t.equal(misfitsOf({ clusterDNS: Array.from({ length: 100_000 }, (_, index) => index) }).length, 500)
  for (const unit of ['a=b,', 'a,', '0:a=b;', 'a:b,', '1', '%', '{{', '$\u007b', ' ', '\u00a0']) {
    const long = unit.repeat(300_000 / unit.length)
    for (const [, advice = ''] of misfitsOf({
      evictionHard: long,
      clusterDNS: long,
      reservedMemory: long,
      maxPods: long,
      syncFrequency: [long],
    }))
      t.ok(advice.length < 200, unit)
  }
})
