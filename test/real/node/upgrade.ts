/**
 * Another kubelet takes the place of the one that runs: `preflight-upgrade` says before which of
 * the node's configs it refuses, and the agent leaves that config for one that it takes.
 */
import { strict as assert } from 'node:assert'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { listGates, stateOf } from '../../../src/kubelet/gates.ts'
import { ensureBinaries } from '../lab/build.ts'
import { ensureRelease, NEWEST_MINOR } from '../lab/build-modern-kubernetes.ts'
import { modernKubeletMinor, OLD_MINOR } from '../lab/node-choice.ts'
import { CommandError } from '../lab/processes.ts'
import type { Node } from './node.ts'
import { onEachKubelet } from './proof/stage.ts'

const OTHER = '/opt/other/kubelet'
const DROP_IN = '/etc/systemd/system/kubelet.service.d/20-other.conf'
const SETTINGS = { TRIAL_DURATION: '5s', RESTARTS_PER_HOUR: '60' }
const LEFT_MS = 240_000

interface Successor {
  /** The path of its binary. */
  find(): Promise<string>
  /** A gate that it does not know, and the one before does. */
  readonly gate: string
  /** Beside those that kubeadm wrote. */
  readonly flags: string
}

/**
 * The newest one follows one before it; a lab without another plays it with the oldest, which to
 * the agent is another binary.
 */
export function addUpgradeScenarios(program: string): void {
  const minor = modernKubeletMinor()
  const what = minor < NEWEST_MINOR ? `kubelet is upgraded to 1.${NEWEST_MINOR}` : 'another kubelet takes its place'
  onEachKubelet(program, ['new'], what, 'upgrade', SETTINGS, async (stage) => {
    const { step, node } = stage
    const { find, gate, flags } = minor < NEWEST_MINOR ? newestAfter(minor) : oldest()
    const first = await step('two configs are promoted, one after the other', () => stage.promoteFirst())
    const second = await stage.put({ maxPods: 52, featureGates: { [gate]: true } })
    await stage.untilPromoted(second)
    await step('preflight-upgrade says which one the other kubelet refuses, and restarts nothing', async () => {
      const successor = await find()
      await node.withoutRestart(() => foresees(node, successor, gate, first, second))
    })
    await step('the other kubelet is started: its trial begins anew, and ends on the config that it takes', async () => {
      await writeFile(node.host(DROP_IN), startOther(flags))
      await restart(node)
      const message = new RegExp(`^${second} was refused before a restart, ${first} runs: .*unrecognized feature gate: ${gate}`)
      await stage.admin.untilCondition({ status: 'False', reason: 'Refused', message }, LEFT_MS)
      await node.untilRuns(51)
    })
    await step('with the first kubelet back, the promoted config runs again', async () => {
      await rm(node.host(DROP_IN))
      await restart(node)
      await node.untilRuns(52, LEFT_MS)
      await stage.untilPromoted(second)
    })
  })
}

function newestAfter(minor: number): Successor {
  const gate = listGates().find((name) => stateOf(name, minor)?.on === true && stateOf(name, NEWEST_MINOR) === undefined)
  assert(gate !== undefined, `kubelet 1.${NEWEST_MINOR} knows every gate of 1.${minor}`)
  return { find: async () => join(await ensureRelease(NEWEST_MINOR), 'kubelet'), gate, flags: '' }
}

function oldest(): Successor {
  const find = async () => {
    const { kubelet } = await ensureBinaries()
    assert(kubelet !== undefined, `the lab has no kubelet 1.${OLD_MINOR}`)
    return kubelet
  }
  // It uses Docker without the flag.
  return { find, gate: 'KubeletFineGrainedAuthz', flags: '--container-runtime=remote ' }
}

function startOther(flags: string): string {
  return `[Service]
ExecStart=
ExecStart=${OTHER} ${flags}$KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS
`
}

async function foresees(node: Node, successor: string, gate: string, first: string, second: string): Promise<void> {
  await mkdir(dirname(node.host(OTHER)), { recursive: true })
  await copyFile(successor, node.host(OTHER))
  assert.match((await node.command('preflight-upgrade')).stdout, /^This kubelet accepts every config of this node\.$/m)
  const refused = await node.command('preflight-upgrade', '--kubelet', OTHER, '-o', 'json').then(
    () => assert.fail('it accepts all'),
    (error: unknown) => error,
  )
  assert(refused instanceof CommandError)
  assert.equal(refused.exitStatus, 1, refused.stderr)
  const { outcome, fallback, configs } = JSON.parse(refused.stdout)
  assert.deepEqual([outcome, fallback], ['refused', first])
  assert.deepEqual(
    configs.map(({ candidate, outcome: each, roles }: Judged) => [candidate, each, roles.join()]),
    [
      [second, 'refused', 'assigned,active,last-known-good'],
      [first, 'accepted', 'previous'],
      [node.localConfig, 'accepted', 'local'],
    ],
  )
  assert.match(JSON.stringify(configs[0].findings), new RegExp(`unrecognized feature gate: ${gate}`))
}

interface Judged {
  readonly candidate: string
  readonly outcome: string
  readonly roles: readonly string[]
}

async function restart(node: Node): Promise<void> {
  await node.systemctl('daemon-reload')
  await node.systemctl('restart', 'kubelet')
}
