// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type Listener, parseFibTrie } from '../../../src/preflight/node/surroundings.ts'
import { optionsOf, verdicts } from './node-options.ts'

const listening = (port: number, owner: Listener['owner'], address = '0.0.0.0') => ({ listeners: [{ port, owner, address }] })

t.test('ports', async (t) => {
  t.same(verdicts({ port: 8080 }, listening(8080, 'other')), ['refuse node/port port'])
  t.same(verdicts({ port: 8080 }, listening(8080, 'unknown')), ['warn node/port port'])
  t.same(verdicts({ port: 8080 }, listening(8080, 'kubelet')), [])
  t.same(verdicts({ port: 8080 }, listening(8081, 'other')), [])
  t.same(verdicts({ port: 8080, enableServer: false }, listening(8080, 'other')), [])
  t.same(verdicts({ readOnlyPort: 8080 }, listening(8080, 'other')), ['refuse node/port readOnlyPort'])
  t.same(verdicts({}, { listeners: undefined }), [])
})

t.test('ports by address', async (t) => {
  t.same(verdicts({ healthzPort: 8080 }, listening(8080, 'other', '127.0.0.2')), [], 'another loopback')
  t.same(verdicts({ address: '10.0.0.1' }, listening(10250, 'other', '10.0.0.1')), ['refuse node/port port'])
  t.same(verdicts({ address: '10.0.0.1' }, listening(10250, 'other', '::')), ['warn node/port port'], 'perhaps for IPv6 only')
})

t.test("an address of another machine for kubelet's server", async (t) => {
  const localAddresses = parseFibTrie('     |-- 10.0.0.1\n        /32 host LOCAL\n')
  t.same(verdicts({ address: '10.0.0.2' }, { localAddresses }), ['refuse node/address address'])
  t.same(verdicts({ address: '10.0.0.1' }, { localAddresses }), [])
  t.same(verdicts({ address: '10.0.0.2', enableServer: false }, { localAddresses }), [], 'it does not serve')
  t.same(verdicts({ address: '10.0.0.2', enableServer: false, readOnlyPort: 1 }, { localAddresses }), ['refuse node/address address'])
  for (const all of ['::', '::0', '0:0:0:0:0:0:0:0']) {
    t.same(verdicts({ address: all }, { localAddresses }), [], all)
    t.same(verdicts({ healthzBindAddress: all }, { localAddresses }), [], all)
  }
  t.same(verdicts({ address: '10.0.0.2' }, {}), [], 'unknown')
  const running = optionsOf(30, [], { running: { address: '10.0.0.2' } })
  t.same(verdicts({ address: '10.0.0.2' }, { localAddresses }, running), ['warn node/address address'], 'kubelet has run with it')
})

t.test('a port of the running kubelet counts as its own', async (t) => {
  const running = optionsOf(30, [], { running: { port: 8080 } })
  t.same(verdicts({ port: 8080 }, listening(8080, 'unknown'), running), [])
  t.same(
    verdicts({ port: 8080 }, listening(8080, 'other'), running),
    ['refuse node/port port'],
    'unless another process is known to have it',
  )
  t.same(verdicts({}, listening(10250, 'unknown'), running), ['warn node/port port'])
  t.same(verdicts({}, listening(10250, 'unknown'), optionsOf(30, [], { running: {} })), [])
})

t.test('a kubelet without a client of the API server', async (t) => {
  const found = (config: object, args: readonly string[], flagsKnown = true) => verdicts(config, {}, optionsOf(30, args, { flagsKnown }))
  const both = ['refuse node/no-client authentication.webhook.enabled', 'refuse node/no-client authorization.mode']
  const alone = { authentication: { webhook: { enabled: false } }, authorization: { mode: 'AlwaysAllow' } }
  t.same(found({}, ['--config=/c']), both, 'by default')
  t.same(found({}, ['--config=/c', '--kubeconfig=']), both)
  t.same(found(alone, ['--config=/c']), [])
  t.same(found({ ...alone, authorization: {} }, ['--config=/c']), both.slice(1))
  t.same(found({}, ['--config=/c', '--authorization-mode=AlwaysAllow', '--authentication-token-webhook=false']), [], 'flags')
  t.same(found({}, ['--config=/c', '--kubeconfig=/k']), [])
  t.same(found({}, ['--config=/c'], false), [], 'some flags are not known')
  t.same(found({}, []), [], 'none is')
})
