// SPDX-License-Identifier: Apache-2.0
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kubeconfigWith } from '../../demo/api-server/kubeconfig.ts'
import { createAuthority, issueCertificate } from '../../demo/api-server/x509.ts'
import { type Access, type Credentials, hashCertificates } from '../../src/kube/access.ts'
import { listNamedFiles, readKubeconfig, readUserKubeconfig } from '../../src/kube/credentials.ts'

const authority = createAuthority('kubernetes')
const client = issueCertificate(authority, { commonName: 'c', organizations: [] }, { kind: 'client' })
const write = (directory: string, user: readonly string[]) => {
  const path = join(directory, 'kubelet.conf')
  writeFileSync(path, kubeconfigWith('https://127.0.0.1:6443', authority.certificate, user))
  return path
}
const read = (path: string, nowMs = () => 0) => readKubeconfig(path, nowMs)

function credentialsOf(path: string, nowMs = () => 0): Credentials {
  const reading = read(path, nowMs)
  if (reading.kind !== 'ok') throw new Error(reading.detail)
  return reading.credentials
}

async function accessOf(credentials: Credentials): Promise<Access> {
  const outcome = await credentials.access()
  if (!outcome.ok) throw new Error(outcome.detail)
  return outcome.access
}

t.test('certificates inside the file', async (t) => {
  const base64 = (pem: string) => Buffer.from(pem).toString('base64')
  const path = write(t.testdir({}), [`client-certificate-data: ${base64(client.certificate)}`, `client-key-data: ${base64(client.key)}`])
  const credentials = credentialsOf(path)
  t.equal(credentials.server.href, 'https://127.0.0.1:6443/')
  t.same(credentials.authorityHashes(), hashCertificates(authority.certificate))
  t.match(await accessOf(credentials), {
    tls: { ca: authority.certificate, cert: client.certificate, key: client.key, rejectUnauthorized: true },
  })
})

t.test('data inside the file overrides a file that is named beside it, which need not exist', async (t) => {
  const base64 = (pem: string) => Buffer.from(pem).toString('base64')
  const node = issueCertificate(authority, { commonName: 'system:node:n1', organizations: [] }, { kind: 'client' })
  const user = [`client-certificate-data: ${base64(node.certificate)}`, `client-key-data: ${base64(node.key)}`]
  const [directory, files] = [t.testdir({}), ['client-certificate: client.pem', 'client-key: client.pem']]
  const path = write(directory, [...user, ...files])
  writeFileSync(path, readFileSync(path, 'utf8').replace(/( *)certificate-authority-data:/, '$1certificate-authority: ca.pem\n$&'))
  const check = async () => {
    const credentials = credentialsOf(path)
    t.equal(credentials.nodeName(), 'n1')
    t.same(credentials.authorityHashes(), hashCertificates(authority.certificate))
    t.match(await accessOf(credentials), { tls: { ca: authority.certificate, cert: node.certificate, key: node.key } })
    t.same(listNamedFiles(path), [])
  }
  await check()
  writeFileSync(join(directory, 'ca.pem'), 'another')
  writeFileSync(join(directory, 'client.pem'), client.certificate + client.key)
  await check()
})

t.test('the node name in a client certificate', (t) => {
  const nodeOf = (commonName: string) => {
    const { certificate, key } = issueCertificate(authority, { commonName, organizations: ['system:nodes'] }, { kind: 'client' })
    const directory = t.testdir({ 'client.pem': certificate + key })
    return credentialsOf(write(directory, ['client-certificate: client.pem', 'client-key: client.pem'])).nodeName()
  }
  t.equal(nodeOf('system:node:worker-1.example.com'), 'worker-1.example.com')
  t.equal(nodeOf('kubernetes-admin'), undefined)
  t.equal(credentialsOf(write(t.testdir({}), ['token: x'])).nodeName(), undefined)
  t.end()
})

