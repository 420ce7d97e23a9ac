// SPDX-License-Identifier: Apache-2.0
import { constants } from 'node:http2'
import t from 'tap'
import { errorEvent, type Fault, refusal } from '../../demo/api-server/reply.ts'
import type { ApiRequest } from '../../demo/api-server/request.ts'
import { until } from '../until.ts'
import { assertNoSecrets, assertPaced, NAMESPACE, NODE, PATIENT, putConfigMap, putNode, startWorld, withGrowingLimit } from './world.ts'

const html: Fault = { kind: 'answer', status: 200, headers: { 'content-type': 'text/html' }, body: '<html>log in</html>' }
const onWatch = (fault: Fault) => (request: ApiRequest) => (request.verb === 'watch' ? fault : undefined)
const onRead = (fault: Fault) => (request: ApiRequest) => (request.verb === 'watch' ? undefined : fault)
const always = (fault: Fault) => () => fault

const META = { uid: 'u', resourceVersion: '1' }
type Resource = 'nodes' | 'configmaps'
const LISTS: Readonly<Record<Resource, string>> = { nodes: 'NodeList', configmaps: 'ConfigMapList' }
const sent = (body: object): Fault => ({ kind: 'answer', status: 200, body: `${JSON.stringify(body)}\n` })
const concerns = (request: ApiRequest, plural: Resource, isWatch: boolean) =>
  request.target?.resource.plural === plural && (request.verb === 'watch') === isWatch
/** Whatever is requested of the resource, this object is found. */
const onReadOf = (plural: Resource, object: object) => (request: ApiRequest) =>
  concerns(request, plural, false)
    ? sent(request.verb === 'list' ? { kind: LISTS[plural], metadata: META, items: [object] } : object)
    : undefined
const onListOf = (plural: Resource, list: object) => (request: ApiRequest) => (concerns(request, plural, false) ? sent(list) : undefined)
const onWatchOf = (plural: Resource, object: object) => (request: ApiRequest) =>
  concerns(request, plural, true) ? sent({ type: 'MODIFIED', object }) : undefined

/**
 * While the server is at fault: what hangs is given up soon. A server without fault gets PATIENT,
 * since a busy machine is slow as well.
 */
const IMPATIENT = { inactivityMs: 250, requestTimeoutMs: 250 }

const FAULTS: Readonly<Record<string, (request: ApiRequest) => Fault | undefined>> = {
  'a server that accepts requests and never answers': always({ kind: 'hang' }),
  'watches that are accepted and never answered': onWatch({ kind: 'hang' }),
  'watches that fall silent without closing': onWatch({ kind: 'stall', afterBytes: 20 }),
  'reads that fall silent in the middle': onRead({ kind: 'stall', afterBytes: 20 }),
  'connections broken before the answer': always({ kind: 'disconnect' }),
  'watches broken in the middle of a line': onWatch({ kind: 'cut', afterBytes: 30 }),
  'reads broken in the middle': onRead({ kind: 'cut', afterBytes: 30 }),
  'requests reset before the answer': always({ kind: 'reset', afterBytes: 0, code: constants.NGHTTP2_INTERNAL_ERROR }),
  'watches reset in the middle of a line': onWatch({ kind: 'reset', afterBytes: 30, code: constants.NGHTTP2_CANCEL }),
  'reads reset in the middle': onRead({ kind: 'reset', afterBytes: 30, code: constants.NGHTTP2_INTERNAL_ERROR }),
  'a server that goes away at each request': always({ kind: 'go-away' }),
  'watches that end at once': onWatch({ kind: 'end', afterMs: 1 }),
  '410 as a status': onWatch(refusal(410, 'Expired')),
  '410 as an ERROR event': onWatch(errorEvent(410, 'Expired')),
  '500 as an ERROR event': onWatch(errorEvent(500, 'InternalError')),
  '400': always(refusal(400, 'BadRequest')),
  '401': always(refusal(401, 'Unauthorized')),
  '403': always(refusal(403, 'Forbidden')),
  '403 on reads': onRead(refusal(403, 'Forbidden')),
  '404 on watches': onWatch(refusal(404, 'NotFound')),
  '429 with seconds': always(refusal(429, 'TooManyRequests', { 'retry-after': '2' })),
  '429 on watches': onWatch(refusal(429, 'TooManyRequests', { 'retry-after': '2' })),
  '503 with a date': always(refusal(503, 'ServiceUnavailable', { 'retry-after': new Date(Date.now() + 5000).toUTCString() })),
  '500': always(refusal(500, 'InternalError')),
  '504 of a proxy': always({ kind: 'answer', status: 504, headers: { 'content-type': 'text/html' }, body: '<html>' }),
  'a redirect': always({ kind: 'answer', status: 302, headers: { location: 'https://example.invalid/' } }),
  'garbage before the events': onWatch({ kind: 'garbage', text: '{"type":"ADDED","object\n' }),
  'garbage instead of events': onWatch({ kind: 'answer', status: 200, body: 'nothing of use\n' }),
  'events without objects': onWatch({ kind: 'answer', status: 200, body: '{"type":"MODIFIED","object":{}}\n' }),
  'garbage in answers to reads': onRead({ kind: 'garbage', text: 'nothing of use' }),
  'JSON that is not a list': onRead({ kind: 'answer', status: 200, body: '[]' }),
  'a Node without a spec': onReadOf('nodes', { kind: 'Node', metadata: { ...META, name: NODE } }),
  'a Node without a spec on a watch': onWatchOf('nodes', { kind: 'Node', metadata: { ...META, name: NODE } }),
  'an object of another kind': onReadOf('nodes', { kind: 'Pod', metadata: { ...META, name: NODE }, spec: {} }),
  'an object of another kind on a watch': onWatchOf('nodes', { kind: 'Pod', metadata: { ...META, name: NODE }, spec: {} }),
  'another Node': onReadOf('nodes', { kind: 'Node', metadata: { ...META, name: 'n2' }, spec: {} }),
  'another Node on a watch': onWatchOf('nodes', { kind: 'Node', metadata: { ...META, name: 'n2' }, spec: {} }),
  'a list of another kind': onListOf('nodes', { kind: 'PodList', metadata: META, items: [] }),
  'another ConfigMap': onReadOf('configmaps', { kind: 'ConfigMap', metadata: { ...META, name: 'two', namespace: NAMESPACE } }),
  'a Secret on a watch of ConfigMaps': onWatchOf('configmaps', {
    kind: 'Secret',
    metadata: { ...META, name: 'one', namespace: NAMESPACE },
  }),
  'a log-in page instead of watches': onWatch(html),
  'a log-in page instead of anything': always(html),
  'a wrong content type': always({ kind: 'content-type', value: 'text/plain' }),
}

