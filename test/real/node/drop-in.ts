// SPDX-License-Identifier: Apache-2.0
/**
 * A node whose provider writes kubelet's config file anew at each boot, and gives kubelet
 * `--config-dir`: the agent adds one drop-in, and touches no other file.
 */
import { strict as assert } from 'node:assert'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { eventually } from '../lab/eventually.ts'
import { findFreePort } from '../lab/ports.ts'
import { CommandError } from '../lab/processes.ts'
import { findDeb } from './install-agent.ts'
import { LOCAL_CONFIG, NODEADM_DROP_IN, NODEADM_PODS as PROVIDED, UP_TO_LOADING } from './kubeadm-files.ts'
import type { Node } from './node.ts'
import { onEachKubelet, type Stage } from './proof/stage.ts'

const DIRECTORY = dirname(NODEADM_DROP_IN)
const OWN = join(DIRECTORY, '90-kubelet-cfg-agent.conf')
const SETTINGS_FILE = '/etc/kubelet-cfg-agent/config.yaml'
const LATER = join(DIRECTORY, '99-site.conf')
const AGENT = 'kubelet-cfg-agent'
const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '2s', RESTARTS_PER_HOUR: '60' }
const OPTIONS = { unit: 'nodeadm', agentService: [`ReadWritePaths=-${DIRECTORY}`] } as const
const BACK_MS = 90_000

export function addDropInScenarios(program: string): void {
  onEachKubelet(program, ['new'], 'one drop-in beside those of the provider', 'drop-in', SETTINGS, playDropIn, OPTIONS)
}

async function playDropIn(stage: Stage): Promise<void> {
  const { step, node, admin } = stage
  const provided = look(node)
  await step('the agent is told to use a drop-in', async () => {
    mkdirSync(dirname(node.host(SETTINGS_FILE)), { recursive: true })
    writeFileSync(node.host(SETTINGS_FILE), 'apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: AgentConfiguration\nactivation: drop-in\n')
    await node.systemctl('restart', AGENT)
  })
  const before = await step('kubelet runs with what the provider wrote, and check says what the agent will add', async () => {
    await node.untilRuns(PROVIDED)
    assert.match(
      (await node.command('check')).stdout,
      /^ok +drop-in +kubelet has --config-dir: the agent adds \S+90-kubelet-cfg-agent\.conf/m,
    )
    return node.configz()
  })
  const good = await step('one field is assigned and promoted: every other stays as the provider has it', async () => {
    const source = await stage.putText(part({ maxPods: 51 }))
    await stage.assign()
    await stage.untilPromoted(source)
    assert.deepEqual(await node.configz(), { ...before, maxPods: 51 })
    assert.deepEqual({ ...look(node), [OWN]: undefined }, { ...provided, [OWN]: undefined })
    assert.match(look(node)[OWN] ?? '', /maxPods: 51/)
    return source
  })
  /** For which config on which kubelet the last trial has passed. */
  const proven = () => node.read('meta', 'proven')
  await step('at a boot the provider writes its file anew: without the agent, kubelet runs that with the assigned field', async () => {
    writeFileSync(node.host(LOCAL_CONFIG.nodeadm), node.config({ podsPerCore: 7, enforceNodeAllocatable: ['none'] }))
    await node.systemctl('disable', AGENT)
    await node.reboot()
    await node.untilRuns(51)
    assert.deepEqual(await node.configz(), { ...before, maxPods: 51, podsPerCore: 7 })
    assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'inactive')
  })
  await step('the agent starts again: that is another trial, without a restart', async () => {
    const earlier = proven()
    await node.withoutRestart(async () => {
      await node.systemctl('enable', '--now', AGENT)
      await eventually(async () => proven() !== earlier, { what: 'it has passed a trial with the new file', timeoutMs: 60_000 })
      await stage.untilPromoted(good)
    })
  })
  await step('a drop-in of another program moves the health port: the agent asks there', async () => {
    const port = await findFreePort()
    const earlier = proven()
    writeFileSync(node.host(LATER), part({ healthzPort: port }))
    await node.systemctl('restart', 'kubelet')
    await node.untilRuns(51)
    await eventually(async () => proven() !== earlier, { what: 'it has passed a trial with the drop-in', timeoutMs: 60_000 })
    assert.equal((await node.configz()).healthzPort, port)
    rmSync(node.host(LATER))
    await node.systemctl('restart', 'kubelet')
    await node.untilHealthy()
    await stage.untilPromoted(good)
  })
  await step('one that crashes kubelet: back on last-known-good', async () => {
    const crashing = await stage.putText(part({ maxPods: 52, ...node.crash.changes }))
    await stage.untilRolledBack(crashing, good, new RegExp(node.crash.lastWords), BACK_MS)
    await node.untilRuns(51, BACK_MS)
  })
  await step('a file that sorts later: preflight names it, and refuses what it leaves nothing of', () => playLater(stage))
  await step('the assignment is removed: so is the file, and kubelet runs with what the provider wrote', async () => {
    await stage.unassign()
    await node.untilRuns(PROVIDED)
    assert.deepEqual(await node.configz(), { ...before, podsPerCore: 7, registryBurst: 21 })
    assert.equal(look(node)[OWN], undefined)
  })
  await step('release removes it too, and kubelet goes on', async () => {
    await stage.putText(part({ maxPods: 55 }))
    await stage.assign()
    await node.untilRuns(55)
    await admin.untilCondition({ reason: 'Promoted' })
    await node.systemctl('stop', AGENT)
    const { stdout } = await node.withoutRestart(() => node.command('release'))
    assert.match(stdout, /^Kubelet's next start uses local: .* is in a directory that belongs to this machine\.$/m)
    assert.equal(look(node)[OWN], undefined)
    await node.systemctl('restart', 'kubelet')
    await node.untilRuns(PROVIDED)
  })
  if ((await findDeb()) !== undefined) await playPurge(stage)
}

