// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { checkNode, findNeeds } from '../../../src/preflight/node/check-node.ts'
import type { NodeOptions } from '../../../src/preflight/node/node-view.ts'
import { NOTHING_KNOWN, type PathState } from '../../../src/preflight/node/surroundings.ts'
import { NOWHERE, optionsOf, verdicts } from './node-options.ts'

const paths = (states: Record<string, PathState>) => ({ paths: new Map(Object.entries(states)) })
const clientCA = (clientCAFile: string) => ({ authentication: { x509: { clientCAFile } } })

t.test('files that kubelet needs to start', async (t) => {
  const at = 'authentication.x509.clientCAFile'
  t.same(verdicts(clientCA('/ca'), paths({ '/ca': 'missing' })), [`refuse node/missing-file ${at}`])
  t.same(verdicts(clientCA('/ca'), paths({ '/ca': 'directory' })), [`refuse node/missing-file ${at}`])
  t.same(verdicts(clientCA('/ca'), paths({ '/ca': 'file' })), [])
  t.same(verdicts(clientCA('/ca'), paths({})), [], 'unknown')
  const tls = { tlsCertFile: '/c', tlsPrivateKeyFile: '/k' }
  t.same(verdicts(tls, paths({ '/c': 'missing', '/k': 'file' })), ['refuse node/missing-file tlsCertFile'])
  t.same(verdicts({ ...tls, enableServer: false }, paths({ '/k': 'missing' })), ['warn node/missing-file tlsPrivateKeyFile'])
})

t.test('from 1.31 on kubelet loads its certificate before its server starts, if there is one', async (t) => {
  const off = { tlsCertFile: '/c', tlsPrivateKeyFile: '/k', enableServer: false }
  const missing = paths({ '/c': 'file', '/k': 'missing' })
  const check = (config: object, minor: number) =>
    verdicts(config, missing, optionsOf(minor)).filter((verdict) => verdict.includes('missing'))
  const [refused, warned] = [['refuse node/missing-file tlsPrivateKeyFile'], ['warn node/missing-file tlsPrivateKeyFile']]
  t.same(check(off, 30), warned)
  for (const minor of [31, 34, 36]) t.same(check(off, minor), refused, `1.${minor}`)
  const unloaded = { featureGates: { ReloadKubeletServerCertificateFile: false } }
  t.same(check({ ...off, ...unloaded }, 34), warned, 'without this gate the server loads it')
  t.same(check({ ...off, ...unloaded }, 36), refused, 'kubelet itself loads it without this gate')
  t.same(check({ ...off, serverTLSBootstrap: true }, 34), warned)
  t.same(check({ tlsPrivateKeyFile: '/k', enableServer: false }, 34), warned, 'its certificate is not set')
  t.same(verdicts(off, missing, optionsOf(34, [], { version: undefined })), warned, 'some kubelets start')
})

t.test('from 1.36 on kubelet opens no certificate that the API server is to sign', async (t) => {
  const config = { tlsCertFile: '/c', tlsPrivateKeyFile: '/k', serverTLSBootstrap: true }
  const missing = paths({ '/c': 'missing', '/k': 'file' })
  const [refused, warned] = [['refuse node/missing-file tlsCertFile'], ['warn node/missing-file tlsCertFile']]
  t.same(verdicts(config, missing, optionsOf(35)), refused)
  t.same(verdicts(config, missing, optionsOf(36)), warned)
  t.same(verdicts({ ...config, enableServer: false }, missing, optionsOf(36)).includes(refused[0] ?? ''), false)
  t.same(verdicts(config, missing, optionsOf(36, [], { version: undefined })), warned, 'some kubelets start')
})

t.test('files of the ConfigMap exist', async (t) => {
  t.same(verdicts(clientCA('ca.crt'), paths({})), [])
  t.same(verdicts(clientCA('./ca.crt'), paths({ '/var/lib/x/checkpoints/u/1/ca.crt': 'missing' })), [], 'before the checkpoint is saved')
  t.match(verdicts(clientCA('other.crt'), paths({ '/var/lib/x/checkpoints/u/1/other.crt': 'missing' })), [/^refuse/])
  t.same(verdicts({ staticPodPath: 'ca.crt' }, paths({})), [], 'a file may hold static pods too')
  t.same(verdicts({ volumePluginDir: 'ca.crt' }, paths({})), ['warn node/missing-file volumePluginDir'], 'it is not a directory')
})

t.test('files that kubelet does not need to start', async (t) => {
  t.same(verdicts({ staticPodPath: '/p' }, paths({ '/p': 'missing' })), ['warn node/missing-file staticPodPath'])
  t.same(verdicts({}, paths({ '/etc/resolv.conf': 'missing' })), [], 'it is the default')
  t.same(verdicts({ volumePluginDir: '/v' }, paths({ '/v': 'missing' })), [], 'kubelet creates it')
  t.same(verdicts({ volumePluginDir: '/v' }, paths({ '/v': 'file' })), ['warn node/missing-file volumePluginDir'])
})