t.test('certificate files are read again each time, relative to the kubeconfig', async (t) => {
  const directory = t.testdir({ 'client.pem': client.certificate + client.key })
  const credentials = credentialsOf(write(directory, ['client-certificate: client.pem', 'client-key: client.pem']))
  t.equal((await accessOf(credentials)).tls.cert, client.certificate + client.key)
  writeFileSync(join(directory, 'client.pem'), 'rotated')
  t.equal((await accessOf(credentials)).tls.cert, 'rotated')
})

t.test('a token, and a token file that is replaced', async (t) => {
  const directory = t.testdir({ token: 'one\n' })
  t.equal((await accessOf(credentialsOf(write(directory, ['token: plain'])))).headers.Authorization, 'Bearer plain')
  const credentials = credentialsOf(write(directory, ['tokenFile: token']))
  t.equal((await accessOf(credentials)).headers.Authorization, 'Bearer one')
  writeFileSync(join(directory, 'token'), 'two\n')
  t.equal((await accessOf(credentials)).headers.Authorization, 'Bearer two')
  const escaped = credentialsOf(write(directory, ['"token\\u0046ile": token']))
  t.equal((await accessOf(escaped)).headers.Authorization, 'Bearer two', 'a key in other letters')
})

t.test('the files that a kubeconfig names, whether they exist or not', (t) => {
  const directory = t.testdir({})
  const at = (name: string) => join(directory, name)
  const files = write(directory, ['client-certificate: c/client.pem', 'client-key: /home/me/key', 'tokenFile: token'])
  writeFileSync(files, readFileSync(files, 'utf8').replace(/certificate-authority-data: .*/, 'certificate-authority: /root/ca.crt'))
  t.same(listNamedFiles(files), [
    { path: '/root/ca.crt', need: 'read' },
    { path: at('c/client.pem'), need: 'read' },
    { path: '/home/me/key', need: 'read' },
    { path: at('token'), need: 'read' },
  ])
  const exec = (command: string) => ['exec:', '  apiVersion: client.authentication.k8s.io/v1', `  command: ${command}`]
  t.same(listNamedFiles(write(directory, exec('./plugin'))), [{ path: at('plugin'), need: 'execute' }])
  t.same(listNamedFiles(write(directory, exec('aws'))), [], 'one that is looked up in PATH')
  t.same(listNamedFiles(at('none')), [])
  t.same(listNamedFiles(write(t.testdir({}), ['token: x'])), [])
  t.end()
})

t.test('an unusable kubeconfig is reported, and not quoted', (t) => {
  const directory = t.testdir({ 'empty.conf': '', 'broken.conf': 'users:\n- user: {token: sEcReT, a: "', 'list.conf': '- sEcReT' })
  t.equal(read(join(directory, 'no.conf')).kind, 'absent')
  t.equal(read(directory).kind, 'unreadable')
  for (const name of ['empty.conf', 'broken.conf', 'list.conf']) {
    const reading = read(join(directory, name))
    t.match(reading, { kind: 'malformed' }, name)
    t.notMatch(JSON.stringify(reading), /sEcReT/)
  }
  const path = write(directory, ['client-certificate: /nope/client.pem', 'client-key: /nope/client.pem', 'token: sEcReT'])
  t.match(read(path), { kind: 'incomplete', detail: /\/nope\/client.pem, which does not exist/ })
  const good = readFileSync(write(directory, ['token: sEcReT']), 'utf8')
  for (const [from, to] of [
    ['current-context: default', 'current-context: other'],
    ['cluster: kubernetes\n', 'cluster: other\n'],
    ['    user: default', '    user: other'],
    ['https://127.0.0.1:6443', 'sEcReT'],
    ['https://127.0.0.1:6443', 'http://sEcReT'],
    ['https://127.0.0.1:6443', 'ftp://sEcReT'],
    ['- name: kubernetes', '- name: ""'],
  ] as const) {
    writeFileSync(path, good.replace(from, to))
    t.match(read(path), { kind: 'malformed' }, to)
    t.notMatch(JSON.stringify(read(path)), /sEcReT/)
  }
  t.end()
})

