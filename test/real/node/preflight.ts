// SPDX-License-Identifier: Apache-2.0
/**
 * Preflight on a real node, with the node's own kubelet as judge and the agent in the sandbox of
 * its unit: what would break kubelet never reaches it, what a person allows does, and the commands
 * say the same as the agent. One node goes through it all; only the last part restarts kubelet by
 * hand, with a flag.
 */
import { strict as assert } from 'node:assert'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parse } from 'yaml'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { CommandError } from '../lab/processes.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { labels, type Source } from '../records.ts'
import { VALIDATE_ERROR } from '../texts.ts'
import { assignNew, promoteGood } from './assign.ts'
import { BRICK } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const NAME = 'preflight-node'
const NO_CGROUP = 'cgroupRoot names a cgroup that does not exist: kubelet does not start'
const WORDS = 'failed to run Kubelet: failed to create kubelet: failed to initialize container log manager: invalid MaxFiles 1, must be > 1'
const AUTHORITY = '/etc/kubernetes/pki/later.crt'
const STATIC_PODS = '/etc/kubernetes/other-manifests'
/** Until the agent asks whether the node is cordoned: a minute and a quarter, and then a look. */
const CORDON_SEEN_MS = 90_000

export function addPreflightScenarios(plane: ControlPlane, program: string): void {
  const options = { name: NAME, settings: { TRIAL_DURATION: '1s', SPREAD: '0s', RESTARTS_PER_HOUR: '60' } }
  scenario('node: preflight: nothing that would break kubelet reaches it', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      await step('the agent runs as its unit has it: without a capability, on a system that is read-only', () => isSandboxed(node))
      const good = await step('a good one is promoted, without a remark', async () => {
        const source = await promoteGood(node, admin)
        assert.deepEqual(
          (await node.journal()).flatMap(({ priority, msg }) => (priority <= 4 ? [msg] : [])),
          [],
        )
        return source
      })
      await refusesBrick(step, node, admin, good)
      await takesUpWhatIsThere(step, node, admin, good)
      await heedsPolicy(step, node, admin)
      await answersCommands(step, node, admin)
      await comparesWhatRuns(step, node, admin)
    }),
  )
}

async function isSandboxed(node: Node): Promise<void> {
  const { MainPID, NoNewPrivileges, ProtectSystem } = await node.show('kubelet-cfg-agent', 'MainPID', 'NoNewPrivileges', 'ProtectSystem')
  assert.deepEqual({ NoNewPrivileges, ProtectSystem }, { NoNewPrivileges: 'yes', ProtectSystem: 'strict' })
  const { stdout } = await node.exec('cat', `/proc/${MainPID}/status`)
  assert.match(stdout, /^CapEff:\s+0+$/m)
  assert.match(stdout, /^Seccomp:\s+2$/m)
}

/**
 * Once because of what the node is like, and once in the words of kubelet, which had to start in
 * its sandbox to say so.
 */
