// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import t from 'tap'
import { ADVICE } from '../../../../src/command/plugin/commands/why.ts'
import { CONFIG_LABEL } from '../../../../src/decision/channels.ts'
import { restartingMessage, rolledBackMessage } from '../../../../src/decision/status-texts.ts'
import { CONDITION_REASONS } from '../../../../src/report/reasons.ts'
import { nodeObject, rolledBack, sourceOf, startPluginWorld } from '../world.ts'

const EVENT = {
  kind: 'Event',
  involvedObject: { kind: 'Node', name: 'worker-6', uid: 'worker-6' },
  source: { component: 'kubelet-cfg-agent', host: 'worker-6' },
  type: 'Warning',
}

t.test('a config that was rolled back', async (t) => {
  const { run, server } = await startPluginWorld(t)
  server.objects.put(rolledBack('worker-6', 'risky', 'kubelet-config'))
  const event = (name: string, reason: string, lastTimestamp: string, message: string) =>
    server.objects.put({ ...EVENT, metadata: { name, namespace: 'default' }, reason, message, lastTimestamp })
  const source = (name: string) => ({ namespace: 'kube-system', name, kubeletConfigKey: 'kubelet', uid: 'f0c9-1', resourceVersion: '212' })
  const [risky, good] = [source('risky.v2'), source('kubelet-config')]
  event('a', 'KubeletConfigChanged', '2026-11-23T10:59:00Z', restartingMessage(risky))
  event('b', 'KubeletConfigRolledBack', '2026-11-23T11:00:00Z', rolledBackMessage(risky, good, 'kubelet exited 3 times'))
  server.objects.put({
    ...EVENT,
    metadata: { name: 'c', namespace: 'default' },
    source: { component: 'kubelet' },
    reason: 'Other',
    message: '',
  })
  const { code, out } = await run('why', 'worker-6')
  t.equal(code, 0)
  t.matchSnapshot(out)
})

t.test('a trial, a wait in a rollout, a node that asks for something else, and one without an agent', async (t) => {
  const { run, server } = await startPluginWorld(t)
  const { objects } = server
  objects.put(
    nodeObject('trial', {
      config: 'c',
      ready: ['Unknown', 'InTrial', 'trial of kube-system/c:kubelet@212 until 2026-11-23T12:10:00Z'],
      said: { trial: { since: '2026-11-23T12:00:00Z', until: '2026-11-23T12:10:00Z' }, lastKnownGood: sourceOf('old', '1') },
    }),
  )
  const rollout = { stage: 2, lastStage: 5, turn: 'wait' }
  objects.put(
    nodeObject('waits', { config: 'c', active: sourceOf('c', '200'), ready: ['False', 'Waiting', 'stage 2 of 5'], said: { rollout } }),
  )
  const changed = nodeObject('changed', { config: 'c' })
  const labels = { 'kubelet-cfg-agent.node-restriction.kubernetes.io/config': 'other' }
  objects.put({ ...changed, metadata: { ...changed.metadata, labels } })
  objects.put({ kind: 'Node', metadata: { name: 'bare' } })
  t.matchSnapshot((await run('why', 'trial')).out)
  t.match(
    (await run('why', 'waits')).out,
    /It should run kube-system\/c:kubelet@212, assigned by the label [\s\S]*rollout of the config is in stage 2 of 5, and this node waits/,
  )
  t.match((await run('why', 'changed')).out, /It runs kube-system\/c:kubelet@212\.\nThat is what the agent followed before\.\n/)
  t.match((await run('why', 'changed')).out, /The Node asks for kube-system\/other:kubelet .* which the agent has not taken up\./)
  t.match((await run('why', 'bare')).out, /^bare: NoAgent[\s\S]*What to do: Nothing, if no config is meant for it/)
})

t.test('a ConfigMap that does not exist, after one that was refused, is the one that is blamed', async (t) => {
  const { run, server } = await startPluginWorld(t)
  const message = 'kube-system/gone:kubelet cannot be read: it does not exist'
  const said = { error: 'failed to sync: failed to download config: it does not exist', verdict: { state: 'refused', reason: 'load' } }
  const node = nodeObject('n1', {
    config: 'broken',
    active: sourceOf('good'),
    ready: ['False', 'DownloadFailed', message],
    degraded: true,
    said,
  })
  server.objects.put({ ...node, metadata: { ...node.metadata, labels: { [CONFIG_LABEL]: 'gone' } } })
  t.match((await run('get')).out, /^n1 +gone +- +DownloadFailed +60m +- +cannot be read: it does/m)
  t.match((await run('get', '-o', 'sum')).out, /^gone +!{20} +1 DownloadFailed$/m)
  t.match(JSON.parse((await run('why', 'n1', '-o', 'json')).out), {
    ...{ kind: 'NodeExplanation', node: 'n1', state: 'DownloadFailed', asked: { ref: { name: 'gone' } }, events: [] },
    todo: /^Create the ConfigMap/,
  })
  const { out } = await run('why', 'n1')
  t.match(out, /The Node asks for kube-system\/gone:kubelet .* which the agent has not taken up\./)
  t.match(out, /^The verdict on kube-system\/broken:kubelet@212: refused, load\.$/m)
  t.notMatch(out, /on what is assigned/)
})

