// SPDX-License-Identifier: Apache-2.0
import t, { type Test } from 'tap'
import { until } from '../../../until.ts'
import { nodeObject, rolledBack, startPluginWorld } from '../world.ts'

async function startFleet(test: Test, options = {}) {
  const world = await startPluginWorld(test, options)
  const { objects } = world.server
  for (const index of [1, 2, 3, 4]) objects.put(nodeObject(`worker-${index}`, { config: 'kubelet-config', labels: { role: 'worker' } }))
  const rollout = { generation: 3, stage: 2, lastStage: 5, turn: 'wait' }
  objects.put(
    nodeObject('worker-5', {
      config: 'kubelet-config',
      ready: ['Unknown', 'InTrial', 'trial of kube-system/kubelet-config:kubelet@212 until 2026-11-23T12:10:00Z'],
      said: { rollout, trial: { since: '2026-11-23T12:00:00Z', until: '2026-11-23T12:10:00Z' } },
    }),
  )
  objects.put(rolledBack('worker-6', 'risky', 'kubelet-config'))
  objects.put({ kind: 'Node', metadata: { name: 'plain' }, status: { conditions: [] } })
  return world
}

t.test('one line a node, and one a config, within 80 columns', async (t) => {
  const { run } = await startFleet(t)
  const { code, out, err } = await run('get')
  t.equal(code, 0)
  t.equal(err, '')
  t.matchSnapshot(out)
  for (const line of out.split('\n')) t.ok(line.length <= 80, line)
  t.notMatch(out, '\u001b')
  t.match(out.replace(/\s+/g, ' '), 'kubelet exited 2 times: invalid MaxFiles 1, must be > 1', 'a message is folded, and not cut')
  t.match((await run('get', '-o', 'wide')).out, /invalid MaxFiles 1, must be > 1\n/, 'wide cuts nothing')
  t.match((await run('get', '-o=sum')).out, /^kubelet-config +█+▒+ {2}4 Promoted {2}1 InTrial\n/)
})

t.test('names are never cut, and a message that finds no room goes below its row', async (t) => {
  const { run, server } = await startPluginWorld(t)
  const names = [0, 1, 2].map((index) => `aks-gpupool-12345678-vmss00000${index}`)
  for (const name of names) server.objects.put(rolledBack(name, 'thresholds-of-the-gpu-pool-of-2026', 'kubelet-config'))
  const { out } = await run('get')
  const lines = out.split('\n')
  t.match(lines[0], /^NODE +CONFIG +VERSION +STATE +SINCE +STAGE$/)
  for (const [index, name] of names.entries()) {
    t.match(lines[1 + 2 * index], `${name}  thresholds-of-the-gpu-pool-of-2026  226      RolledBack  60m    -`)
    t.equal(lines[2 + 2 * index], '    kubelet exited 2 times: invalid MaxFiles 1, must be > 1')
  }
})

t.test('names and a selector choose', async (t) => {
  const { run, server } = await startFleet(t)
  t.match((await run('get', '-l', 'role=worker', '-o', 'sum')).out, /^kubelet-config +█+ {2}4 Promoted\n$/)
  t.equal(server.requests.at(-1)?.query.get('labelSelector'), 'role=worker')
  const { out } = await run('get', 'worker-6', 'worker-1')
  t.match(out, /worker-1 .*\nworker-6 .*RolledBack/, 'what needs somebody comes last')
  t.match(await run('get', 'nobody'), { code: 1, err: 'kubectl kubelet-config get: Node nobody does not exist\n' })
  t.match(await run('get', '../x'), { code: 1, err: /not a valid name/ })
  t.match(await run('get', '-l', 'role=none'), { code: 0, out: '', err: 'No nodes found.\n' })
  t.match(await run('get', 'worker-1', '-l', 'role=none'), { code: 2, out: '', err: /give names of Nodes or -l, not both/ })
})

t.test('JSON and YAML say the same', async (t) => {
  const { run, context } = await startFleet(t)
  const json = JSON.parse((await run('get', '-o', 'json')).out)
  t.equal(json.kind, 'NodeConfigList')
  const bad = json.items.find(({ node }: { node: string }) => node === 'worker-6')
  t.match(bad, {
    state: 'RolledBack',
    degraded: true,
    assigned: { name: 'risky', resourceVersion: '226' },
    active: { name: 'kubelet-config' },
    verdict: { state: 'confirmed', reason: 'crash-loop' },
    condition: { status: 'False', since: '2026-11-23T11:00:00Z' },
  })
  const yaml = await context.yaml.first((await run('get', '-o', 'yaml')).out)
  t.same(yaml.ok && yaml.value, json)
})