const PLUGIN = `#!/bin/sh
echo run >> "$COUNT"
[ -z "$NOTIFY_SOCKET" ] || exit 3
case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 4 ;; esac
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s-%s"}}' "$1" "$EXTRA"
`
const PLUGIN_USER = [
  'exec:',
  '  apiVersion: client.authentication.k8s.io/v1',
  '  command: ./plugin',
  '  args: [sEcReT]',
  '  env: [{name: EXTRA, value: x}]',
]

t.test('the token of an exec plugin is kept for a while, and one plugin runs at a time', async (t) => {
  const directory = t.testdir({ plugin: PLUGIN })
  chmodSync(join(directory, 'plugin'), 0o755)
  process.env.COUNT = join(directory, 'count')
  process.env.NOTIFY_SOCKET = '/run/systemd/notify'
  t.teardown(() => {
    delete process.env.COUNT
    delete process.env.NOTIFY_SOCKET
  })
  const runs = () => (existsSync(join(directory, 'count')) ? readFileSync(join(directory, 'count'), 'utf8').split('\n').length - 1 : 0)
  let nowMs = 0
  const credentials = credentialsOf(write(directory, PLUGIN_USER), () => nowMs)
  const all = await Promise.all([accessOf(credentials), accessOf(credentials), accessOf(credentials)])
  for (const access of all) t.equal(access.headers.Authorization, 'Bearer sEcReT-x')
  await accessOf(credentials)
  t.equal(runs(), 1)
  nowMs = 31_000
  await accessOf(credentials)
  t.equal(runs(), 2)
})

t.test('a plugin is told of its cluster what client-go tells it', async (t) => {
  const directory = t.testdir({
    plugin: `#!/bin/sh\nprintf %s "$KUBERNETES_EXEC_INFO" > "$TOLD"\n${PLUGIN}`,
    'ca.pem': authority.certificate,
  })
  chmodSync(join(directory, 'plugin'), 0o755)
  const [TOLD, COUNT] = [join(directory, 'told'), join(directory, 'count')]
  Object.assign(process.env, { TOLD, COUNT })
  t.teardown(() => {
    delete process.env.TOLD
    delete process.env.COUNT
  })
  const path = write(directory, [...PLUGIN_USER, '  provideClusterInfo: true'])
  const extension = '$1extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]'
  const text = readFileSync(path, 'utf8').replace(/( *)certificate-authority-data: .*/, `$1certificate-authority: ca.pem\n${extension}`)
  writeFileSync(path, text)
  await accessOf(credentialsOf(path))
  t.same(JSON.parse(readFileSync(TOLD, 'utf8')).spec.cluster, {
    server: 'https://127.0.0.1:6443',
    'certificate-authority-data': Buffer.from(authority.certificate).toString('base64'),
    config: { audience: 'a' },
  })
})

t.test('a plugin that hangs is killed with what it started, within a minute', async (t) => {
  const directory = t.testdir({ plugin: `#!/bin/sh\ntr '\\0' ' ' < /proc/$PPID/cmdline > "$COUNT"\nexit 1\n` })
  chmodSync(join(directory, 'plugin'), 0o755)
  process.env.COUNT = join(directory, 'parent')
  t.teardown(() => {
    delete process.env.COUNT
  })
  await credentialsOf(write(directory, PLUGIN_USER)).access()
  t.match(readFileSync(join(directory, 'parent'), 'utf8'), /^timeout --kill-after=5 60 .*\/plugin sEcReT/, 'within a minute')
})

t.test('whatever a plugin prints, its run ends, with a bound on its output', async (t) => {
  for (const [what, script] of [
    ['prints without end', 'yes'],
    ['prints one line without end', 'cat /dev/zero'],
    ['complains without end', 'yes >&2'],
    ['prints what nests without end', 'yes "[" | head -c 900000'],
    ['prints no text', 'head -c 1000 /dev/urandom'],
    ['is killed', 'kill -9 $$'],
  ] as const) {
    const directory = t.testdir({ plugin: `#!/bin/sh\n${script}\n` })
    chmodSync(join(directory, 'plugin'), 0o755)
    t.match(await credentialsOf(write(directory, PLUGIN_USER)).access(), { ok: false, detail: /returned no credential/ }, what)
  }
})