t.test('an assignment that was taken back', async (t) => {
  const { run, server } = await startPluginWorld(t)
  const why = async (said: object) => {
    server.objects.put(nodeObject('n1', { said: { assigned: sourceOf('c'), active: sourceOf('c'), ...said } }))
    return (await run('why', 'n1')).out
  }
  for (const [channel, name] of [
    ['label', 'the label kubelet-cfg-agent\\.node-restriction\\.kubernetes\\.io/config of the Node'],
    ['annotation', 'the annotation kubelet-cfg-agent\\.io/config-source of the Node'],
    ['config-source', 'spec\\.configSource of the Node'],
  ] as const) {
    const out = await why({ channel })
    t.match(out, /It runs kube-system\/c:kubelet@212\.\nThat is what the agent followed before\.\n/)
    t.match(out, new RegExp(`\\nThe Node asks for nothing by ${name} any more, which the agent has not taken up\\.\\n`))
  }
  t.match(
    await why({ channel: 'label', active: sourceOf('old') }),
    /It runs \S+\.\nThe agent last followed kube-system\/c:kubelet@212\.\nThe Node asks/,
  )
  for (const channel of ['selector', 'default']) t.notMatch(await why({ channel }), /any more/, `the Node does not show the ${channel}`)
  t.notMatch(await why({ channel: 'label', assigned: {}, active: {} }), /any more/)
})

t.test('where events may not be read, it says so and shows the rest', async (t) => {
  const { run, server } = await startPluginWorld(t)
  server.objects.put(nodeObject('n1', { config: 'c' }))
  server.authorize = ({ target }) => target?.resource.plural !== 'events'
  const { code, out } = await run('why', 'n1')
  t.equal(code, 0)
  t.match(
    out,
    /^n1: Promoted; KubeletConfigReady has been True for 60m\n[\s\S]*Events are not shown: the right to list events in the namespace default is missing/,
  )
})

t.test('no restart is promised where nothing is assigned', async (t) => {
  const { run, server } = await startPluginWorld(t)
  for (const [reason, message] of [
    ['Unhealthy', 'kubelet runs local and is not healthy'],
    ['Restarting', 'kubelet is starting or stopping; desired: local'],
  ] as const) {
    server.objects.put(nodeObject('n1', { ready: ['False', reason, message] }))
    t.match((await run('why', 'n1')).out, /What to do: .*Where nothing is assigned, kubelet and its config are the administrator's/, reason)
  }
})

t.test('there is advice on every reason, and on none that does not exist', async (t) => {
  t.same(Object.keys(ADVICE).sort(), Object.values(CONDITION_REASONS).flat().sort())
  // A node that is uncordoned while it waits for its turn has to be drained again.
  const [, states] = /^kubectl uncordon NODE +# when the condition is (.*)$/m.exec(readFileSync('docs/runbook.md', 'utf8')) ?? []
  t.ok(states !== undefined && ADVICE.Draining.todo.includes(`when the state is ${states}.`))
})

t.test('a reason of a newer agent is no dead end', async (t) => {
  const { run, server } = await startPluginWorld(t)
  server.objects.put(nodeObject('n1', { config: 'c', ready: ['False', 'Brandnew', 'see there'] }))
  t.match((await run('why', 'n1')).out, /The agent says: see there[\s\S]*does not know the reason Brandnew/)
})

t.test("the label's ConfigMap is where the agent looks for it", async (t) => {
  const { run, server } = await startPluginWorld(t)
  const source = { configMap: { namespace: 'configs', name: 'pods', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '7' } }
  server.objects.put(nodeObject('n1', { config: 'pods', said: { assigned: source, active: source, lastKnownGood: source } }))
  const { out } = await run('why', 'n1')
  t.match(out, /It runs configs\/pods:kubelet@7/)
  t.notMatch(out, /has not taken up/)
})