t.test('what a Node says cannot control the terminal', async (t) => {
  const world = await startPluginWorld(t)
  const evil = '\u001b[2J\u009b2Jgone\u202e\u200b\u{e0041}\nline'
  const source = { configMap: { namespace: evil, name: evil, kubeletConfigKey: evil, uid: evil, resourceVersion: evil } }
  const said = { channel: evil, assigned: source, active: source, lastKnownGood: source }
  world.server.objects.put(nodeObject('n1', { config: 'c', ready: ['False', evil, evil], said }))
  for (const output of ['table', 'wide', 'json', 'yaml']) {
    const { out } = await world.run('get', '-o', output)
    for (const unsafe of ['\u001b', '\u009b', '\u202e', '\u200b', '\u{e0041}', '\\u001b', '\\e']) t.notOk(out.includes(unsafe), output)
    t.match(out, /gone/)
  }
})

t.test('colours only where they are wanted', async (t) => {
  const { run } = await startFleet(t, { color: true })
  t.match((await run('get')).out, '\u001b[31mRolledBack\u001b[0m')
})

t.test('a node that does not answer, and one from before an agent', async (t) => {
  const { run, server } = await startPluginWorld(t, { width: 120 })
  server.objects.put(nodeObject('gone', { config: 'c', kubelet: 'Unknown' }))
  server.objects.put({
    kind: 'Node',
    metadata: { name: 'new', labels: { 'kubelet-cfg-agent.node-restriction.kubernetes.io/config': 'c' } },
  })
  const { out } = await run('get')
  t.match(out, /gone .*node does not answer$/m)
  t.match(out, /new +c +- +NoAgent +- +- +no agent has reported/)
  server.objects.put(nodeObject('odd', { config: 'c', kubelet: 'Perhaps' }))
  const readyOf = ({ node, kubeletReady }: { readonly node: string; readonly kubeletReady: unknown }) => [node, kubeletReady]
  t.same(JSON.parse((await run('get', '-o', 'json')).out).items.map(readyOf), [
    ['gone', 'Unknown'],
    ['new', null],
    ['odd', null],
  ])
})

t.test('the missing right is named', async (t) => {
  const { run, server } = await startPluginWorld(t)
  server.authorize = () => false
  t.match(await run('get'), {
    code: 1,
    err: /^kubectl kubelet-config get: the right to list nodes at the cluster scope is missing: 403: nodes is forbidden: User "kubernetes-admin"/,
  })
})

t.test('a watch shows a node again when it changes, and not when kubelet writes', async (t) => {
  const world = await startFleet(t)
  const { server, context } = world
  let out = ''
  const stopper = new AbortController()
  const terminal = {
    ...context.terminal,
    out: (text: string) => {
      out += text
    },
  }
  const { getCommand } = await import('../../../../src/command/plugin/commands/get.ts')
  const line = { options: { selector: '', output: 'table', watch: 'true' }, args: [], shared: {} }
  const done = getCommand.execute({ ...context, terminal, signal: stopper.signal }, line)
  await until(() => server.requests.some(({ verb }) => verb === 'watch'), 'the watch is open')
  const heartbeat = nodeObject('worker-2', { config: 'kubelet-config', labels: { role: 'worker' } })
  server.objects.put({ ...heartbeat, spec: { unschedulable: true } })
  server.objects.put(rolledBack('worker-1', 'risky', 'kubelet-config'))
  await until(() => /\nworker-1 .*RolledBack/.test(out), 'the change is shown')
  const [head = '', ...rows] = out.split('\n')
  const changed = rows.filter((line) => /RolledBack/.test(line) && /^worker-1/.test(line))
  for (const title of ['CONFIG', 'VERSION', 'STATE', 'SINCE', 'STAGE'])
    t.match(changed[0]?.slice(head.indexOf(title) - 2), /^ {2}\S/, `${title} is where it was`)
  t.equal(out.match(/^worker-2 /gm)?.length, 1)
  server.disconnectAll()
  server.objects.put(nodeObject('late', { config: 'kubelet-config' }))
  await until(() => /^late /m.test(out), 'the watch goes on after a broken connection')
  server.store.compact()
  server.disconnectAll()
  server.objects.put(nodeObject('later', { config: 'kubelet-config' }))
  await until(() => /^later /m.test(out), 'and after its version is gone')
  stopper.abort()
  t.equal(await done, 0)
})

t.test('a watch goes on where an API server restarts, and does not ask without a pause', async (t) => {
  const world = await startFleet(t)
  const { context } = world
  const answers = [
    { kind: 'refused', status: 503, reason: 'ServiceUnavailable', detail: 'starting', retryAfterMs: undefined },
    { kind: 'ended', detail: 'ended by the server' },
  ] as const
  const stopper = new AbortController()
  let asked = 0
  const watch: typeof context.api.watch = async () => {
    const answer = answers[asked]
    asked += 1
    if (answer === undefined) stopper.abort()
    return answer ?? { kind: 'ended', detail: 'stopped' }
  }
  const pauses: number[] = []
  world.onSleep = (ms) => pauses.push(ms)
  const { getCommand } = await import('../../../../src/command/plugin/commands/get.ts')
  const line = { options: { selector: '', output: 'table', watch: 'true' }, args: [], shared: {} }
  const api = { request: context.api.request.bind(context.api), watch }
  t.equal(await getCommand.execute({ ...context, api, signal: stopper.signal }, line), 0)
  t.same(pauses, [2000, 2000, 2000])
})
