// SPDX-License-Identifier: Apache-2.0
/**
 * The workflow of the documentation of Dynamic Kubelet Configuration, from beginning to end: what
 * is asserted each time is what the real kubelet says that it runs with. And what a person reads
 * meanwhile in the journal.
 */
import { strict as assert } from 'node:assert'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { labels, type Source } from '../records.ts'
import { installAgent } from './install-agent.ts'
import type { JournalLine } from './journal.ts'
import { type Node, withNode } from './node.ts'

const NAMESPACE = 'kube-system'

export function addWorkflowScenarios(plane: ControlPlane, program: string): void {
  const options = { name: 'workflow', settings: { TRIAL_DURATION: '5s', SPREAD: '0s', LOG_FORMAT: 'auto' }, agent: 'absent' } as const
  scenario('node: the workflow of the documentation', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      const file = join(plane.directory, 'workflow.json')
      const before = await node.configz()
      await step('installing the agent restarts no kubelet', () =>
        node.withoutRestart(async () => {
          await installAgent(node)
          await admin.untilStatus({})
        }),
      )
      await step('the command that checks a node finds nothing wrong', () => node.command('check'))
      await step('ps shows it by its name', async () => {
        const { MainPID } = await node.show('kubelet-cfg-agent', 'MainPID')
        assert.equal((await node.exec('ps', '-o', 'comm=,args=', '-p', MainPID)).stdout.trim(), 'kubelet-cfg-age kubelet-cfg-agent run')
      })
      await step('/configz of kubelet becomes a file, with one line changed', async () => {
        assert.equal(before.maxPods, 110)
        const head = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
        // An empty list is left out of /configz, and then the default holds, which a container
        // cannot have.
        await writeFile(file, JSON.stringify({ ...before, ...head, enforceNodeAllocatable: [], maxPods: 51 }, null, 2))
      })
      const first = await step('the file becomes a ConfigMap, named after its content', () => createConfigMap(admin, file))
      await step('the Node is patched: kubelet runs just that', async () => {
        await assign(admin, first)
        await admin.untilStatus({ assigned: first, active: first })
        await node.untilRuns(51)
        assert.deepEqual(await node.configz(), { ...before, maxPods: 51 })
      })
      await step('after the trial it is last-known-good, without a restart', () =>
        node.withoutRestart(() => admin.untilStatus({ assigned: first, active: first, lastKnownGood: first })),
      )
      const edited = await step('the ConfigMap is edited in place: kubelet runs the edit', async () => {
        const data = { kubelet: JSON.stringify({ ...JSON.parse(await configOf(admin, first)), maxPods: 61 }) }
        await admin.kubectl('-n', NAMESPACE, 'patch', 'configmap', first.name, '--type=merge', '-p', JSON.stringify({ data }))
        const source = await readSource(admin, first.name)
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
        assert.deepEqual(await node.configz(), { ...before, maxPods: 61 })
        return source
      })
      const labelled = await step('a label on it restarts nothing', () =>
        node.withoutRestart(async () => {
          await admin.kubectl('-n', NAMESPACE, 'label', 'configmap', first.name, 'seen=yes')
          const source = await readSource(admin, first.name)
          await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
          return source
        }),
      )
      await step('kubelet is killed: systemd starts it again, and counts', async () => {
        await node.systemctl('kill', '--signal=KILL', 'kubelet')
        await eventually(async () => (await starts(node)).NRestarts === '1', { what: 'systemd has started it again', timeoutMs: 60_000 })
        await node.untilRuns(61)
        await node.untilHealthy()
      })
      await step('configSource is removed: kubelet runs what it was provisioned with, and that is no automatic restart', async () => {
        await admin.unassign()
        await admin.untilStatus({})
        await node.untilRuns(110)
        assert.deepEqual(await starts(node), { NRestarts: '0', StartLimitIntervalUSec: '0' })
        assert.deepEqual(await node.configz(), before)
      })
      await step('the events tell it', () =>
        admin.untilEvents(
          `KubeletConfigChanged: Kubelet restarting to use ${labels(first)}`,
          `KubeletConfigPromoted: Kubelet config promoted to last-known-good: ${labels(first)}`,
          `KubeletConfigChanged: Kubelet restarting to use ${labels(edited)}`,
          `KubeletConfigPromoted: Kubelet config promoted to last-known-good: ${labels(edited)}`,
          `KubeletConfigPromoted: Kubelet config promoted to last-known-good: ${labels(labelled)}`,
          'KubeletConfigChanged: Kubelet restarting to use local config',
        ),
      )
      await step('so does the journal, a line a fact', async () =>
        tellsTheStory(await node.journal(), first, plane.hasConfigSource ? BY_CONFIG_SOURCE : byAnnotation(first)),
      )
    }),
  )
}

