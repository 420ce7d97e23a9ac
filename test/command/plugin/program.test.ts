// SPDX-License-Identifier: Apache-2.0
/** The program itself, started under the plugin's name, as kubectl starts it. */
import { spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { startApiServer } from '../../../demo/api-server/server.ts'
import { CONFIG_LABEL } from '../../../src/decision/channels.ts'
import { LOADER } from '../../typescript/loader.ts'
import { nodeObject } from './world.ts'

const ROOT = join(import.meta.dirname, '../../..')
const CONFIG = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'

async function open(t: Test) {
  const server = await startApiServer({ storesConfigSource: false })
  t.teardown(() => server.stop().catch(() => {}))
  const directory = t.testdir({})
  const [program, kubeconfig] = [join(directory, 'kubectl-kubelet_config'), join(directory, 'kubeconfig')]
  symlinkSync(join(ROOT, 'src/main.ts'), program)
  writeFileSync(kubeconfig, server.kubeconfig(), { mode: 0o600 })
  const start = (...args: readonly string[]) => {
    const child = spawn(process.execPath, ['--import', LOADER, program, ...args, '--kubeconfig', kubeconfig], { cwd: ROOT })
    return { child, code: new Promise((resolve) => child.once('exit', resolve)) }
  }
  return { server, start, directory }
}

t.test('a pipe gets all of a long answer', async (t) => {
  const { server, start } = await open(t)
  const count = 1000
  for (let index = 0; index < count; index++) server.objects.put(nodeObject(`node-${index}`, { config: 'c' }))
  const { child, code } = start('get', '-o', 'json')
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  t.equal(err, '')
  t.equal(await code, 0)
  t.ok(out.length > 500_000, `${out.length} characters`)
  t.equal(JSON.parse(out).items.length, count)
})

t.test('a reader that leaves ends no change in the middle', async (t) => {
  const { server, start } = await open(t)
  const names = Array.from({ length: 20 }, (_, index) => `node-${index}`)
  server.objects.put({ kind: 'ConfigMap', metadata: { name: 'c', namespace: 'kube-system' }, data: { kubelet: CONFIG } })
  for (const name of names) server.objects.put(nodeObject(name, {}))
  const { child, code } = start('assign', 'c', ...names, '--yes')
  child.stdout.once('data', () => child.stdout.destroy())
  t.equal(await code, 0)
  for (const name of names) t.match(server.objects.get('Node', name)?.metadata, { labels: { [CONFIG_LABEL]: 'c' } }, name)
})

t.test('a reader that leaves ends a command that only looks on', async (t) => {
  const { server, start } = await open(t)
  server.objects.put(nodeObject('node-1', { config: 'c' }))
  const { child, code } = start('get', '--watch')
  child.stdout.once('data', () => {
    child.stdout.destroy()
    server.objects.put(nodeObject('node-1', { config: 'd' }))
  })
  t.equal(await code, 0)
})

t.test('Ctrl-C ends a command that looks on, with the code that shells have for it', async (t) => {
  const { server, start } = await open(t)
  server.objects.put(nodeObject('node-1', { config: 'c' }))
  const { child, code } = start('get', '--watch')
  child.stdout.once('data', () => child.kill('SIGINT'))
  t.equal(await code, 130)
})

t.test('off a terminal nothing is cut', async (t) => {
  const { server, start } = await open(t)
  const name = `aks-gpupool-12345678-vmss${'0'.repeat(200)}`
  const message = 'words '.repeat(100).trim()
  server.objects.put(nodeObject(name, { config: 'c'.repeat(100), ready: ['False', 'Refused', message], degraded: true }))
  const { child, code } = start('get')
  const out = await text(child.stdout)
  t.equal(await code, 0)
  t.match(out.split('\n')[1], `${name}  ${'c'.repeat(100)}  212      Refused  `)
  t.match(out.split('\n')[1], message)
  t.match(out, new RegExp(`^${'c'.repeat(100)}  !`, 'm'))
})

t.test('an expression that takes too much ends by the limits of the helper: it eats neither memory nor time', async (t) => {
  const { server, start, directory } = await open(t)
  server.objects.put(nodeObject('node-1', { config: 'c' }))
  const ten = '[0,1,2,3,4,5,6,7,8,9]'
  const listed = [...'abcdefghi'].reduce((inner, name) => `${ten}.map(${name}, ${inner})`, "'x'")
  const path = join(directory, 'costly.yaml')
  const head = 'apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: ComputedKubeletConfiguration\n'
  writeFileSync(path, `${head}computed:\n  clusterDomain: "${listed}[0]"\n`)
  const { child, code } = start('apply', '-f', path, 'c', '--yes')
  const [, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  t.equal(await code, 1)
  // Whichever limit it comes to first: a busy machine is slow to fill the memory.
  t.match(err, /its expressions take too much: (the helper ended: it took too much memory|no answer to evaluateEach within 10 s)/)
  t.equal(server.objects.get('ConfigMap', 'c', 'kube-system'), undefined, 'nothing was written')
})
