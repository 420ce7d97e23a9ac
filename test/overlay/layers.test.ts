// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { Base } from '../../src/decision/desired.ts'
import { parseLocated } from '../../src/kubelet/yaml.ts'
import { applyPart } from '../../src/overlay/apply.ts'
import { type ConfigLayer, findLayer, listFields, listLayers } from '../../src/overlay/layers.ts'
import { mergePart } from '../../src/overlay/merge-part.ts'
import { INSTANCE_CONFIG, type NodePatches, OVERLAY } from '../../src/overlay/patch-set.ts'
import { readOverlay } from '../../src/overlay/read-overlay.ts'
import type { LocalConfigView } from '../../src/ports/assignment-source.ts'
import { isObject } from '../../src/values/is-object.ts'
import { mergePatch } from '../../src/values/merge-patch.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { found, LOCAL_PATH, localConfig } from './local-configs.ts'

const OWN = { name: 'ConfigMap ns/part:k', key: 'k' }
const PATCHES = {
  patches: OVERLAY,
  view: await readOverlay(new Map([['10-a.yaml', Buffer.from('maxPods: 62\n')]]), IN_PLACE, parseLocated),
}
const LOCAL: Base = { kind: 'local', text: 'local' }

t.test('the layers of a part with an overlay, by their names', async (t) => {
  const local = found('maxPods: 110\nclusterDNS: [a]\nevictionHard: {a: "1", b: "2"}\n')
  const data = { k: 'podPidsLimit: 1\nevictionHard: {b: null}\n' }
  const layers = await listLayers({ ...OWN, object: { data, base: LOCAL }, local, patches: [PATCHES] }, IN_PLACE)
  t.same(
    layers.map(({ name }) => name),
    [LOCAL_PATH, 'ConfigMap ns/part:k', 'overlay 10-a.yaml'],
  )
  const of = (...path: (string | number)[]) => findLayer(layers, path)
  t.equal(of('maxPods'), 'overlay 10-a.yaml')
  t.equal(of('podPidsLimit'), 'ConfigMap ns/part:k')
  t.equal(of('clusterDNS', 0), LOCAL_PATH)
  t.equal(of('evictionHard', 'a'), LOCAL_PATH)
  t.equal(of('evictionHard', 'b'), 'ConfigMap ns/part:k', 'it removes it')
  t.equal(of('kubeAPIQPS'), undefined)
})

t.test('a local config that kubelet itself merges below is no layer of the result', async (t) => {
  const local = { ...found('maxPods: 110\n'), staysBelow: true } as LocalConfigView
  const data = { k: 'podPidsLimit: 1\nmaxPods: null\n' }
  const layers = await listLayers({ ...OWN, object: { data, base: LOCAL }, local, patches: [PATCHES] }, IN_PLACE)
  t.same(
    layers.map(({ name }) => name),
    ['ConfigMap ns/part:k', 'overlay 10-a.yaml'],
  )
  const bases = { root: { kind: 'local', name: LOCAL_PATH, text: localConfig('maxPods: 110\n'), staysBelow: true }, parts: [] } as const
  const result = await mergePart(bases, data, 'k', IN_PLACE)
  const ref = { namespace: 'ns', name: 'part', kubeletConfigKey: 'k' }
  const object = { kind: 'found', uid: 'u', resourceVersion: '1', data, base: LOCAL } as const
  const applied = applyPart(
    { kind: 'config-map', ref, object },
    () => local,
    () => result,
  )
  const merged = { mergedFrom: ['ConfigMap ns/part:k'], fields: [] }
  t.match(applied, { kind: 'applied', desired: { object: merged } }, 'all that is in the result is from the part')
})

t.test('a config that is not merged has no layers', async (t) => {
  const plain = { ...OWN, object: { data: { k: 'maxPods: 1\n' } }, local: undefined }
  t.same(await listLayers({ ...plain, patches: [{ patches: OVERLAY, view: { kind: 'none' } }] }, IN_PLACE), [])
  t.equal((await listLayers({ ...plain, patches: [PATCHES] }, IN_PLACE)).length, 2)
  const broken = { ...plain, object: { data: {}, base: LOCAL }, local: { kind: 'unusable', detail: 'x' } as const }
  t.same(await listLayers({ ...broken, patches: [PATCHES] }, IN_PLACE), [])
})

