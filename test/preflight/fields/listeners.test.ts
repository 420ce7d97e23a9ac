// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { weigh } from '../../../src/preflight/fields/complaint.ts'
import { checkListeners } from '../../../src/preflight/fields/listeners.ts'
import { v } from '../change/configs.ts'

function check(config: object, minor: number | undefined = 34) {
  const version = minor === undefined ? undefined : v(minor)
  const complaints = checkListeners({ config: { ...config }, version, gate: () => undefined })
  return complaints.flatMap((complaint) => {
    const severity = weigh(complaint, minor)
    return severity === undefined ? [] : [{ ...complaint, severity }]
  })
}
const brief = (config: object, minor?: number) => check(config, minor).map(({ severity, path }) => `${severity} ${path.join('.')}`)

t.test('the address of the server is one of an IP', async (t) => {
  const refused = ['refuse address']
  for (const address of ['localhost', '10.0.0.5/24', '10.0.0.4,', '{{ node_ip }}', 'fe80::1%eth0', '[::1]', '10.0.0.5:10250']) {
    for (const minor of [20, 22, 23, 37, undefined]) t.same(brief({ address }, minor), refused, address)
  }
  for (const address of ['10.0.0.5', '::', '::1', '', null]) t.same(brief({ address }), [], String(address))
  t.same(brief({ address: '010.0.0.5' }, 22), ['warn address'], 'by the Go that built it')
  t.same(brief({ address: '010.0.0.5' }, 23), [])
  t.same(brief({ address: 'localhost', enableServer: false }), [], 'nothing listens there')
  t.same(brief({ address: 'localhost', enableServer: false, readOnlyPort: 10255 }), refused)
  t.same(
    ['10.0.0.5/24', ' 10.0.0.5', '10.0.0.4,', 'localhost'].map((address) => check({ address })[0]?.advice),
    ['write 10.0.0.5', 'write 10.0.0.5', 'write 10.0.0.4', 'write an IP address of the node, or 0.0.0.0 for all'],
  )
})

t.test('one port for two listeners', async (t) => {
  const cases: [config: object, found: string[]][] = [
    [{}, []],
    [{ port: 10250, readOnlyPort: 10250 }, ['refuse readOnlyPort']],
    [{ readOnlyPort: 10250 }, ['refuse readOnlyPort']],
    [{ port: 0, readOnlyPort: 10250 }, ['refuse readOnlyPort']],
    [{ port: 10250, readOnlyPort: 10250, enableServer: false }, []],
    [{ port: 10248 }, ['refuse port']],
    [{ port: 10248, healthzPort: 0 }, []],
    [{ healthzPort: 10250 }, ['refuse healthzPort']],
    [{ healthzPort: 10250, address: '::' }, ['refuse healthzPort']],
    [{ healthzPort: 10250, address: '127.0.0.1' }, ['refuse healthzPort']],
    [{ healthzPort: 10250, address: '::ffff:127.0.0.1' }, ['refuse healthzPort']],
    [{ healthzPort: 10250, address: '127.0.0.1', healthzBindAddress: 'localhost' }, ['refuse healthzPort']],
    [{ healthzPort: 10250, address: '127.0.0.2' }, []],
    [{ healthzPort: 10250, address: '::1' }, []],
    [{ healthzPort: 10250, address: '10.0.0.1', healthzBindAddress: '0.0.0.0' }, ['refuse healthzPort']],
    [{ healthzPort: 10250, address: '10.0.0.1', healthzBindAddress: 'node-1' }, []],
    [{ port: 7, readOnlyPort: 7, healthzPort: 7 }, ['refuse readOnlyPort', 'refuse healthzPort']],
  ]
  for (const [config, found] of cases) t.same(brief(config), found, JSON.stringify(config))
})

t.test('suites of TLS that HTTP/2 does not start with', async (t) => {
  const [needed, ecdsa] = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256']
  const [other, poor] = ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'TLS_RSA_WITH_AES_128_CBC_SHA']
  const suites = (...tlsCipherSuites: string[]) => ({ tlsCipherSuites })
  const tls13 = { tlsMinVersion: 'VersionTLS13' }
  const [refused, warned] = [['refuse tlsCipherSuites'], ['warn tlsCipherSuites']]
  for (const minor of [20, 23, 24, 37, undefined]) {
    t.same(brief(suites(), minor), [])
    t.same(brief(suites(other, needed), minor), [])
    t.same(brief(suites(ecdsa), minor), [])
    t.same(brief(suites(other), minor), refused)
    t.same(brief(suites('TLS_AES_128_GCM_SHA256'), minor), refused, 'those of TLS 1.3 do not count')
    t.same(brief({ ...suites(other), tlsMinVersion: 'VersionTLS12' }, minor), refused)
    t.same(brief({ ...suites(other), enableServer: false }, minor), [])
    t.same(brief(suites('TLS_NOPE'), minor), [], 'another finding')
  }
  t.same(brief({ ...suites(other), ...tls13 }, 24), [], 'they do not count')
  t.match(check({ ...suites(other), ...tls13 }, 23)[0]?.problem, /exits where it was built with Go 1\.16/)
  t.same(brief(suites(poor, needed), 23), warned, 'the order counted up to Go 1.16')
  t.same(brief(suites(poor, needed), 24), [])
  t.same(brief(suites(needed, poor), 23), [])
})
