// SPDX-License-Identifier: Apache-2.0
/** A rollout of a config that computes values, on nodes of three sizes. */
import t from 'tap'
import { Evaluator } from '../../src/cel/evaluator.ts'
import type { FoundConfigMap } from '../../src/decision/desired.ts'
import { hashObject } from '../../src/decision/rollout-hash.ts'
import { decodeText } from '../../src/kubelet/decode.ts'
import { mergeOnce } from '../../src/overlay/apply.ts'
import { readPatch } from '../../src/overlay/render.ts'
import type { NodeShown } from '../../src/subject/node-shown.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { SIZES, type Size, sizeOf } from './content.ts'
import { plainTraits, runOneEdit } from './one-edit.ts'

const CPUS: Readonly<Record<Size, string>> = { small: '2', medium: '8', large: '64' }
const TEXT = `apiVersion: kubelet-cfg-agent.io/v1alpha1
kind: ComputedKubeletConfiguration
computed:
  maxPods: "[250, node.cpus * 10].min()"
`
const OBJECT: FoundConfigMap = { kind: 'found', uid: 'u', resourceVersion: '1', data: { kubelet: TEXT } }
const MINUTE = 60_000_000
const NODES = 60

async function resultOn(size: Size): Promise<string> {
  const node: NodeShown = { name: size, labels: {}, capacity: { cpu: CPUS[size] }, podCIDRs: [] }
  const merged = await mergeOnce(OBJECT, 'kubelet', {
    readLocalConfig: async () => ({ kind: 'unknown', detail: 'not asked' }),
    yaml: IN_PLACE,
    evaluate: async (expressions) => new Evaluator().evaluate({ expressions, node }),
  })
  return merged.ok ? merged.rendered.overlay : merged.detail
}

t.test('the nodes of a rollout agree on the text, whatever each of them makes of it', async (t) => {
  const results = await Promise.all(SIZES.map(resultOn))
  t.equal(new Set(results).size, SIZES.length)
  const hash = hashObject(OBJECT, 'kubelet')
  t.not(hash, hashObject({ ...OBJECT, data: { kubelet: TEXT.replace('* 10', '* 11') } }, 'kubelet'), 'an expression is a part of it')
  t.equal(runOneEdit({ seed: 1, nodes: NODES, nature: { kind: 'good' }, hash }).reached, NODES)
})

t.test('a result that fails on nodes of one size halts the rollout, also on those of the others', async (t) => {
  const hash = hashObject(OBJECT, 'kubelet')
  const uids = Array.from({ length: NODES }, (_, index) => plainTraits(index).uid)
  for (const size of SIZES) {
    const count = uids.filter((uid) => sizeOf(uid) === size).length
    t.ok(count > 10 && count < 30, `${count} nodes are ${size}`)
    const { failed, reached, isHalted } = runOneEdit({
      seed: 1,
      nodes: NODES,
      nature: { kind: 'fails', share: 1, afterUs: MINUTE, size },
      hash,
    })
    t.ok(isHalted && failed > 0 && failed < count / 2, `${size}: ${failed} failed`)
    t.ok(reached < NODES - count, `${size}: ${reached} of the others run it`)
  }
})

t.test('an agent from before computed values refuses the text: a fleet of two versions fails closed', async (t) => {
  t.match(await decodeText(TEXT, IN_PLACE), {
    ok: false,
    detail: /^kind must be KubeletConfiguration, but is "ComputedKubeletConfiguration"/,
  })
  // As it read each part, base and layer: as the overlay is still read.
  t.match(await readPatch(Buffer.from(TEXT), IN_PLACE), {
    ok: false,
    detail: /^apiVersion is not kubelet.config.k8s.io\/v1beta1, and no other/,
  })
  const byKindAlone = TEXT.replace('kubelet-cfg-agent.io/v1alpha1', 'kubelet.config.k8s.io/v1beta1')
  t.match(await readPatch(Buffer.from(byKindAlone), IN_PLACE), { ok: false, detail: /^kind is not KubeletConfiguration, and no other/ })
})