function starts(node: Node) {
  return node.show('kubelet', 'NRestarts', 'StartLimitIntervalUSec')
}

/** As an operator does it: one `kubectl create configmap --append-hash`. */
async function createConfigMap(admin: Administrator, file: string): Promise<Source> {
  const create = ['create', 'configmap', 'my-node-config', `--from-file=kubelet=${file}`, '--append-hash', '-o', 'json']
  const { metadata } = JSON.parse(await admin.kubectl('-n', NAMESPACE, ...create))
  assert.match(metadata.name, /^my-node-config-[a-z0-9]+$/)
  return readSource(admin, metadata.name)
}

async function assign(admin: Administrator, { name, namespace, kubeletConfigKey }: Source): Promise<void> {
  await admin.assignSource({ name, namespace, kubeletConfigKey })
}

async function readSource(admin: Administrator, name: string): Promise<Source> {
  const { metadata } = JSON.parse(await admin.kubectl('-n', NAMESPACE, 'get', 'configmap', name, '-o', 'json'))
  return { kubeletConfigKey: 'kubelet', name, namespace: NAMESPACE, resourceVersion: metadata.resourceVersion, uid: metadata.uid }
}

async function configOf(admin: Administrator, { name }: Source): Promise<string> {
  return JSON.parse(await admin.kubectl('-n', NAMESPACE, 'get', 'configmap', name, '-o', 'json')).data.kubelet
}

/**
 * Each line is a sentence with its facts, which fits the width of a terminal twice, and what people
 * search for is there, in its order.
 */
function tellsTheStory(lines: readonly JournalLine[], first: Source, { assigned, checkpointed, status, removed }: Channel): void {
  for (const { text, priority } of lines) {
    assert.doesNotMatch(text, /[{}\n]|^<|^\d\d:/)
    // A refusal of the API server is quoted whole.
    assert(text.length <= 200 || /: 403: /.test(text), text)
    assert([3, 4, 6].includes(priority), text)
  }
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/${first.name}`
  const version = `UID: ${first.uid}, ResourceVersion: ${first.resourceVersion}`
  inOrder(lines, [
    assigned,
    `attempting to download ${path}`,
    `successfully downloaded ${path}, ${version}`,
    `${checkpointed}, will checkpoint source and update config if necessary`,
    ...status,
    `updated last-known-good config to ${path}, ${version}`,
    'assigned ConfigMap was updated',
    `${removed}, will reset assigned and last-known-good to defaults`,
  ])
}

/** The words of the journal about the channel that assigns. */
interface Channel {
  readonly assigned: string
  readonly checkpointed: string
  readonly status: readonly string[]
  readonly removed: string
}

/** As kubelet 1.20 said it. */
const BY_CONFIG_SOURCE: Channel = {
  assigned: 'Node.Spec.ConfigSource was updated',
  checkpointed: 'Node.Spec.ConfigSource is non-empty',
  status: ['updating Node.Status.Config'],
  removed: 'Node.Spec.ConfigSource is empty',
}

function byAnnotation({ namespace, name, kubeletConfigKey }: Source): Channel {
  const by = 'assigned by annotation kubelet-cfg-agent.io/config-source of the Node'
  return { assigned: `${namespace}/${name}:${kubeletConfigKey} is ${by}`, checkpointed: by, status: [], removed: `no longer ${by}` }
}

function inOrder(lines: readonly JournalLine[], wanted: readonly string[]): void {
  let from = 0
  for (const text of wanted) {
    const found = lines.findIndex(({ msg }, index) => index >= from && msg.startsWith(text))
    assert(
      found >= 0,
      `the journal has, after its line ${from}, no line ${JSON.stringify(text)}:\n${lines.map(({ msg }) => msg).join('\n')}`,
    )
    from = found + 1
  }
}
