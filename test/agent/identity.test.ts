// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findNodeName, findOwnKubelet } from '../../src/agent/identity.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { UnitState } from '../../src/subject/unit-state.ts'
import { DIRECTORY, worldWith } from '../systemd/disk.ts'

const UNKNOWN: UnitState = { kind: 'unknown', detail: 'systemd does not answer' }

/** A kubelet with these arguments. */
function kubeletWith(...words: readonly string[]): UnitState {
  return {
    kind: 'known',
    activity: 'running',
    summary: 'active/running/success',
    invocationId: 'i',
    nRestarts: 0,
    startedAtUs: 1,
    kubeletIdentity: 'k',
    process: { kind: 'none' },
    command: { path: '/usr/bin/kubelet', words },
    localConfigPath: undefined,
    runtimeEndpoint: undefined,
    healthzFlags: {},
    wiring: { kind: 'broken', reason: 'masked', detail: '' },
  }
}

interface Node {
  readonly setting?: string
  readonly certificate?: string
  readonly kubelet?: UnitState
  readonly kept?: string
}

function nameOf({ setting, certificate, kubelet = UNKNOWN, kept }: Node): string {
  const { disk, files } = worldWith()
  if (kept !== undefined) disk.plant(layoutOf(DIRECTORY).binding, JSON.stringify({ nodeName: kept, caHashes: [] }))
  const credentials = { nodeName: () => certificate, authorityHashes: () => [] } as never
  const settings = { nodeName: setting, manifestDir: undefined, dynamicConfigDir: DIRECTORY }
  return findNodeName(settings, files, {
    hostName: () => 'ip-10-0-0-1',
    kubeconfig: { current: () => ({ kind: 'ok', credentials }) },
    kubelet: () => kubelet,
  })
}

const OVERRIDE = '--hostname-override=IP-10-0-0-1.us-west-2.compute.internal'

t.test('a node is called what a setting says, or its certificate, or the flag of its kubelet, or its host', async (t) => {
  const kubelet = kubeletWith(OVERRIDE, '--cloud-provider=external')
  const table: readonly (readonly [Node, string])[] = [
    [{ setting: 'a', certificate: 'b', kubelet }, 'a'],
    [{ certificate: 'b', kubelet }, 'b'],
    [{ kubelet }, 'ip-10-0-0-1.us-west-2.compute.internal'],
    // An earlier agent may have gone by the host name.
    [{ kubelet, kept: 'ip-10-0-0-1' }, 'ip-10-0-0-1.us-west-2.compute.internal'],
    [{ kubelet: kubeletWith('--hostname-override', 'worker-1') }, 'worker-1'],
    [{ kubelet: kubeletWith('--hostname-override=') }, 'ip-10-0-0-1'],
    [{ kubelet: kubeletWith() }, 'ip-10-0-0-1'],
    [{ kept: 'worker-2' }, 'worker-2'],
    [{}, 'ip-10-0-0-1'],
    // This provider names the Node, whatever the flag says.
    [{ kubelet: kubeletWith(OVERRIDE, '--cloud-provider=aws') }, 'ip-10-0-0-1'],
  ]
  for (const [node, name] of table) t.equal(nameOf(node), name, JSON.stringify(node))
})

t.test('with a setting, the Node may be that of another kubelet', async (t) => {
  const settings = { nodeName: 'worker-1', manifestDir: undefined, dynamicConfigDir: DIRECTORY }
  const own = kubeletWith('--hostname-override=Worker-1')
  t.equal(findOwnKubelet(own, settings, 'other'), own)
  t.equal(findOwnKubelet(kubeletWith(), settings, 'other'), undefined)
  t.equal(findOwnKubelet(UNKNOWN, settings, 'worker-1'), undefined)
})
