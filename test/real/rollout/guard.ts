// SPDX-License-Identifier: Apache-2.0
/**
 * A rollout that hurts a node, halted by the Job of deploy/recipes/rollout-job.yaml: by what its
 * pod runs, with the token and the rights that the file gives it. Agents heed the halt, the policy
 * does not stand in its way, and `retry` ends it.
 */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { eventually } from '../lab/eventually.ts'
import { CommandError, run, startDaemon } from '../lab/processes.ts'
import type { Step } from '../lab/runner.ts'
import { PAUSED_ANNOTATION } from '../node-words.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { requestToken } from '../rights/tokens.ts'
import { type Fleet, maxPods, NAMESPACE } from './fleet.ts'
import { CANARY_LABEL, count } from './words.ts'

const FILE = 'recipes/rollout-job.yaml'
/** One of three nodes starts it, and two are to wait. */
const PLAN = 'waves: [50%], witnesses: 2, maxSilent: 0, maxVetoes: 2, spread: 2s'
const OTHERS = ['n1', 'n2']
const READY = { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }] }
const MINUTE = 60_000

export async function playGuard(step: Step, fleet: Fleet, program: string): Promise<void> {
  const { plane } = fleet
  await step('three nodes that are Ready', async () => {
    await fleet.add('canary', { labels: { [CANARY_LABEL]: 'true' }, status: READY })
    await fleet.addAll(OTHERS, { status: READY })
    await fleet.untilAllRun(41, undefined, 3 * MINUTE)
  })
  const guard = await step('the rights of the Job, and its token', () => openGuard(fleet, program))
  await step('the canary proves an edit, while the others are paused', async () => {
    await plane.kubectl(['annotate', 'nodes', ...OTHERS, `${PAUSED_ANNOTATION}=true`])
    for (const name of OTHERS) await fleet.machine(name).agent.untilSays(/^paused by annotation/)
    await fleet.write(maxPods(51), { plan: PLAN })
    await fleet.until('stage 1 is open', ({ stage }) => stage === 1, 3 * MINUTE)
    await fleet.machine('canary').untilRuns(51)
  })
  await step('the canary is gone: what the Job runs halts the rollout, and exits with 1', async () => {
    const watching = guard.start()
    await eventually(() => /"started":1/.test(watching.out()), { what: 'it has seen that the canary started' })
    await plane.kubectl(['delete', 'node', 'canary', '--wait=false'])
    await eventually(() => watching.ended() === 'exit status 1', { what: 'it exits with 1' })
    assert.match(watching.out(), /"hurt":\[\{"node":"canary","how":"gone"\}\]/)
    const record = await fleet.read()
    assert.equal(count(record, 'veto', 1), 2, JSON.stringify([...record.said]))
  })
  await step('the agents do not start it, and say why', async () => {
    const { resourceVersion } = JSON.parse(await plane.read(`/api/v1/namespaces/${NAMESPACE}/configmaps/${fleet.config}`)).metadata
    const restarted = fleet.mark()
    await plane.kubectl(['annotate', 'nodes', ...OTHERS, `${PAUSED_ANNOTATION}-`])
    await fleet.untilHeld(resourceVersion, /halted.*rollout status halted it: 1 of 1 nodes hurt, limit 0: canary gone/, ['canary'])
    assert.deepEqual(restarted(), [])
  })
  await step('what it runs may do nothing else', async () => {
    assert.match(await guard.refused('rollout', 'retry', fleet.config), /the right to patch configmaps .* is missing/)
    assert.match(await guard.refused('assign', fleet.config, 'n1', '--yes'), /the right to get nodes .* is missing/)
  })
  await step('after retry it goes on, without the vetoes', async () => {
    await plane.kubectl([
      '-n',
      NAMESPACE,
      'annotate',
      '--overwrite',
      'configmap',
      fleet.config,
      `kubelet-cfg-agent.io/rollout-plan=${PLAN}, retry: 1`,
    ])
    await fleet.untilAllRun(51, OTHERS, 5 * MINUTE)
    assert.equal(count(await fleet.read(), 'veto'), 0)
  })
}

interface Guard {
  start(): { out(): string; ended(): string | undefined }
  /** What a command of the plugin says that it may not do. */
  refused(...args: string[]): Promise<string>
}

async function openGuard({ plane }: Fleet, program: string): Promise<Guard> {
  const objects = parseAllDocuments(readFileSync(join(DEPLOY, FILE), 'utf8')).map((document) => document.toJS())
  const of = (kind: string) => objects.find((object) => object.kind === kind)
  await plane.kubectl(['apply', '-f', join(DEPLOY, FILE)])
  const directory = join(plane.directory, 'guard')
  await mkdir(directory)
  const [kubeconfig, tokenFile, plugin] = ['kubeconfig', 'token', 'kubectl-kubelet_config'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  const config = parse(of('ConfigMap').data.kubeconfig)
  Object.assign(config.clusters[0].cluster, { server: plane.server, 'certificate-authority': plane.caFile })
  config.users[0].user.tokenFile = tokenFile
  await writeFile(kubeconfig, JSON.stringify(config))
  await writeFile(tokenFile, await requestToken(plane, of('ServiceAccount').metadata.name), { mode: 0o600 })
  await symlink(program, plugin)
  const { args } = of('Job').spec.template.spec.containers[0]
  const own: string[] = args.map((arg: string) => (arg === '2%' ? '0' : arg.startsWith('/') ? kubeconfig : arg))
  const logFile = join(directory, 'log')
  return {
    start() {
      const daemon = startDaemon('guard', plugin, [...own, '-o', 'json'], logFile)
      return { out: () => readFileSync(logFile, 'utf8'), ended: () => daemon.ended() }
    },
    async refused(...line) {
      const error: unknown = await run(plugin, [...line, '--kubeconfig', kubeconfig]).catch((reason: unknown) => reason)
      assert(error instanceof CommandError, `${line.join(' ')} is not refused`)
      return error.stderr
    },
  }
}