const EACH = Object.entries(FAULTS).flatMap(([name, fault]) => [
  { name, fault, http2: true },
  { name: `${name}, over HTTP/1.1`, fault, http2: false },
])

for (const { name, fault, http2 } of EACH) {
  t.test(`${name}: from the start`, async (t) => {
    const limits = { ...IMPATIENT }
    const world = await startWorld(t, { limits, server: { http2 } })
    const { server, source, calls } = world
    putNode(server, 'one')
    putConfigMap(server, 'one', 'a')
    server.fault = fault
    source.start(() => {})
    await until(() => calls.length >= 8, 'several tries')
    t.not(world.seen(), 'local')
    server.fault = undefined
    Object.assign(limits, PATIENT)
    await until(() => world.seen() === 'one=a', 'what is assigned is found')
    putConfigMap(server, 'one', 'b')
    await until(() => world.seen() === 'one=b', 'and followed')
    assertPaced(t, world)
    assertNoSecrets(t, world, [])
  })

  t.test(`${name}: while all was well`, async (t) => {
    const limits = { ...IMPATIENT }
    const world = await startWorld(t, { limits, server: { http2 } })
    Object.assign(limits, PATIENT)
    const { server, source, calls } = world
    putNode(server, 'one')
    putConfigMap(server, 'one', 'a')
    source.start(() => {})
    await until(() => world.seen() === 'one=a' && server.requests.filter(({ verb }) => verb === 'watch').length === 2, 'all is well')
    let broken = true
    Object.assign(limits, IMPATIENT)
    server.fault = (request) => (broken ? fault(request) : undefined)
    server.disconnectAll()
    putConfigMap(server, 'one', 'b')
    const before = calls.length
    await until(() => calls.length >= before + 8, 'several tries')
    t.match(world.seen(), /^one=[ab]$/, 'the last assignment stays in effect')
    broken = false
    Object.assign(limits, PATIENT)
    server.disconnectAll()
    await until(() => world.seen() === 'one=b', 'the change is found')
    putNode(server, undefined)
    await until(() => world.seen() === 'local', 'and followed')
    assertPaced(t, world)
    assertNoSecrets(t, world, [])
  })
}

t.test('slow bytes are no fault', async (t) => {
  await withGrowingLimit(t, async (inactivityMs) => {
    const world = await startWorld(t, { limits: { ...PATIENT, inactivityMs } })
    const { server, source, calls } = world
    putNode(server, 'one')
    putConfigMap(server, 'one', 'a')
    server.fault = () => ({ kind: 'slow', bytes: 40, everyMs: inactivityMs / 50 })
    source.start(() => {})
    await until(() => world.seen() === 'one=a', 'found')
    putConfigMap(server, 'one', 'b')
    await until(() => world.seen() === 'one=b', 'followed')
    await source.stop()
    if (calls.length > 6) return false
    assertPaced(t, world)
    return true
  })
})
