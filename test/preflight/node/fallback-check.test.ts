// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { checkFallback } from '../../../src/preflight/document.ts'
import { findStateNeeds, remarkOnStates } from '../../../src/preflight/node/check-node.ts'
import { NOTHING_KNOWN } from '../../../src/preflight/node/surroundings.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'
import { source, unit } from '../../report/build.ts'
import { optionsOf } from './node-options.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const CPU = '/var/lib/kubelet/cpu_manager_state'
const MEMORY = '/var/lib/kubelet/memory_manager_state'
const request = (text: string) => ({
  source: source(),
  data: { kubelet: text },
  key: 'k',
  fallback: true,
  unit: unit(),
  basePath: undefined,
})

t.test('a fallback gets remarks about what keeps kubelet from starting with it, and is not refused', async (t) => {
  t.strictSame(await checkFallback(request(HEAD), IN_PLACE, async () => ['delete the file']), {
    kind: 'accepted',
    remarks: ['delete the file'],
    drain: [],
  })
})

t.test('a fallback is refused only where it cannot be decoded', async (t) => {
  const notAsked = async () => {
    t.fail('a remark was asked for')
    return []
  }
  t.match(await checkFallback(request(`${HEAD}maxPods: many\n`), IN_PLACE, notAsked), { kind: 'refused', reason: 'load' })
  t.match(await checkFallback(request(''), IN_PLACE, notAsked), { kind: 'refused', reason: 'load' })
  t.match(await checkFallback({ ...request(HEAD), data: {} }, IN_PLACE, notAsked), { kind: 'refused', reason: 'load' })
})

t.test('a fallback that kubelet may read differently goes on, since kubelet has run with it', async (t) => {
  for (const text of [`${HEAD}maxPods: !!int 5\n`, `${HEAD}foo: "a\u2028b"\n`, `${HEAD}1: 2\n`])
    t.match(
      await checkFallback(request(text), IN_PLACE, async () => []),
      { kind: 'accepted', remarks: [/kubelet may read|a key must be text/] },
      encodeURI(text),
    )
})

t.test('a fallback that is complete only with a flag or a drop-in of kubelet is not refused', async (t) => {
  for (const line of ['shutdownGracePeriodCriticalPods: 10s', 'imageGCLowThresholdPercent: 90', 'systemCgroups: /s', 'maxPods: -1'])
    t.match(await checkFallback(request(`${HEAD}${line}\n`), IN_PLACE, async () => []), { kind: 'accepted' }, line)
})

t.test('a fallback goes on if the remarks cannot be made', async (t) => {
  const fails = async () => {
    throw new Error('EIO')
  }
  t.strictSame(await checkFallback(request(HEAD), IN_PLACE, fails), { kind: 'accepted', remarks: [], drain: [] })
})

t.test("the candidate's kubelet has written a state file that last-known-good does not fit", async (t) => {
  const states = (texts: Readonly<Record<string, string | null>>) => ({ ...NOTHING_KNOWN, texts: new Map(Object.entries(texts)) })
  const options = optionsOf(34)
  t.match(findStateNeeds({}, options), { texts: [CPU, MEMORY], memory: false, listeners: false, paths: [] }, 'only the two files')
  const cpu = states({ [CPU]: '{"policyName":"static","defaultCpuSet":"0-3"}', [MEMORY]: null })
  t.same(remarkOnStates({}, cpu, options), [
    `cpuManagerPolicy is none, but ${CPU} was written by policy static: kubelet does not start; stop kubelet, delete ${CPU}, and start kubelet`,
  ])
  t.same(remarkOnStates({ cpuManagerPolicy: 'static' }, cpu, options), [])
  const memory = states({ [MEMORY]: '{"policyName":"Static"}' })
  t.match(remarkOnStates({}, memory, options), [new RegExp(`memoryManagerPolicy is None, .* delete ${MEMORY}, and start kubelet$`)])
  t.same(remarkOnStates({}, states({}), options), [], 'the files cannot be read')
})
