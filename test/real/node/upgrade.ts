// SPDX-License-Identifier: Apache-2.0
/**
 * Another kubelet takes the place of the one that runs, at the same path, as a package manager does
 * it: `preflight-upgrade` says before which of the node's configs it refuses, and the agent leaves
 * that config for one that it takes. A config that it takes has its trial anew.
 */
import { strict as assert } from 'node:assert'
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { listGates, stateOf } from '../../../src/kubelet/gates.ts'
import { ensureBinaries } from '../lab/build.ts'
import { ensureRelease, NEWEST_MINOR } from '../lab/build-modern-kubernetes.ts'
import { modernKubeletMinor, OLD_MINOR } from '../lab/node-choice.ts'
import { CommandError } from '../lab/processes.ts'
import type { Node } from './node.ts'
import { onEachKubelet } from './proof/stage.ts'

/** A file of the node: the lab's own kubelet is bound into it, and cannot be replaced. */
const KUBELET = '/opt/kubelet/kubelet'
const SUCCESSOR = '/opt/kubelet/kubelet.dpkg-new'
const PREDECESSOR = '/opt/kubelet/kubelet.old'
const DROP_IN = '/etc/systemd/system/kubelet.service.d/20-replaceable.conf'
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
    await step('kubelet is a file that can be replaced', () => makeReplaceable(node))
    const first = await step('two configs are promoted, one after the other', () => stage.promoteFirst())
    const second = await stage.put({ maxPods: 52, featureGates: { [gate]: true } })
    await stage.untilPromoted(second)
    await step('preflight-upgrade says which one the other kubelet refuses, and restarts nothing', async () => {
      await copyFile(await find(), node.host(SUCCESSOR))
      await node.withoutRestart(() => foresees(node, gate, first, second))
    })
    await step('kubelet is replaced: the config ends on the one before, which this kubelet takes', async () => {
      await replaceKubelet(node, flags)
      const message = new RegExp(`^${second} was refused before a restart, ${first} runs: .*unrecognized feature gate: ${gate}`)
      await stage.admin.untilCondition({ status: 'False', reason: 'Refused', message }, LEFT_MS)
      await node.untilRuns(51)
    })
    await step('with the first kubelet back, the promoted config runs again', async () => {
      await putBack(node)
      await node.untilRuns(52, LEFT_MS)
      await stage.untilPromoted(second)
    })
    await step('a config that both take has its trial anew on the other kubelet, and is promoted', async () => {
      const third = await stage.put({ maxPods: 53 })
      await stage.untilPromoted(third)
      await copyFile(await find(), node.host(SUCCESSOR))
      await replaceKubelet(node, flags)
      await stage.untilOnTrial(third)
      await stage.untilPromoted(third)
      await node.untilRuns(53)
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
  // This kubelet uses Docker without the flag.
  return { find, gate: 'KubeletFineGrainedAuthz', flags: '--container-runtime=remote ' }
}

async function makeReplaceable(node: Node): Promise<void> {
  await mkdir(dirname(node.host(KUBELET)), { recursive: true })
  await node.exec('cp', '/usr/bin/kubelet', KUBELET)
  await start(node, '')
}

async function replaceKubelet(node: Node, flags: string): Promise<void> {
  await rename(node.host(KUBELET), node.host(PREDECESSOR))
  await rename(node.host(SUCCESSOR), node.host(KUBELET))
  await start(node, flags)
}

async function putBack(node: Node): Promise<void> {
  await rename(node.host(PREDECESSOR), node.host(KUBELET))
  await start(node, '')
}

async function start(node: Node, flags: string): Promise<void> {
  const command = `${KUBELET} ${flags}$KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS`
  await writeFile(node.host(DROP_IN), `[Service]\nExecStart=\nExecStart=${command}\n`)
  await node.systemctl('daemon-reload')
  await node.systemctl('restart', 'kubelet')
}

async function foresees(node: Node, gate: string, first: string, second: string): Promise<void> {
  assert.match((await node.command('preflight-upgrade')).stdout, /^This kubelet accepts every config of this node\.$/m)
  const refused = await node.command('preflight-upgrade', '--kubelet', SUCCESSOR, '-o', 'json').then(
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
