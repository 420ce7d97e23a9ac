// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { findOwnPort, hasRightForConfigz, withoutSelfSigned } from '../../../src/preflight/configz/own-port.ts'
import { v } from '../change/configs.ts'

const find = (config: object, ...args: string[]) => findOwnPort({ ...config }, collectFlags(args), '/var/lib/kubelet', v(34))

t.test('a kubelet knows nodes/configz from 1.33 on', async (t) => {
  t.same(
    [undefined, v(20), v(32), v(33), v(36), v(40)].map(hasRightForConfigz),
    [false, false, false, true, true, true],
    'an unknown version counts as an old one',
  )
})

t.test('the address of the port, by the config and by flags that win', async (t) => {
  t.same(find({}).target, { host: '0.0.0.0', port: 10250 })
  t.same(find({ address: '10.0.0.7', port: 10350 }).target, { host: '10.0.0.7', port: 10350 })
  t.same(find({ address: '::', port: 10350 }, '--port=7', '--address', '0.0.0.0').target, { host: '0.0.0.0', port: 7 })
})

t.test('the file of the certificate that kubelet serves', async (t) => {
  t.same(find({}).certificateFiles, ['/var/lib/kubelet/pki/kubelet.crt'], 'self-signed')
  t.same(find({}, '--cert-dir=/pki/').certificateFiles, ['/pki/kubelet.crt'])
  t.same(find({ tlsCertFile: '/etc/k/tls.crt' }).certificateFiles, ['/etc/k/tls.crt'])
  t.same(find({ tlsCertFile: '../k/tls.crt' }).certificateFiles, ['/var/lib/k/tls.crt'], 'relative to the config')
  t.same(find({ tlsCertFile: '/a' }, '--tls-cert-file=/b').certificateFiles, ['/b'])
  t.same(find({ serverTLSBootstrap: true }).certificateFiles, ['/var/lib/kubelet/pki/kubelet-server-current.pem'], 'signed by the cluster')
  t.same(find({}, '--rotate-server-certificates=true').certificateFiles, ['/var/lib/kubelet/pki/kubelet-server-current.pem'])
  t.same(
    find({ serverTLSBootstrap: true, tlsCertFile: '/a' }).certificateFiles,
    ['/var/lib/kubelet/pki/kubelet-server-current.pem', '/a'],
    'the one of the config serves until the other is issued',
  )
})

t.test('the pair that kubelet makes itself is no part of its config', async (t) => {
  const made = { tlsCertFile: '/var/lib/kubelet/pki/kubelet.crt', tlsPrivateKeyFile: '/var/lib/kubelet/pki/kubelet.key' }
  const without = (config: object, ...args: string[]) => withoutSelfSigned({ maxPods: 5, ...config }, collectFlags(args))
  t.same(without(made), { maxPods: 5 })
  t.same(without({ tlsCertFile: '/pki/kubelet.crt', tlsPrivateKeyFile: '/pki/kubelet.key' }, '--cert-dir=/pki'), { maxPods: 5 })
  for (const config of [
    { ...made, tlsPrivateKeyFile: '/k' },
    { tlsCertFile: '/pki/kubelet.crt', tlsPrivateKeyFile: '/pki/kubelet.key' },
    { ...made, serverTLSBootstrap: true },
    {},
  ])
    t.same(without(config), { maxPods: 5, ...config }, 'an administrator named it')
})
