/**
 * Another kubelet takes the place of the one that runs: `preflight-upgrade` says before which of
 * the node's configs it refuses, and the agent leaves that config for one that it takes. The lab
 * has two kubelets, and the older one plays the new one: to the agent it is another binary.
 */
import { strict as assert } from 'node:assert'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ensureBinaries } from '../lab/build.ts'
import { CommandError } from '../lab/processes.ts'
import type { Node } from './node.ts'
import { onEachKubelet } from './proof/stage.ts'

const OTHER = '/opt/other/kubelet'
const DROP_IN = '/etc/systemd/system/kubelet.service.d/20-other.conf'
/** 1.20 does not know it, and uses Docker without the flag. */
const GATE = 'KubeletFineGrainedAuthz'
const START_OTHER = `[Service]
ExecStart=
ExecStart=${OTHER} --container-runtime=remote $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS
`
const SETTINGS = { TRIAL_DURATION: '5s', RESTARTS_PER_HOUR: '60' }
const LEFT_MS = 240_000

export function addUpgradeScenarios(program: string): void {
  onEachKubelet(program, ['new'], 'another kubelet takes its place', 'upgrade', SETTINGS, async (stage) => {
    const { step, node } = stage
    const first = await step('two configs are promoted, one after the other', () => stage.promoteFirst())
    const second = await stage.put({ maxPods: 52, featureGates: { [GATE]: true } })
    await stage.untilPromoted(second)
    await step('preflight-upgrade says which one the other kubelet refuses, and restarts nothing', () =>
      node.withoutRestart(() => foresees(node, first, second)),
    )
    await step('the other kubelet is started: its trial begins anew, and ends on the config that it takes', async () => {
      await writeFile(node.host(DROP_IN), START_OTHER)
      await restart(node)
      const message = new RegExp(`^${second} was refused before a restart, ${first} runs: .*unrecognized feature gate: ${GATE}`)
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

async function foresees(node: Node, first: string, second: string): Promise<void> {
  const { kubelet } = await ensureBinaries()
  assert(kubelet !== undefined, 'the lab has no other kubelet')
  await mkdir(dirname(node.host(OTHER)), { recursive: true })
  await copyFile(kubelet, node.host(OTHER))
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
  assert.match(JSON.stringify(configs[0].findings), new RegExp(`unrecognized feature gate: ${GATE}`))
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