t.test('a default of this node is a layer only where nothing below sets it', async (t) => {
  const view = await readOverlay(new Map([['systemd-resolved', Buffer.alloc(0)]]), IN_PLACE, parseLocated)
  const sets = [PATCHES, { patches: INSTANCE_CONFIG, view }]
  const namesOf = async (text: string, patches: readonly NodePatches[]) =>
    (await listLayers({ ...OWN, object: { data: { k: text } }, local: undefined, patches }, IN_PLACE)).map(({ name }) => name)
  t.same(await namesOf('maxPods: 1\n', sets), [OWN.name, 'overlay 10-a.yaml', 'systemd-resolved of this node'])
  t.same(await namesOf('resolvConf: /x\n', sets), [OWN.name, 'overlay 10-a.yaml'])
  t.same(await namesOf('resolvConf: /x\n', sets.slice(1)), [])
  const overlay = await readOverlay(new Map([['10-a.yaml', Buffer.from('resolvConf: /y\n')]]), IN_PLACE, parseLocated)
  t.same(await namesOf('maxPods: 1\n', [{ patches: OVERLAY, view: overlay }, ...sets.slice(1)]), [OWN.name, 'overlay 10-a.yaml'])
})

t.test('a field of the result has the value that its layer gives it', async (t) => {
  const value = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(null), fc.constant([1])),
    node: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('node')), { maxKeys: 3 }),
  }))
  await fc.assert(
    fc.property(fc.array(value.node, { minLength: 1, maxLength: 4 }), (documents) => {
      const layers: readonly ConfigLayer[] = documents.map((document, index) => ({ name: String(index), value: document }))
      const merged = documents.slice(1).reduce<unknown>(mergePatch, documents[0])
      for (const [path, leaf] of leavesOf(merged)) {
        const layer = findLayer(layers, path)
        const given = path.reduce<unknown>((inner, step) => (isObject(inner) ? inner[step] : undefined), documents[Number(layer)])
        if (JSON.stringify(given) !== JSON.stringify(leaf)) throw new Error(`${path.join('.')} is not from layer ${layer}`)
      }
    }),
  )
  t.pass()
})

function leavesOf(value: unknown, path: readonly string[] = []): (readonly [readonly string[], unknown])[] {
  return isObject(value) ? Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key])) : [[path, value]]
}

const lay = (...documents: readonly unknown[]) => documents.map((value, index): ConfigLayer => ({ name: String(index), value }))

t.test('each field by the last layer that sets or removes it, those of the highest last', async (t) => {
  const local = { apiVersion: 'v1', maxPods: 1, evictionHard: { a: '1', b: '2' }, clusterDNS: ['x'] }
  const part = { apiVersion: 'v1', kind: 'K', maxPods: 2, evictionHard: { b: null }, clusterDNS: ['y', 'z'], logging: {} }
  const layer = { maxPods: 3, authentication: { x509: { clientCAFile: '/ca' } } }
  t.same(listFields(lay(local, part, layer)), [
    { path: ['evictionHard', 'b'], layer: '1', removed: true },
    { path: ['clusterDNS'], layer: '1' },
    { path: ['maxPods'], layer: '2' },
    { path: ['authentication', 'x509', 'clientCAFile'], layer: '2' },
  ])
  t.same(listFields(lay(local, { evictionHard: null }, { evictionHard: { c: '3' } })), [
    { path: ['evictionHard'], layer: '1', removed: true },
    { path: ['evictionHard', 'c'], layer: '2' },
  ])
  t.same(listFields(lay(local, { evictionHard: { a: '9' } }, { evictionHard: null })), [
    { path: ['evictionHard'], layer: '2', removed: true },
  ])
  t.same(listFields(lay(local, undefined, 'x', [])), [], 'what is no mapping')
  t.same(listFields(lay(local)), [])
  t.same(listFields([]), [])
})

t.test('a layer that is larger than any config is not listed', async (t) => {
  const wide = (inner: unknown) => Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`f${index}`, inner]))
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
  for (const value of [wide(1), wide({}), deep, { ['x'.repeat(100_000)]: 1 }]) {
    t.equal(listFields(lay({}, value)), undefined)
    t.equal(listFields(lay({}, value, { maxPods: 1 })), undefined, 'nor what is above it')
    t.equal(listFields(lay({}, { maxPods: 1 }, value)), undefined)
  }
  t.equal(listFields(lay({}, Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 1]))))?.length, 500)
})

t.test('of each value of the result, it names the layer that findLayer finds, or it is of the lowest', async (t) => {
  const value = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(null), fc.constant([1])),
    node: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('node')), { maxKeys: 3 }),
  }))
  await fc.assert(
    fc.property(fc.array(value.node, { minLength: 1, maxLength: 4 }), (documents) => {
      const layers = lay(...documents)
      const fields = listFields(layers) ?? []
      const merged = documents.slice(1).reduce<unknown>(mergePatch, documents[0])
      for (const path of leavesOfLayer(merged)) {
        const named = fields.find((field) => JSON.stringify(field.path) === JSON.stringify(path))
        if ((named?.layer ?? '0') !== findLayer(layers, path)) throw new Error(`${path.join('.')}: ${named?.layer}`)
        if (named?.removed === true) throw new Error(`${path.join('.')} is there`)
      }
    }),
  )
  t.pass()
})

function leavesOfLayer(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  return isObject(value) ? Object.entries(value).flatMap(([key, inner]) => leavesOfLayer(inner, [...path, key])) : [path]
}
