// SPDX-License-Identifier: Apache-2.0
/**
 * A node of Amazon EKS with AL2023, as far as it can be had without AWS: the real nodeadm writes
 * kubelet's files from MIME multipart user data, and the real cloud-init installs the rpm by dnf
 * from the same user data (`deploy/install/eks-user-data.mime`). Only where `npm run package` has
 * made an rpm.
 */
import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { ensureNodeadm } from '../lab/build-nodeadm.ts'
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { modernKubeletMinor } from '../lab/node-choice.ts'
import { makeScratch } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { becomeFedora } from './ansible-rpm.ts'
import { becomeEksImage, CLUSTER, KUBELET_FILES, PLUGIN_LOG } from './eks-files.ts'
import { findRpm } from './install-agent.ts'
import { serveInstanceMetadata } from './instance-metadata.ts'
import { kubeletConfig } from './kubeadm-files.ts'
import { type Node, type NodeOptions, withNode } from './node.ts'
import { hasInstallers, INSTALL } from './playbook.ts'
import { Stage } from './proof/stage.ts'
import { INSTALLERS } from './root.ts'
import { serveFile } from './serve-file.ts'

const AGENT = 'kubelet-cfg-agent'
/** The private DNS name of the instance. Its host name is another one. */
const NAME = 'ip-10-0-0-1.us-west-2.compute.internal'
const TOKEN = 'the-token-of-this-node'
const DROP_INS = `${KUBELET_FILES}/config.json.d`
const OWN_FILE = '90-kubelet-cfg-agent.conf'
/** Later versions of nodeadm call it 40-nodeadm.conf. */
const PROVIDED_FILE = '00-nodeadm.conf'
/** In the user data. */
const PROVIDED = 30
/** What a restart of nodeadm reads from then on. */
type ChangeUserData = (changes: object) => void
/** Of the agent: docs/drop-ins.md. */
const FIRST_WITH_DROP_IN = 32
const SETTINGS = { TRIAL_DURATION: '2s', RESTARTS_PER_HOUR: '60', SPREAD: '0s' }

export async function addEksScenario(program: string): Promise<void> {
  const rpm = hasInstallers() && modernKubeletMinor() >= FIRST_WITH_DROP_IN ? await findRpm() : undefined
  if (rpm === undefined) return
  scenario('node: eks: user data install the rpm on a node that nodeadm makes', async (step) => {
    const [nodeadm, metadata, served] = [await ensureNodeadm(), await serveInstanceMetadata(), await serveFile(rpm)]
    const plane = await step('an API server that takes the token of the node', startPlane)
    try {
      const example = await readFile(join(INSTALL, 'eks-user-data.mime'), 'utf8')
      const ours = example.replace(/https:\S+\.rpm/, served.url).replace(/^sha256=0+$/m, `sha256=${served.sha256}`)
      const change = (node: Node, changes: object = {}): void => {
        metadata.userData = withCluster(ours, plane, node, changes)
      }
      const prepare = async (node: Node): Promise<void> => {
        change(node)
        const image = { hostName: 'ip-10-0-0-1', metadataUrl: metadata.url, userData: metadata.userData, token: TOKEN }
        await becomeEksImage(node, image)
        await becomeFedora(node, rpm, join(plane.directory, 'distribution'))
      }
      const options: NodeOptions = {
        ...{ name: NAME, unit: 'nodeadm', agent: 'absent', extras: INSTALLERS, settings: SETTINGS },
        // With systemd 252 and cloud-init 22.4, as AL2023 has 252 and 22.2.
        suite: 'bookworm',
        programs: { '/usr/bin/nodeadm': nodeadm },
        prepare,
      }
      await withNode(plane, program, options, (node, admin) =>
        play(new Stage(step, plane, node, admin, 'new'), (changes) => change(node, changes)),
      )
    } finally {
      await plane.stop()
      served.close()
      metadata.close()
    }
  })
}

/** `aws eks get-token` gives a token, which AWS' authenticator knows, and here a file. */
async function startPlane(): Promise<ControlPlane> {
  const tokens = join(makeScratch(), 'tokens.csv')
  await writeFile(tokens, `${TOKEN},system:node:${NAME},1,system:nodes\n`)
  const plane = await startControlPlane({ release: 'new', apiserverFlags: [`--token-auth-file=${tokens}`] })
  await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-configmaps.yaml')])
  return plane
}

/**
 * Another part goes before those of the user, as EKS adds it for a managed node group. nodeadm
 * merges them.
 */
function withCluster(userData: string, plane: ControlPlane, { ports, kubeletMinor }: Node, changes: object = {}): string {
  const nodeConfig = {
    apiVersion: 'node.eks.aws/v1alpha1',
    kind: 'NodeConfig',
    spec: {
      cluster: {
        name: CLUSTER,
        apiServerEndpoint: plane.server,
        certificateAuthority: readFileSync(plane.caFile).toString('base64'),
        cidr: '10.96.0.0/16',
      },
      kubelet: {
        // What a container cannot give is left out. Nobody here approves a serving certificate.
        config: kubeletConfig(ports, kubeletMinor, {
          ...{ enforceNodeAllocatable: ['none'], cgroupDriver: 'cgroupfs', serverTLSBootstrap: false, protectKernelDefaults: false },
          // kubelet has a plugin, and no certificate.
          rotateCertificates: false,
          maxPods: PROVIDED,
          ...changes,
        }),
        // As later versions of nodeadm set it by themselves: the private DNS name.
        flags: [`--hostname-override=${NAME}`],
      },
    },
  }
  const part = `--BOUNDARY\nContent-Type: application/node.eks.aws\n\n---\n${stringify(nodeConfig)}\n`
  return userData.replace('--BOUNDARY\n', `${part}--BOUNDARY\n`)
}