async function playPurge({ step, node, admin }: Stage): Promise<void> {
  await step('the package is purged: nothing of the agent is left beside the files of the provider', async () => {
    await node.systemctl('start', AGENT)
    await node.untilRuns(55)
    await admin.untilCondition({ reason: 'Promoted' })
    await node.withoutRestart(() => node.exec('apt-get', 'purge', '--yes', AGENT))
    assert.deepEqual(
      readdirSync(node.host(DIRECTORY)),
      [NODEADM_DROP_IN, LATER].map((path) => basename(path)),
    )
    await node.systemctl('restart', 'kubelet')
    await node.untilRuns(PROVIDED)
  })
}

async function playLater(stage: Stage): Promise<void> {
  const { node, admin } = stage
  writeFileSync(node.host(LATER), part({ registryBurst: 21 }))
  const partly = part({ maxPods: 53, registryBurst: 11 })
  const source = await stage.putText(partly)
  await node.untilRuns(53)
  await stage.untilPromoted(source)
  assert.equal((await node.configz()).registryBurst, 21)
  const layers = / {2}ConfigMap \S+\n {4}maxPods\n {2}\S+99-site\.conf\n {4}registryBurst$/m
  assert.match((await node.command('status')).stdout, layers)
  const said = await validate(node, partly)
  assert.match(said, /registryBurst.*99-site\.conf/)
  assert.match(said, / {2}\/root\/candidate\.yaml\n {4}maxPods\n {2}\S+99-site\.conf\n {4}registryBurst$/m)
  const nothing = await stage.putText(part({ registryBurst: 12 }))
  await node.withoutRestart(() =>
    admin.untilCondition({ status: 'False', reason: 'Refused', message: new RegExp(`^${nothing} .*${basename(LATER)}`) }),
  )
}

function part(fields: object): string {
  return stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields })
}

/** The output of `validate`, whatever its exit status. */
async function validate(node: Node, text: string): Promise<string> {
  writeFileSync(node.host('/root/candidate.yaml'), text)
  try {
    return (await node.command('validate', '/root/candidate.yaml')).stdout
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return error.stdout
  }
}

/** Undefined: there is no such file. */
function look(node: Node): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries([LOCAL_CONFIG.nodeadm, NODEADM_DROP_IN, OWN].map((path) => [path, readOrNothing(node.host(path))]))
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