t.test('a resolvConf that does not exist is refused, unless kubelet runs with it', async (t) => {
  const missing = paths({ '/r': 'missing', '/etc/resolv.conf': 'missing' })
  const runs = (running: object | undefined) => optionsOf(30, [], { running: { ...running } })
  const refused = ['refuse guard/resolv-conf resolvConf']
  t.same(verdicts({ resolvConf: '/r' }, missing, runs({ resolvConf: '/s' })), refused)
  t.same(verdicts({ resolvConf: '/r' }, paths({ '/r': 'directory' }), runs({})), refused)
  t.same(verdicts({ resolvConf: '/r' }, paths({ '/r': 'other' }), runs({})), refused, 'a device or a named pipe')
  t.same(verdicts({ resolvConf: '/r' }, missing), refused, 'what runs is unknown, but the file is known to be missing')
  t.same(verdicts({ resolvConf: '/r' }, missing, runs({ resolvConf: '/r' })), ['warn guard/resolv-conf resolvConf'], 'no change')
  t.same(verdicts({}, missing, runs({ resolvConf: '/s' })), refused, 'back to the default')
  t.same(verdicts({}, missing, runs({})), [], 'the default, as before')
  t.same(verdicts({ resolvConf: '/r' }, paths({ '/r': 'file' }), runs({})), [])
  t.same(verdicts({ resolvConf: '/r' }, paths({}), runs({})), [], 'unknown')
  t.same(verdicts({ resolvConf: '' }, missing, runs({})), [], 'no file')
})

t.test('a resolvConf that moves pods to the stub of systemd-resolved is refused', async (t) => {
  const [real, stub] = ['/run/systemd/resolve/resolv.conf', '/etc/resolv.conf']
  const texts = new Map([
    [real, '# comment\nnameserver 192.0.2.1\nsearch example.com\n'],
    [stub, '# nameserver 192.0.2.9\nnameserver 127.0.0.53\noptions edns0 trust-ad\n'],
    ['/both', 'nameserver 127.0.0.1\n  nameserver\t192.0.2.1\n'],
    ['/six', 'nameserver ::1\n'],
    ['/none', 'search example.com\n'],
  ])
  const from = (resolvConf: string, more: Partial<NodeOptions> = {}) => optionsOf(30, [], { running: { resolvConf }, ...more })
  const check = (config: object, options: NodeOptions) => verdicts(config, { texts }, options)
  const refused = ['refuse guard/resolv-conf resolvConf']
  t.same(check({}, from(real)), refused, 'back to the default')
  t.same(check({ resolvConf: stub }, from(real)), refused)
  t.same(check({ resolvConf: '/six' }, from(real)), refused)
  t.same(check({ resolvConf: stub }, from('/both')), refused)
  t.same(check({ resolvConf: stub }, from(stub)), [], 'no change')
  t.same(check({ resolvConf: stub }, from('/six')), [], 'pods had none before')
  for (const resolvConf of [real, '/both', '/none', '/unknown', '']) t.same(check({ resolvConf }, from('/both')), [], resolvConf)
  for (const resolvConf of ['/unknown', '', 'relative']) t.same(check({}, from(resolvConf)), [], `from ${resolvConf}`)
  t.same(check({}, optionsOf(30)), [], 'what runs is not known')
  const flag = collectFlags([`--resolv-conf=${real}`])
  t.same(check({}, from(real, { flags: flag })), [], 'a flag keeps it')
  t.same(findNeeds({}, from(real)).texts.slice(-2), [real, stub])
  t.notOk(findNeeds({}, from(stub)).texts.includes(stub))
  const [finding] = checkNode({}, NOWHERE, { ...NOTHING_KNOWN, texts }, from(real))
  t.match(finding, {
    problem: /^resolvConf: \/etc\/resolv\.conf has only the nameserver 127\.0\.0\.53, /,
    advice: `set resolvConf: ${real}`,
  })
  const many = new Map([...texts, [stub, 'nameserver 127.0.0.1\n'.repeat(1000)]])
  const [long] = checkNode({}, NOWHERE, { ...NOTHING_KNOWN, texts: many }, from(real))
  t.match(long?.problem, /nameserver 127\.0\.0\.1, 127\.0\.0\.1, 127\.0\.0\.1, which/, 'a long list is cut')
})

t.test('flags override paths too', async (t) => {
  const missing = paths({ '/ca': 'missing', '/flag': 'file', '/var/lib/x/checkpoints/u/1/flag': 'missing' })
  t.same(verdicts(clientCA('/ca'), missing, optionsOf(30, ['--client-ca-file=/flag'])), [])
  t.same(verdicts(clientCA('/ca'), missing, optionsOf(30, ['--client-ca-file=flag'])), [], 'relative to an unknown directory')
})
