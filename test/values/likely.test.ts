// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { likely } from '../../src/values/likely.ts'

const KNOWN = [
  'port',
  'maxPods',
  'maxOpenFiles',
  'podsPerCore',
  'kubeReserved',
  'kubeAPIQPS',
  'kubeAPIBurst',
  'registerWithTaints',
  'tlsCertFile',
]
const NAMES = new Map(KNOWN.map((name) => [name, name]))

t.test('case, signs and what people leave out do not count', async (t) => {
  for (const name of ['maxpods', 'MAX_PODS', 'max-pods', 'max.pods', 'maxPod']) t.equal(likely(name, NAMES), 'maxPods', name)
  t.equal(likely('registerTaints', NAMES), 'registerWithTaints')
  t.equal(likely('certFile', NAMES), 'tlsCertFile')
  for (const name of ['', '---', 's', 'tls', 'with']) t.equal(likely(name, NAMES), undefined, name)
})

t.test('a name may lack its last word', async (t) => {
  t.equal(likely('maxOpen', NAMES), 'maxOpenFiles')
  t.equal(likely('kubeAPI', NAMES), undefined, 'two begin so')
  t.equal(likely('kube', NAMES), undefined, 'one word alone')
})

t.test('a slip in the spelling is no other word', async (t) => {
  t.equal(likely('podPerCores', NAMES), 'podsPerCore')
  t.equal(likely('kubeResreved', NAMES), 'kubeReserved')
  t.equal(likely('maxopenfile', NAMES), 'maxOpenFiles')
  for (const name of ['minOpenFiles', 'maxPids', 'nodeReserved', 'prt', 'foo', 'nodeSelector', 'maxOpenPorts'])
    t.equal(likely(name, NAMES), undefined, name)
})

t.test('names that stand for the same are one', async (t) => {
  const names = new Map([
    ['cert-file', 'tlsCertFile'],
    ['certFile', 'tlsCertFile'],
    ['keyFileA', 'a'],
    ['keyFileB', 'b'],
  ])
  t.equal(likely('CERTFILE', names), 'tlsCertFile')
  t.equal(likely('keyFileC', names), undefined)
  t.equal(likely('x', new Map()), undefined)
})
