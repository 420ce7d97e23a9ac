import fc from 'fast-check'
import t from 'tap'
import { formatListenAddress, parseListenAddress } from '../../src/values/listen-address.ts'

t.test('accepts host:port', async (t) => {
  const cases = {
    '127.0.0.1:10270': { host: '127.0.0.1', port: 10270 },
    '[::1]:10270': { host: '::1', port: 10270 },
    '[::]:0': { host: '::', port: 0 },
    ':10270': { host: '', port: 10270 },
    'localhost:65535': { host: 'localhost', port: 65535 },
  }
  for (const [text, address] of Object.entries(cases)) t.same(parseListenAddress(text), { ok: true, address }, text)
})

t.test('rejects other texts with a reason', async (t) => {
  for (const text of [
    '',
    '10270',
    'localhost',
    'localhost:',
    '::1:10270',
    '127.0.0.1:65536',
    '127.0.0.1:-1',
    'a b:1',
    '[::1',
    '[::1]',
    'http://x:1',
  ]) {
    const result = parseListenAddress(text)
    t.equal(result.ok, false, text)
    if (!result.ok) t.match(result.detail, /^".*" is not host:port: ./)
  }
  t.match(parseListenAddress('::1:10270'), { detail: /brackets/ })
})

t.test('a formatted address parses to the same value', async (t) => {
  const hosts = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain(), fc.constant(''))
  const property = fc.property(hosts, fc.nat(65_535), (host, port) => {
    const parsed = parseListenAddress(formatListenAddress({ host, port }))
    return parsed.ok && parsed.address.host === host && parsed.address.port === port
  })
  t.doesNotThrow(() => fc.assert(property))
})
