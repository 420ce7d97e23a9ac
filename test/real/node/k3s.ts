// SPDX-License-Identifier: Apache-2.0
/**
 * A node whose kubelet is a part of k3s: the agent adds one drop-in to its directory, and restarts
 * k3s. What stands for k3s is `k3s-stand-in.ts`; systemd, containerd and kubelet are real.
 */
import { strict as assert } from 'node:assert'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { eventually } from '../lab/eventually.ts'
import { CommandError } from '../lab/processes.ts'
import { K3S_CONFIG_DIR, K3S_DEFAULTS, K3S_KUBECONFIG, K3S_UNIT } from './k3s-stand-in.ts'
import type { Node } from './node.ts'
import { onEachKubelet, type Stage } from './proof/stage.ts'

/** The value of k3s, which sets no maxPods. */
const PROVIDED = 110
const SETTINGS = { TRIAL_DURATION: '5s', RESTARTS_PER_HOUR: '60' }
/** As docs/distributions.md has them. */
const SETTINGS_FILE = stringify({
  apiVersion: 'kubelet-cfg-agent.io/v1alpha1',
  kind: 'AgentConfiguration',
  kubeletUnit: `${K3S_UNIT}.service`,
  activation: 'drop-in',
  kubeletConfigDir: K3S_CONFIG_DIR,
  kubeconfig: K3S_KUBECONFIG,
})
const OPTIONS = { unit: 'k3s', agentService: [`ReadWritePaths=-${K3S_CONFIG_DIR}`] } as const
const BACK_MS = 90_000

export function addK3sScenarios(program: string): void {
  onEachKubelet(program, ['new'], 'kubelet is a part of k3s', 'k3s', SETTINGS, playK3s, OPTIONS)
}

async function playK3s(stage: Stage): Promise<void> {
  const { step, node, admin } = stage
  await step('the agent is told of k3s', async () => {
    mkdirSync(node.host('/etc/kubelet-cfg-agent'), { recursive: true })
    writeFileSync(node.host('/etc/kubelet-cfg-agent/config.yaml'), SETTINGS_FILE)
    await node.systemctl('restart', 'kubelet-cfg-agent')
  })
  await step('check knows k3s, and what the agent will add', async () => {
    await node.untilRuns(PROVIDED)
    const { stdout } = await node.command('check')
    assert.match(stdout, /^ok +distribution +looks like k3s: activation drop-in fits; /m)
    assert.match(stdout, /^ok +drop-in +kubelet has --config-dir: the agent adds \S+90-kubelet-cfg-agent\.conf/m)
    assert.match(stdout, /^ok +kubelet +process \d+ runs \S+00-k3s-defaults\.conf; the next start uses its local config/m)
    const { MainPID } = await node.show(K3S_UNIT, 'MainPID')
    assert.equal((await node.exec('cat', `/proc/${MainPID}/cmdline`)).stdout, '/usr/local/bin/k3s agent\0', 'a title, as k3s has it')
  })
  await step('preflight has the version of k3s and its rules, and says that kubelet itself was not asked', async () => {
    const fine = await validate(node, part({ maxPods: 50 }))
    assert.match(fine, /kubelet is a part of \/usr\/local\/bin\/k3s and cannot be run alone, so kubelet itself did not check the config/)
    assert.match(fine, new RegExp(`against the rules of kubelet 1\\.${node.kubeletMinor}\\.`))
    assert.match(await validate(node, part({ maxPods: -1 })), /maxPods/)
  })
  const before = await node.configz()
  const good = await step('one field is assigned and promoted: k3s is restarted once, and every other field stays', async () => {
    const source = await stage.putText(part({ maxPods: 51 }))
    await stage.assign()
    await stage.untilPromoted(source)
    assert.deepEqual(await node.configz(), { ...before, maxPods: 51 })
    assert.equal(await node.kubeletStarts(), 2)
    return source
  })
  await step('at a boot k3s writes its file anew: kubelet runs that with the assigned field', async () => {
    writeFileSync(node.host(K3S_DEFAULTS), node.config({ ...LIKE_BEFORE, podsPerCore: 7 }))
    await node.reboot()
    await node.untilRuns(51)
    assert.deepEqual(await node.configz(), { ...before, maxPods: 51, podsPerCore: 7 })
  })
  await step('one that crashes kubelet, and k3s and containerd with it: back on last-known-good', async () => {
    const crashing = await stage.putText(part({ maxPods: 52, ...node.crash.changes }))
    await stage.untilRolledBack(crashing, good, new RegExp(node.crash.lastWords), BACK_MS)
    await node.untilRuns(51, BACK_MS)
    await node.untilHealthy()
  })
  await step('an edit heals it, and its trial proves what it does elsewhere', async () => {
    await stage.configureAgent({ TRIAL_DURATION: '30s' })
    const healed = await stage.putText(part({ maxPods: 53 }))
    await eventually(async () => provenKinds(await node.command('status', '-o', 'json')), {
      what: 'the evidence is at yes',
      timeoutMs: 60_000,
    })
    await stage.untilPromoted(healed)
    assert.equal((await node.configz()).maxPods, 53)
    await stage.configureAgent({})
  })
  await step('k3s is killed: systemd starts it again, and the agent changes nothing', async () => {
    await node.systemctl('kill', '--signal=KILL', K3S_UNIT)
    await eventually(async () => (await node.show(K3S_UNIT, 'NRestarts')).NRestarts === '1', { what: 'k3s runs again', timeoutMs: 60_000 })
    await node.untilRuns(53)
    await admin.untilCondition({ status: 'True', reason: 'Promoted' })
  })
  await step('the assignment is removed: so is the file, and the way back to it once local is known to work', async () => {
    await stage.unassign()
    await node.untilRuns(PROVIDED)
    assert.deepEqual(await node.configz(), { ...before, podsPerCore: 7 })
    const onlyProvided = () => dropIns(node).join() === '00-k3s-defaults.conf'
    await eventually(onlyProvided, { what: 'nothing of the agent is left beside the files of k3s', timeoutMs: BACK_MS })
  })
  await step('release removes it too, and k3s goes on', async () => {
    await stage.putText(part({ maxPods: 55 }))
    await stage.assign()
    await node.untilRuns(55)
    await admin.untilCondition({ reason: 'Promoted' })
    await node.systemctl('stop', 'kubelet-cfg-agent')
    const { stdout } = await node.withoutRestart(() => node.command('release'))
    assert.match(stdout, /^Kubelet's next start uses local: .* is in a directory that belongs to this machine\.$/m)
    assert.deepEqual(dropIns(node), ['00-k3s-defaults.conf'])
    await node.systemctl('restart', K3S_UNIT)
    await node.untilRuns(PROVIDED)
  })
}

/** Fields that `node.config()` has otherwise than the file of k3s on this node. */
const LIKE_BEFORE = {
  enforceNodeAllocatable: ['none'],
  containerRuntimeEndpoint: 'unix:///run/k3s/containerd/containerd.sock',
  healthzBindAddress: '127.0.0.1',
}

function provenKinds({ stdout }: { readonly stdout: string }): boolean {
  const evidence: readonly { readonly kind: string; readonly answer: string }[] = JSON.parse(stdout).evidence
  const proven = evidence.filter(({ answer }) => answer === 'yes').map(({ kind }) => kind)
  return ['healthz', 'lease', 'ready', 'runtime', 'serving'].every((kind) => proven.includes(kind))
}

function part(fields: object): string {
  return stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields })
}

function dropIns(node: Node): readonly string[] {
  return readdirSync(node.host(K3S_CONFIG_DIR))
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
