// SPDX-License-Identifier: Apache-2.0
/**
 * A config that computes values, from the API server to what kubelet gets: over HTTPS, with a real
 * helper.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nodeIdentity } from '../../demo/api-server/request.ts'
import { startApiServer } from '../../demo/api-server/server.ts'
import { paceBy } from '../../src/agent/waker.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { NodeDisk } from '../../src/checkpoint/node-disk.ts'
import { openAssignment, type SharedParts } from '../../src/compose/agent-parts.ts'
import { openNode } from '../../src/compose/commands.ts'
import { AGENT_VERSION, openKubeApi } from '../../src/compose/kube-api.ts'
import { NodeOwnedFiles } from '../../src/directory/owned-files.ts'
import { HelperProcess } from '../../src/helper/helper-process.ts'
import { readKubeconfig } from '../../src/kube/credentials.ts'
import { KubeconfigFile } from '../../src/kube/kubeconfig.ts'
import { NO_COUNTERS } from '../../src/report/counters.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { BootClock } from '../../src/systemd/boot-clock.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { defaults } from '../settings/settled-settings.ts'
import { until } from '../until.ts'

t.setTimeout(120_000)

const LABEL = 'kubelet-cfg-agent.node-restriction.kubernetes.io/config'
const TEXT = `apiVersion: kubelet-cfg-agent.io/v1alpha1
kind: ComputedKubeletConfiguration
computed:
  maxPods: "[250, node.cpus * 20].min()"
  podPidsLimit: int(node.labels['pids'])
`

t.test('values follow the Node, and a node without a label stays as it is', async (t) => {
  const server = await startApiServer({ storesConfigSource: false })
  t.teardown(() => server.stop())
  const directory = t.testdir({})
  const kubeconfigPath = join(directory, 'kubelet.conf')
  writeFileSync(kubeconfigPath, server.kubeconfig(nodeIdentity('n1')), { mode: 0o600 })
  const log = silentLog()
  const settings: Settings = { ...defaults, overlayDir: undefined, channels: ['config-source', 'label'] }
  const src = join(import.meta.dirname, '../../src')
  const context = { version: AGENT_VERSION, settings, standIn: [], yamlChild: join(src, 'kubelet/yaml-child.ts') }
  const helper = new HelperProcess({
    command: [process.execPath, ...process.execArgv, '--max-old-space-size=160', join(src, 'compose/helper.ts')],
    context: () => context,
  })
  t.teardown(() => helper.end())
  const kubeconfig = new KubeconfigFile(kubeconfigPath, (path) => readKubeconfig(path, () => performance.now()), log)
  const stores = { yaml: IN_PLACE, owned: new NodeOwnedFiles(), files: new DurableFiles(new NodeDisk()) }
  const world = {
    ...{ settings: () => settings, nodeName: 'n1', log, pace: paceBy(new BootClock()) },
    api: openKubeApi(kubeconfig, { userAgent: 'test' }),
    stores: stores as unknown as SharedParts['stores'],
  }
  const source = openAssignment(world, NO_COUNTERS, { helper })
  t.teardown(() => source.stop())

  const show = (cpu: string, labels: Record<string, string>) =>
    server.objects.put({
      kind: 'Node',
      metadata: { name: 'n1', labels: { [LABEL]: 'sized', ...labels } },
      spec: {},
      status: { capacity: { cpu } },
    })
  server.objects.put({ kind: 'ConfigMap', metadata: { name: 'sized', namespace: 'kube-system' }, data: { kubelet: TEXT } })
  show('4', { pids: '100' })
  const desired = () => source.desired(() => ({ kind: 'unknown', detail: 'not asked' }))
  source.start(() => void desired())
  const kubeletGets = (): unknown => {
    const now = desired()
    const text = now.kind === 'config-map' && now.object.kind === 'found' ? now.object.rendered?.data.kubelet : undefined
    return text === undefined ? now.kind : JSON.parse(text)
  }
  const sees = (fields: Record<string, unknown>) =>
    until(() => Object.entries(fields).every(([name, value]) => Object(kubeletGets())[name] === value), JSON.stringify(fields))
  await sees({ kind: 'KubeletConfiguration', maxPods: 80, podPidsLimit: 100 })
  show('8', { pids: '100' })
  await sees({ maxPods: 160 })
  show('8', {})
  await until(() => kubeletGets() === 'invalid', 'a label is missing')
  t.match(desired(), { cause: /^kubelet: computed podPidsLimit at line 5, column 3: field not found: pids/ })
  show('8', { pids: '7' })
  await sees({ maxPods: 160, podPidsLimit: 7 })
})

t.test('a command computes in the helper, whose limits end what takes too much, and reads the Node once', async (t) => {
  const server = await startApiServer({ storesConfigSource: false })
  t.teardown(() => server.stop())
  const kubeconfig = join(t.testdir({}), 'kubelet.conf')
  writeFileSync(kubeconfig, server.kubeconfig(nodeIdentity('n1')), { mode: 0o600 })
  server.objects.put({ kind: 'Node', metadata: { name: 'n1' }, spec: {}, status: { capacity: { cpu: '4' } } })
  const settings: Settings = { ...defaults, kubeconfig, nodeName: 'n1', systemctl: '/bin/false' }
  const src = join(import.meta.dirname, '../../src')
  const command = [process.execPath, ...process.execArgv, '--max-old-space-size=80', join(src, 'compose/helper.ts')]
  const programs = {
    ...{ clock: new BootClock(), yaml: IN_PLACE, standIn: [], yamlChild: join(src, 'kubelet/yaml-child.ts') },
    helperProgram: { command, env: {} },
  }
  const terminal = { out: () => {}, err: () => {}, color: false, width: undefined }
  const { evaluate } = openNode(settings, programs, terminal)
  t.same(await evaluate(['node.cpus']), { ok: true, values: [4] })
  server.objects.put({ kind: 'Node', metadata: { name: 'n1' }, spec: {}, status: { capacity: { cpu: '8' } } })
  t.same(await evaluate(['node.cpus']), { ok: true, values: [4] })
  const ten = '[0,1,2,3,4,5,6,7,8,9]'
  const large = [...'abcdefg'].reduce((inner, name) => `${ten}.map(${name}, ${inner})`, "'x'")
  t.match(await evaluate([`${large}.size()`]), { ok: false, at: 0, detail: /^it takes too much: .*(memory|within)/ })
})
