/** The program itself, started under the plugin's name, as kubectl starts it. */
import { spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { startApiServer } from '../../demo/api-server/server.ts'
import { nodeObject } from './world.ts'

const ROOT = join(import.meta.dirname, '../..')

t.test('a pipe gets all of a long answer', async (t) => {
  const server = await startApiServer({ storesConfigSource: false })
  t.teardown(() => server.stop().catch(() => {}))
  const count = 1000
  for (let index = 0; index < count; index++) server.objects.put(nodeObject(`node-${index}`, { config: 'c' }))
  const directory = t.testdir({})
  const [program, kubeconfig] = [join(directory, 'kubectl-kubelet_config'), join(directory, 'kubeconfig')]
  symlinkSync(join(ROOT, 'src/main.ts'), program)
  writeFileSync(kubeconfig, server.kubeconfig(), { mode: 0o600 })
  const child = spawn(process.execPath, ['--import', 'tsx', program, 'get', '-o', 'json', '--kubeconfig', kubeconfig], { cwd: ROOT })
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('exit', resolve)),
  ])
  t.equal(err, '')
  t.equal(code, 0)
  t.ok(out.length > 500_000, `${out.length} characters`)
  t.equal(JSON.parse(out).items.length, count)
})
