// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findNeeds, findNodeFault } from '../../../src/preflight/node/check-node.ts'
import type { Surroundings } from '../../../src/preflight/node/surroundings.ts'
import { MACHINE, optionsOf } from './node-options.ts'

const TEXTS = { '/etc/passwd': 'root:x:0:0\nkubelet:x:999:999\n', '/etc/nsswitch.conf': 'passwd: files\n' }
const both = (line: string) => ({ ...TEXTS, '/etc/subuid': `root:1:5\n${line}\n`, '/etc/subgid': `${line}\n` })
const PATHS: Surroundings['paths'] = new Map([['/usr/bin/getsubids', 'file']])

function faultOf(texts: Readonly<Record<string, string>>, minor = 38, paths = PATHS): string | undefined {
  return findNodeFault({}, { ...MACHINE, texts: new Map(Object.entries(texts)), paths }, optionsOf(minor))
}

t.test('a range that ends past the last id is the fault of the node', async (t) => {
  t.match(faultOf(both('kubelet:4294901760:65536')), /4294901760:65536 of the user kubelet in \/etc\/subuid ends at 4294967295, past/)
  t.match(faultOf(both('kubelet:65536:4294967295')), /ends at/)
  t.equal(faultOf(both('kubelet:4294836224:65536')), undefined, 'it ends before')
  t.equal(faultOf(both('kubelet:4294901759:65536')), undefined, 'the last id that the kernel maps')
})

t.test('where kubelet may read another range, or none, nothing is known', async (t) => {
  const bad = both('kubelet:4294901760:65536')
  t.equal(faultOf(bad, 37), undefined, 'kubelet does not look before 1.38')
  t.equal(faultOf(bad, 38, new Map()), undefined, 'it is not known that there is getsubids')
  t.equal(faultOf({ ...bad, '/etc/passwd': 'root:x:0:0\n' }), undefined, 'no such user')
  t.equal(faultOf({ ...bad, '/etc/nsswitch.conf': 'subid: sss\n' }), undefined, 'asked elsewhere')
  t.type(faultOf({ ...bad, '/etc/nsswitch.conf': 'subid: files\n' }), 'string')
  t.equal(faultOf({ ...bad, '/etc/subgid': '' }), undefined, 'kubelet fails for another reason, in every version')
  t.equal(faultOf(both('kubelet:1:2\nkubelet:4294901760:65536')), undefined, 'two ranges')
})

t.test('the files are read only for a kubelet that looks at them', async (t) => {
  t.ok(findNeeds({}, optionsOf(38)).texts.includes('/etc/subuid'))
  t.notOk(findNeeds({}, optionsOf(37)).texts.includes('/etc/subuid'))
})
