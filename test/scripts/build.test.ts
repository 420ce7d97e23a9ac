// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { kubeconfigWith } from '../../demo/api-server/kubeconfig.ts'
import { ADMIN } from '../../demo/api-server/request.ts'
import { startApiServer } from '../../demo/api-server/server.ts'

const run = promisify(execFile)
const src = resolve('src')
const kube = resolve('src/kube')
const kubelet = resolve('src/kubelet')

/**
 * Sends one request to the API server with the given kubeconfig, parses YAML in a process of its
 * own, and prints the results.
 */
const ENTRY = `
import { fileURLToPath } from 'node:url'
import { openKubeApi } from '${src}/compose/kube-api.ts'
import { KubeconfigFile } from '${kube}/kubeconfig.ts'
import { readKubeconfig } from '${kube}/credentials.ts'
import { BoundedYaml } from '${kubelet}/bounded-yaml.ts'
const write = (text) => console.error(text)
const log = { debug: write, info: write, warn: write, error: write }
const kubeconfig = new KubeconfigFile(process.argv[2], (path) => readKubeconfig(path, () => performance.now()), log)
const api = openKubeApi(kubeconfig, { userAgent: 'bundle' })
const answer = await api.request({ method: 'GET', path: '/api/v1/nodes/n1' })
const late = await import('./late.ts')
const yaml = new BoundedYaml({ child: fileURLToPath(new URL(KUBELET_CFG_AGENT_YAML_CHILD, import.meta.url)) })
const { value } = await yaml.first('a: &x 1\\nb: *x')
const { kind, detail } = answer
console.log(JSON.stringify({ kind, detail, late: late.LATE, value, version: KUBELET_CFG_AGENT_VERSION }))
`

t.test('the bundle', async (t) => {
  const server = await startApiServer()
  t.teardown(() => server.stop())
  server.objects.put({ kind: 'Node', metadata: { name: 'n1' } })
  const directory = t.testdir({ 'entry.ts': ENTRY, 'late.ts': "export const LATE = 'late'\n" })
  const outdir = join(directory, 'out')
  await run(process.execPath, ['scripts/build.mjs', join(directory, 'entry.ts'), outdir])
  const main = join(outdir, 'kubelet-cfg-agent.mjs')
  const request = async (user: readonly string[], change = (text: string) => text): Promise<{ kind: string; detail?: string }> => {
    const kubeconfig = join(directory, 'kubeconfig')
    writeFileSync(kubeconfig, change(kubeconfigWith(server.url, server.caPem, user)))
    return JSON.parse((await run(main, [kubeconfig], { cwd: directory })).stdout)
  }

  t.test('is an executable with source maps, and small', async (t) => {
    t.equal(statSync(main).mode & 0o777, 0o755)
    t.match(readFileSync(main, 'utf8').split('\n')[0], /^#!/)
    t.ok(readdirSync(outdir).includes('kubelet-cfg-agent.mjs.map'))
    t.ok(statSync(main).size < 400 * 1024, 'all of client-node would be 4 MB')
    t.equal(
      readdirSync(join(outdir, 'lib')).filter((name) => name.endsWith('.mjs')).length > 0,
      true,
      'modules that are loaded late are separate files',
    )
  })

  t.test('has no character beyond Latin-1: one doubles the memory that V8 takes for its file', async (t) => {
    const files = ['', 'lib'].flatMap((folder) => readdirSync(join(outdir, folder)).map((name) => join(outdir, folder, name)))
    const wide = files.filter((file) => file.endsWith('.mjs') && /[\u0100-\uffff]/.test(readFileSync(file, 'utf8')))
    t.same(wide, [])
  })

  t.test('authenticates with certificates, tokens, token files and exec plugins, and starts the parser of YAML', async (t) => {
    const { certificate, key } = server.issueCertificate(ADMIN)
    const token = server.issueToken(ADMIN)
    writeFileSync(join(directory, 'client.pem'), certificate + key)
    writeFileSync(join(directory, 'token'), token)
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }
    writeFileSync(join(directory, 'plugin'), `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`)
    chmodSync(join(directory, 'plugin'), 0o755)
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    for (const user of [
      ['client-certificate: client.pem', 'client-key: client.pem'],
      [`client-certificate-data: ${base64(certificate)}`, `client-key-data: ${base64(key)}`],
      [`token: ${token}`],
      ['tokenFile: token'],
      ['exec:', '  apiVersion: client.authentication.k8s.io/v1', '  command: ./plugin'],
    ])
      t.match(await request(user), { kind: 'ok', late: 'late', value: { a: 1, b: 1 }, version: /^\d/ }, user[0] ?? '')
  })

  t.test('a stub reports what the build leaves out', async (t) => {
    const socks = (text: string) => text.replace('    server:', '    proxy-url: socks5://127.0.0.1:1\n    server:')
    t.match(await request(['token: x'], socks), { kind: 'unreachable', detail: /SOCKS proxy.* not in this build/ })
    const oidc = [
      'auth-provider:',
      '  name: oidc',
      '  config: {idp-issuer-url: "https://x", client-id: y, refresh-token: sEcReT, id-token: e30.eyJleHAiOjF9.c}',
    ]
    const answer = await request(oidc)
    t.match(answer, { kind: 'unreachable', detail: /oidc.* not in this build/ })
    t.notMatch(JSON.stringify(answer), /sEcReT/)
  })
})
