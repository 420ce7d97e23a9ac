// SPDX-License-Identifier: Apache-2.0
/**
 * A unit of `Type=notify`, as systemd.service(5) describes it: it is `activating` until kubelet
 * says that it is ready. A kubelet that never says so is either left there for ever
 * (`TimeoutStartSec=infinity`), or ended by systemd, after which the unit is `failed` unless
 * systemd starts it again. Neither is what a person asked for, and both are the config's fault.
 */
import { writeFile } from 'node:fs/promises'
import { eventually } from '../../lab/eventually.ts'
import { type Age, onEachKubelet, type Stage } from './stage.ts'

/**
 * A named pipe that nobody writes to: kubelet opens it at its start, before it is ready, and waits.
 * The agent's own rules see no fault in it.
 */
const PIPE = '/etc/kubernetes/pki/pipe.crt'
const HANGS = { authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: PIPE } } }
const SETTINGS = { TRIAL_DURATION: '10s', PREFLIGHT: 'rules' }
const START_DEADLINE_S = 20
const START_TIMEOUT_S = 15
const LEFT_MS = 120_000

export function addNotifyScenarios(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'a unit of Type=notify', 'notify', SETTINGS, async (stage) => {
    const { step, node } = stage
    await step('kubelet says that it is ready', async () => {
      await node.exec('mkfifo', PIPE)
      await configureUnit(stage, ['TimeoutStartSec=infinity'])
      await node.systemctl('restart', 'kubelet')
      await untilState(stage, 'active')
    })
    const first = await step('a good config is promoted', () => stage.promoteFirst())
    await step(`a kubelet that never gets ready is left ${START_DEADLINE_S} s after its start`, async () => {
      await stage.configureAgent({ START_DEADLINE: `${START_DEADLINE_S}s` })
      const failed = await stage.put({ maxPods: 52, ...HANGS })
      await untilState(stage, 'activating')
      await stage.untilRolledBack(failed, first, /kubelet was not healthy \d+ s after its start/, LEFT_MS)
      await node.untilRuns(51)
      await untilState(stage, 'active')
    })
    await step(`one that systemd ends after ${START_TIMEOUT_S} s, and does not start again, is left as well`, async () => {
      await configureUnit(stage, [`TimeoutStartSec=${START_TIMEOUT_S}`, 'Restart=no'])
      await stage.configureAgent({ START_DEADLINE: '5m' })
      const failed = await stage.put({ maxPods: 53, ...HANGS })
      await untilState(stage, 'activating')
      await stage.untilRolledBack(failed, first, /systemd gave kubelet up: failed \(timeout\)/, LEFT_MS)
      await node.untilRuns(51)
      await untilState(stage, 'active')
    })
    await step('the next config is used as ever', async () => {
      const next = await stage.put({ maxPods: 54 })
      await node.untilRuns(54)
      await stage.untilPromoted(next)
    })
  })
}

/**
 * A kubelet that waits for the pipe takes no notice of SIGTERM, so that a long stop would only make
 * this longer.
 */
async function configureUnit({ node }: Stage, lines: readonly string[]): Promise<void> {
  const text = ['[Service]', 'Type=notify', 'TimeoutStopSec=5', ...lines, ''].join('\n')
  await writeFile(node.host('/etc/systemd/system/kubelet.service.d/20-notify.conf'), text)
  await node.systemctl('daemon-reload')
}

async function untilState({ node }: Stage, state: 'active' | 'activating'): Promise<void> {
  const probe = async () => (await node.show('kubelet', 'ActiveState')).ActiveState === state
  await eventually(probe, { what: `kubelet's unit is ${state}`, timeoutMs: 60_000, intervalMs: 100 })
}