t.test('the failure of a plugin is reported without its output', async (t) => {
  const credential = (status: object) => `echo '${JSON.stringify({ kind: 'ExecCredential', status })}'`
  const later = new Date(Date.now() + 3600_000).toISOString()
  for (const script of [
    'echo sEcReT >&2; exit 1',
    'echo sEcReT',
    'echo "{}"',
    'echo null',
    credential({}),
    credential({ expirationTimestamp: later }),
    credential({ token: '', expirationTimestamp: later }),
    credential({ clientKeyData: 'sEcReT' }),
    credential({ token: 'sEcReT\\r\\nX: y' }),
    credential({ token: { toString: 'sEcReT' } }),
  ]) {
    const directory = t.testdir({ plugin: `#!/bin/sh\n${script}\n` })
    chmodSync(join(directory, 'plugin'), 0o755)
    const outcome = await credentialsOf(write(directory, PLUGIN_USER)).access()
    t.match(outcome, { ok: false, detail: /plugin .*\/plugin/ }, script)
    t.notMatch(JSON.stringify(outcome), /sEcReT/)
  }
  const nameless = read(write(t.testdir({}), ['exec: {apiVersion: client.authentication.k8s.io/v1}']))
  t.match(nameless, { kind: 'malformed', detail: /has an exec plugin without a command/ })
  const none = await credentialsOf(write(t.testdir({}), PLUGIN_USER)).access()
  t.match(none, { ok: false, detail: /\/plugin does not exist/ })
})

t.test('a person has several files: the first entry of a name counts, and each path is relative to its file', async (t) => {
  const directory = t.testdir({ one: {}, two: { token: 'of-two', plugin: '' } })
  const [one, two] = [join(directory, 'one/config'), join(directory, 'two/config')]
  writeFileSync(one, kubeconfigWith('https://127.0.0.1:1', authority.certificate, ['token: of-one']))
  const other = kubeconfigWith('https://127.0.0.1:2', authority.certificate, ['tokenFile: token'])
  writeFileSync(
    two,
    other.replaceAll(/: (kubernetes|default)$/gm, ': other-$1').replaceAll(/(user|name): (admin|node|user)$/gm, '$1: other-$2'),
  )
  const open = (context: string | undefined, files = [join(directory, 'none'), one, two]) => readUserKubeconfig({ files, context }, () => 0)
  const authorization = async (reading: ReturnType<typeof open>) => {
    if (reading.kind !== 'ok') throw new Error(reading.detail)
    return [reading.credentials.server.port, (await accessOf(reading.credentials)).headers.Authorization]
  }
  t.same(await authorization(open(undefined)), ['1', 'Bearer of-one'])
  t.same(await authorization(open('other-default')), ['2', 'Bearer of-two'])
  t.same(await authorization(open(undefined, [two, one])), ['2', 'Bearer of-two'])
  t.match(open('none'), { kind: 'malformed', detail: /has no context "none"/ })
  t.match(open(undefined, ['/nonexistent/config']), { kind: 'absent', detail: /no kubeconfig: .* set KUBECONFIG or give --kubeconfig/ })
})

t.test('an exec plugin of a person is started as it is, and its failure speaks of no service', async (t) => {
  const directory = t.testdir({ 'fails.sh': '#!/bin/sh\necho secret >&2\nexit 1\n' })
  chmodSync(join(directory, 'fails.sh'), 0o755)
  const exec = ['exec:', '  apiVersion: client.authentication.k8s.io/v1', '  command: ./fails.sh', '  interactiveMode: Never']
  const reading = readUserKubeconfig({ files: [write(directory, exec)], context: undefined }, () => 0)
  if (reading.kind !== 'ok') throw new Error(reading.detail)
  const outcome = await reading.credentials.access()
  t.same(outcome, {
    ok: false,
    detail: `the kubeconfig's exec plugin ${directory}/fails.sh returned no credential (exit code 1); run it by hand to see why`,
  })
})