async function play(stage: Stage, change: ChangeUserData): Promise<void> {
  const { step, node } = stage
  await step('nodeadm writes the files of kubelet, cloud-init installs the agent, nodeadm starts kubelet', async () => {
    assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
    await startedInOrder(node, ['nodeadm-config', AGENT, 'nodeadm-run', 'kubelet'])
    assert.equal(await node.kubeletStarts(), 1)
    assert.notEqual((await node.exec('cat', '/etc/hostname')).stdout.trim(), NAME)
  })
  const before = await step('the agent has the name of its Node from kubelet, and knows nodeadm', async () => {
    const { stdout } = await node.command('check')
    assert.match(stdout, /^ok +distribution +looks like Amazon EKS, AL2023: activation drop-in fits; /m)
    assert.match(stdout, new RegExp(`^ok +api server +answers; Node ${NAME} can be read$`, 'm'))
    assert.doesNotMatch(stdout, /^fail/m)
    await node.untilRuns(PROVIDED)
    return node.configz()
  })
  const good = await step('one field is assigned and promoted: the file of the agent comes after that of nodeadm', async () => {
    const source = await stage.putText(part({ maxPods: 51 }))
    await stage.assign()
    await stage.untilPromoted(source)
    assert.deepEqual(await node.configz(), { ...before, maxPods: 51 })
    const files = readdirSync(node.host(DROP_INS)).filter((name) => name.endsWith('.conf'))
    assert.deepEqual(files.sort(), [PROVIDED_FILE, OWN_FILE])
    return source
  })
  await step('each process of the agent has asked for one token, and so has kubelet', async () => {
    const calls = await callsOfPlugin(node)
    const ofAgent = calls.filter(([, group]) => group?.endsWith(`/${AGENT}.service`)).map(([caller]) => caller)
    assert(ofAgent.includes((await node.show(AGENT, 'MainPID')).MainPID), calls.join(' '))
    assert.equal(new Set(ofAgent).size, ofAgent.length, calls.join(' '))
    assert(
      calls.some(([, group]) => group?.endsWith('/kubelet.service')),
      calls.join(' '),
    )
  })
  await step('a boot: nodeadm writes its files anew, and kubelet is started once, with the assigned field', async () => {
    const starts = await node.kubeletStarts()
    await node.reboot()
    await node.untilRuns(51)
    await startedInOrder(node, ['nodeadm-config', 'nodeadm-run', 'kubelet'])
    await stage.untilPromoted(good)
    assert.equal(await node.kubeletStarts(), starts + 1)
  })
  const own = () => readFileSync(node.host(DROP_INS, OWN_FILE), 'utf8')
  await step('nodeadm runs again with other user data: its files change, that of the agent stays, and the agent says so', async () => {
    const written = own()
    change({ maxPods: 40, podsPerCore: 7 })
    await node.withoutRestart(() => node.systemctl('restart', 'nodeadm-config'))
    // Nothing wakes the agent for this: it looks each minute.
    await node.untilSays(
      / runs, but kubelet's binary, flags or drop-ins have changed since it started: trial at its next start$/,
      1,
      120_000,
    )
    assert.match(readFileSync(node.host(DROP_INS, PROVIDED_FILE), 'utf8'), /"maxPods": 40,\n[^}]*"podsPerCore": 7/)
    assert.equal(own(), written)
  })
  await step("kubelet's next start has both, and its trial", async () => {
    const proven = () => node.read('meta', 'proven')
    const earlier = proven()
    await node.systemctl('restart', 'kubelet')
    await node.untilRuns(51)
    await eventually(() => proven() !== earlier, { what: 'the config has passed a trial with the new files', timeoutMs: 60_000 })
    assert.deepEqual(await node.configz(), { ...before, maxPods: 51, podsPerCore: 7 })
    const { stdout } = await node.command('status')
    assert.match(
      stdout,
      new RegExp(`^ {2}\\S+${PROVIDED_FILE}\\n(?: {4}.*\\n)*?.*podsPerCore(?:.*\\n)+? {2}ConfigMap \\S+\\n {4}maxPods$`, 'm'),
    )
  })
}

/** Starts of units in this boot. */
async function startedInOrder(node: Node, units: readonly string[]): Promise<void> {
  const property = 'ExecMainStartTimestampMonotonic'
  const times = await Promise.all(units.map(async (unit) => Number((await node.show(unit, property))[property])))
  assert.deepEqual(
    [...times].sort((a, b) => a - b),
    times,
    units.map((unit, at) => `${unit} ${times[at]}`).join(', '),
  )
}

/** In this boot: the process that wanted a token, and its control group. */
async function callsOfPlugin(node: Node): Promise<string[][]> {
  const { stdout } = await node.exec('journalctl', '--boot', '--no-pager', '--output=cat', `--identifier=${PLUGIN_LOG}`)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '))
}

function part(fields: object): string {
  return stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields })
}