async function refusesBrick(step: Step, node: Node, admin: Administrator, good: Source): Promise<void> {
  const refused: { source: Source; detail: RegExp }[] = []
  for (const { what, name, changes, detail } of [
    {
      what: 'the config that bricks nodes is refused, and kubelet is not restarted',
      name: 'brick',
      changes: BRICK,
      detail: `.*${quoteForRegExp(NO_CGROUP)}.*`,
    },
    {
      what: 'so is one that only kubelet itself knows to be fatal, and only when it starts',
      name: 'late',
      changes: node.crash.changes,
      detail: quoteForRegExp(WORDS),
    },
  ]) {
    await step(what, () =>
      node.withoutRestart(async () => {
        const startedAt = performance.now()
        const source = await assignNew(node, admin, name, changes)
        await admin.untilStatus({ assigned: source, active: good, lastKnownGood: good, error: VALIDATE_ERROR })
        console.log(`    after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
        refused.push({ source, detail: new RegExp(`${detail}$`) })
      }),
    )
  }
  await step('an event each says why', async () => {
    const rejections = async () => {
      const found = (await admin.events()).filter(({ reason }) => reason === 'KubeletConfigRejected')
      return found.length === refused.length && found
    }
    const events = await eventually(rejections, { what: 'the events are there' })
    for (const [at, { source, detail }] of refused.entries()) {
      assert.equal(events[at]?.type, 'Warning')
      assert(events[at]?.message.startsWith(`Kubelet config refused before a restart: ${labels(source)}: `), events[at]?.message)
      assert.match(events[at]?.message ?? '', detail)
    }
  })
  await step('so does the journal, as an error with its source, and nothing else is one', async () => {
    const errors = (await node.journal()).filter(({ priority }) => priority <= 3)
    assert.deepEqual(
      errors.map(({ fields }) => fields.source),
      refused.map(({ source }) => source),
    )
    for (const [at, { detail }] of refused.entries()) {
      assert.match(errors[at]?.msg ?? '', /^failed to validate config: /)
      assert.match(errors[at]?.msg ?? '', detail)
    }
  })
  await step('and status on the node', async () => {
    const { stdout } = await node.command('status')
    assert.match(stdout, new RegExp(`^Error +failed to validate config: .*${quoteForRegExp(WORDS)}$`, 'm'))
    assert.match(stdout, new RegExp(`^refused +kube-system/${NAME}-late:kubelet .*validate: ${quoteForRegExp(WORDS)}$`, 'm'))
  })
}

async function takesUpWhatIsThere(step: Step, node: Node, admin: Administrator, good: Source): Promise<void> {
  const x509 = { clientCAFile: AUTHORITY }
  const changes = { maxPods: 52, authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509 } }
  const wanting = await step('one that names a file which is not there is refused, and the file is named', () =>
    node.withoutRestart(async () => {
      const source = await assignNew(node, admin, 'wanting', changes)
      await admin.untilStatus({ assigned: source, active: good, lastKnownGood: good, error: VALIDATE_ERROR })
      await node.untilSays(new RegExp(`^failed to validate config: .*${quoteForRegExp(AUTHORITY)}`))
      return source
    }),
  )
  await step('the file is put there, a person says retry: kubelet runs it', async () => {
    await node.exec('cp', '/etc/kubernetes/pki/ca.crt', AUTHORITY)
    await node.command('retry')
    await admin.untilStatus({ assigned: wanting, active: wanting, lastKnownGood: wanting })
    await node.untilRuns(52)
  })
}

async function heedsPolicy(step: Step, node: Node, admin: Administrator): Promise<void> {
  const before = await admin.source('wanting')
  const changes = { maxPods: 52, staticPodPath: STATIC_PODS }
  await step('guarded: the path of static pods must not change, and the rule is named', () =>
    node.withoutRestart(async () => {
      await node.exec('mkdir', STATIC_PODS)
      await reconfigure(node, { changePolicy: 'guarded' })
      const source = await assignNew(node, admin, 'moved', changes)
      await admin.untilStatus({ assigned: source, active: before, lastKnownGood: before, error: VALIDATE_ERROR })
      await node.untilSays(/^failed to validate config: .*staticPodPath must not change on this node: the policy guarded does not allow it/)
    }),
  )
  const moved = await step('allowChanges makes an exception, and nobody has to say retry', async () => {
    await reconfigure(node, { changePolicy: 'guarded', allowChanges: ['staticPodPath', 'authentication'] })
    const source = await admin.source('moved')
    await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
    assert.equal((await node.configz()).staticPodPath, STATIC_PODS)
    return source
  })
  const drained = await step('requireDrain: it waits for the node to be drained', () =>
    node.withoutRestart(async () => {
      await reconfigure(node, { requireDrain: ['maxPods'] })
      const source = await assignNew(node, admin, 'drained', { maxPods: 53, staticPodPath: STATIC_PODS })
      await node.untilSays(/^drain: kube-system\/preflight-node-drained:kubelet@\d+ waits until the node is drained: it changes maxPods$/)
      await admin.untilStatus({ assigned: source, active: moved, lastKnownGood: moved })
      return source
    }),
  )
  await step('cordoned with nothing left on it, it is used', async () => {
    await admin.kubectl('cordon', NAME)
    await admin.untilStatus({ assigned: drained, active: drained, lastKnownGood: drained }, CORDON_SEEN_MS + 60_000)
    await node.untilRuns(53)
    await admin.kubectl('uncordon', NAME)
  })
}

async function answersCommands(step: Step, node: Node, admin: Administrator): Promise<void> {
  const running = { maxPods: 53, staticPodPath: STATIC_PODS }
  const place = (name: string, changes: object): string => {
    const path = `/root/${name}.yaml`
    writeFileSync(node.host(path), node.config({ ...running, ...changes }))
    return path
  }
  await step('validate: what kubelet takes', async () => {
    const { status, stdout } = await ask(node, 'validate', place('good', { maxPods: 54 }))
    assert.equal(status, 0, stdout)
    assert.match(stdout, /^kubelet +accepted +kubelet 1\.20\.2 loaded and validated the config$/m)
    assert.match(stdout, /^change +accepted +1 field changes$/m)
    assert.match(stdout, /^\/root\/good\.yaml: accepted/m)
  })
  await step('validate: what it refuses, with its words; a typing error beside it is a warning', async () => {
    const { status, stdout } = await ask(node, 'validate', place('bad', { featureGates: { NoSuchGate: true }, maxPod: 54 }))
    assert.equal(status, 1, stdout)
    assert.match(stdout, /unrecognized feature gate: NoSuchGate/)
    assert.match(stdout, /warning: unknown field maxPod: .*\[fields\/unknown-key\]/)
  })
  await step('validate --deep: what it refuses only at its start', async () => {
    const late = place('late', node.crash.changes)
    assert.equal((await ask(node, 'validate', late)).status, 0)
    const { status, stdout } = await ask(node, 'validate', '--deep', late)
    assert.equal(status, 1, stdout)
    assert.match(stdout, new RegExp(quoteForRegExp(WORDS)))
  })
  await step('validate: a kubelet that is not there cannot judge', async () => {
    const { status, stdout } = await ask(node, 'validate', '--kubelet', '/opt/none/kubelet', '/root/good.yaml')
    assert.equal(status, 2, stdout)
  })
  await step('diff: what runs, and what would', async () => {
    const differs = await ask(node, 'diff', '/root/good.yaml')
    assert.equal(differs.status, 1, differs.stderr)
    assert.match(differs.stdout, /^~ +maxPods +53 +54 +pod-admission +drain/m)
    assert.equal((await ask(node, 'diff')).status, 0)
    assert.equal((await ask(node, 'diff', '/root/none.yaml')).status, 2)
  })
  await step('plan: nothing to do, and what it would do when it is paused', async () => {
    const now = await ask(node, 'plan')
    assert.equal(now.status, 0, now.stderr)
    assert.match(now.stdout, /^The agent would do nothing\.$/m)
    await node.command('pause')
    await node.untilSays(/^paused: |^settled: /)
    await admin.editConfigMap('drained', node.config({ ...running, maxPods: 55 }))
    const later = await ask(node, 'plan')
    assert.equal(later.status, 0, later.stderr)
    assert.match(later.stdout, /^After resume, it would/m)
    assert.match(later.stdout, /^~ +maxPods +53 +55/m)
    await admin.editConfigMap('drained', node.config(running))
    await node.command('resume')
    const same = await admin.source('drained')
    await admin.untilStatus({ assigned: same, active: same, lastKnownGood: same })
  })
  await step("generate: not with the node's own identity; with the administrator's it is a config that kubelet takes", async () => {
    const refused = await ask(node, 'generate')
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /nodes\/proxy/)
    const offline = await ask(node, 'generate', '--offline')
    assert.equal(offline.status, 0, offline.stderr)
    assert.equal(parse(offline.stdout).maxPods, 53)
    writeFileSync(node.host('/root/configz.json'), JSON.stringify({ kubeletconfig: await node.configz() }))
    const { status, stdout, stderr } = await ask(node, 'generate', '--from-file', '/root/configz.json')
    assert.equal(status, 0, stderr)
    assert.match(stderr, /create configmap node-config --from-file=kubelet=kubelet\.yaml\n/)
    writeFileSync(node.host('/root/generated.yaml'), stdout)
    const validated = await ask(node, 'validate', '/root/generated.yaml')
    assert.equal(validated.status, 0, validated.stdout)
  })
}

/** A flag of kubelet that wins over the config goes unnoticed otherwise. */
async function comparesWhatRuns(step: Step, node: Node, admin: Administrator): Promise<void> {
  const differs = /^kubelet's running config differs from its config file: /
  await step('without the right to read /configz that is said once, and nothing is compared', async () => {
    await node.untilSays(/^kubelet's running config is not compared with its config file: cannot read \/configz/)
    assert.equal(await node.timesSaid(/^kubelet's running config is not compared/), 1)
    assert.equal(await node.timesSaid(differs), 0)
  })
  await step('with the right, and a flag that overrides the config: one warning that names the flag', async () => {
    await grantConfigz(admin)
    const settled = /^settled: kube-system\/preflight-node-drained/
    const before = await node.timesSaid(settled)
    const flags = node.host('/etc/default/kubelet')
    mkdirSync(dirname(flags), { recursive: true })
    writeFileSync(flags, 'KUBELET_EXTRA_ARGS=--max-pods=33\n')
    await node.systemctl('restart', 'kubelet')
    await node.untilRuns(33)
    await node.untilSays(differs)
    await node.withoutRestart(() => node.untilSays(settled, before + 1))
    const said = (await node.journal()).filter(({ msg }) => differs.test(msg))
    assert.deepEqual(
      said.map(({ priority, msg }) => ({ priority, msg })),
      [{ priority: 4, msg: "kubelet's running config differs from its config file: maxPods is 33, not 53 (--max-pods)" }],
    )
  })
}

interface Answered {
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Whatever its exit status. */
async function ask(node: Node, ...args: readonly string[]): Promise<Answered> {
  try {
    return { ...(await node.command(...args)), status: 0 }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { stdout: error.stdout, stderr: error.stderr, status: error.exitStatus }
  }
}

/** As an administrator does it, with SIGHUP. */
async function reconfigure(node: Node, settings: object): Promise<void> {
  const path = '/etc/kubelet-cfg-agent/config.yaml'
  mkdirSync(dirname(node.host(path)), { recursive: true })
  const document = { apiVersion: 'kubelet-cfg-agent.io/v1alpha1', kind: 'AgentConfiguration', ...settings }
  writeFileSync(node.host(path), `${JSON.stringify(document)}\n`)
  await node.systemctl('reload', 'kubelet-cfg-agent')
}

/** Grants to this node the right that deploy/rbac/configz.yaml grants to all nodes. */
async function grantConfigz(admin: Administrator): Promise<void> {
  const file = new URL('../../../deploy/rbac/configz.yaml', import.meta.url)
  const role: unknown = parse(readFileSync(file, 'utf8'))
  assert(typeof role === 'object' && role !== null)
  await admin.create(role)
  const [kind, name] = ['ClusterRole', 'kubelet-cfg-agent:configz']
  await admin.kubectl('create', 'clusterrolebinding', `${NAME}-configz`, `--${kind.toLowerCase()}=${name}`, `--user=system:node:${NAME}`)
}

function quoteForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
