// SPDX-License-Identifier: Apache-2.0
/**
 * A node of kubeadm 1.34 and later, whose container runtime is not at kubelet's default endpoint:
 * the flag is gone, and the endpoint is in `instance-config.yaml`. The ConfigMap that kubeadm keeps
 * for all nodes says nothing of it.
 */
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONFIG_LABEL } from '../node-words.ts'
import { onEachKubelet, type Stage } from './proof/stage.ts'

const KUBEADMS = { name: 'kubelet-config', namespace: 'kube-system' }
const INSTANCE = '/var/lib/kubelet/instance-config.yaml'
const ENDPOINT = 'unix:///run/lab/other-runtime.sock'
const SOCKET = new URL(ENDPOINT).pathname
const NOBODY = 'unix:///run/lab/nobody.sock'
const SETTINGS = { TRIAL_DURATION: '5s', RESTARTS_PER_HOUR: '60' }
/** The file that had the flag of kubeadm before 1.34; its other flags stay. */
const FLAGS = '/var/lib/kubelet/kubeadm-flags.env'

export function addKubeadmEndpointScenarios(program: string): void {
  onEachKubelet(program, ['new'], 'the runtime endpoint that kubeadm keeps on the node', 'endpoint', SETTINGS, async (stage) => {
    const { step, node, admin } = stage
    await step('kubelet runs on another endpoint, which no flag names', () => moveEndpoint(stage))
    await step("kubeadm's ConfigMap is assigned and promoted: kubelet keeps its runtime", async () => {
      const version = await admin.applyConfigMap(KUBEADMS, node.config({ maxPods: 54 }))
      await admin.kubectl('label', '--overwrite', 'node', node.name, `${CONFIG_LABEL}=${KUBEADMS.name}`)
      await node.untilRuns(54)
      await stage.untilPromoted(String.raw`kube-system/kubelet-config:kubelet@${version}\+merged-[0-9a-f]+`)
      assert.equal((await node.configz()).containerRuntimeEndpoint, ENDPOINT)
      const { stdout } = await node.command('status')
      console.log(stdout.replace(/^/gm, '    '))
      const whole = / {2}ConfigMap kube-system\/kubelet-config:kubelet\n {4}all other fields\n/
      const instance = / {2}\/var\/lib\/kubelet\/instance-config\.yaml\n {4}containerRuntimeEndpoint$/
      assert.match(stdout, new RegExp(`^Merged from, the lowest first:\n${whole.source}${instance.source}`, 'm'))
      assert.match((await node.command('diff')).stdout, /no difference$/m)
    })
    await step('an endpoint at which nobody listens is refused, and kubelet goes on', () =>
      node.withoutRestart(async () => {
        writeFileSync(node.host(INSTANCE), instanceConfig(NOBODY))
        await admin.untilCondition({
          status: 'False',
          reason: 'Refused',
          message: /containerRuntimeEndpoint: no container runtime answers/,
        })
      }),
    )
    await step('with the file as it was, it goes on with what was promoted', async () => {
      writeFileSync(node.host(INSTANCE), instanceConfig(ENDPOINT))
      await admin.untilCondition({ status: 'True', reason: 'Promoted' })
    })
  })
}

/** The second endpoint is another name of the same socket. */
async function moveEndpoint({ node }: Stage): Promise<void> {
  await node.exec('mkdir', '-p', join(SOCKET, '..'))
  await node.exec('ln', '-s', '/run/containerd/containerd.sock', SOCKET)
  writeFileSync(node.host(FLAGS), `KUBELET_KUBEADM_ARGS="--hostname-override=${node.name}"\n`)
  writeFileSync(node.host(INSTANCE), instanceConfig(ENDPOINT))
  writeFileSync(node.host(node.localConfig), node.config({ containerRuntimeEndpoint: ENDPOINT, maxPods: 53 }))
  await node.systemctl('restart', 'kubelet')
  await node.untilRuns(53)
  assert.equal((await node.configz()).containerRuntimeEndpoint, ENDPOINT)
}

/** `WriteInstanceConfigToDisk`, cmd/kubeadm/app/phases/kubelet/config.go. */
function instanceConfig(endpoint: string): string {
  return `containerRuntimeEndpoint: ${JSON.stringify(endpoint)}\n`
}
