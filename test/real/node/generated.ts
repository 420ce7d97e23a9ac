// SPDX-License-Identifier: Apache-2.0
/**
 * The output of `generate`: the kubelet that it came from accepts it, and `diff` finds no
 * difference between it and the running config. For configs that are unlike each other in what
 * `/configz` makes of them. The last one is assigned, and kubelet runs the same with the generated
 * text.
 */
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import type { Administrator } from '../administrator.ts'
import { CommandError } from '../lab/processes.ts'
import type { Step } from '../lab/runner.ts'
import { assignNew } from './assign.ts'
import type { Node } from './node.ts'

interface Variety {
  readonly name: string
  readonly what: string
  readonly changes: object
}

/** On top of what each node of the lab has, `enforceNodeAllocatable: []` with it. */
function varieties(kubeletMinor: number): readonly [Variety, ...Variety[]] {
  return [
    { name: 'every-kind', what: 'values of every kind, zeros and empty ones too', changes: EVERY_KIND },
    { name: 'no-thresholds', what: 'no reservation and no threshold', changes: { enforceNodeAllocatable: [], evictionHard: {} } },
    { name: 'kubeadms', what: 'what kubeadm writes', changes: asKubeadm(kubeletMinor) },
  ]
}

/** Of fields and gates that every kubelet has. */
const EVERY_KIND = {
  maxPods: 57,
  podsPerCore: 10,
  registryPullQPS: 0,
  eventRecordQPS: 0,
  kubeAPIBurst: 33,
  serializeImagePulls: false,
  makeIPTablesUtilChains: false,
  tlsMinVersion: 'VersionTLS12',
  tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
  allowedUnsafeSysctls: ['kernel.msg*'],
  clusterDNS: ['10.96.0.10', 'fd00::10'],
  clusterDomain: 'a.b.example',
  systemReserved: { cpu: '100m', memory: '64Mi' },
  kubeReserved: { memory: '0.5Gi' },
  evictionHard: { 'memory.available': '0.1%', 'nodefs.available': '1Mi' },
  evictionSoft: { 'memory.available': '200Mi' },
  evictionSoftGracePeriod: { 'memory.available': '90s' },
  evictionMinimumReclaim: { 'imagefs.available': '2Mi' },
  evictionMaxPodGracePeriod: 30,
  containerLogMaxSize: '20Mi',
  containerLogMaxFiles: 3,
  imageGCHighThresholdPercent: 99,
  imageGCLowThresholdPercent: 98,
  nodeStatusUpdateFrequency: '0h0m12.5s',
  featureGates: { RotateKubeletServerCertificate: false, QOSReserved: true },
}

/** kubeadm writes each field that its kubelet does not leave out, with the zero of its kind. */
function asKubeadm(kubeletMinor: number): object {
  const since = (minor: number, fields: object) => (kubeletMinor >= minor ? fields : {})
  const zero = '0s'
  const options = { json: { infoBufferSize: '0' }, ...since(30, { text: { infoBufferSize: '0' } }) }
  return {
    authentication: {
      anonymous: { enabled: false },
      webhook: { cacheTTL: zero, enabled: true },
      x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
    },
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: zero, cacheUnauthorizedTTL: zero } },
    healthzBindAddress: '127.0.0.1',
    cpuManagerReconcilePeriod: zero,
    evictionPressureTransitionPeriod: zero,
    fileCheckFrequency: zero,
    httpCheckFrequency: zero,
    imageMinimumGCAge: zero,
    nodeStatusReportFrequency: zero,
    nodeStatusUpdateFrequency: zero,
    runtimeRequestTimeout: zero,
    streamingConnectionIdleTimeout: zero,
    syncFrequency: zero,
    volumeStatsAggPeriod: zero,
    logging: kubeletMinor < 23 ? {} : { flushFrequency: 0, options, verbosity: 0 },
    ...since(21, { shutdownGracePeriod: zero, shutdownGracePeriodCriticalPods: zero }),
    ...since(22, { memorySwap: {} }),
    ...since(29, { imageMaximumGCAge: zero }),
    ...since(32, { crashLoopBackOff: {} }),
  }
}

/** @param kinds how many of the configs; the first is the richest one */
export async function playGenerated(step: Step, node: Node, admin: Administrator, kinds = Number.POSITIVE_INFINITY): Promise<void> {
  const all = varieties(node.kubeletMinor).slice(0, kinds)
  for (const { name, what, changes } of all) {
    await step(`generate, ${what}: kubelet takes what it writes, and diff is empty`, async () => {
      const source = await assignNew(node, admin, name, changes)
      await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
      await comesBack(node)
    })
  }
  await step('assigned, it is promoted, and kubelet runs as before', async () => {
    const before = await node.configz()
    const source = await admin.createConfigMap('generated', (await node.exec('cat', GENERATED)).stdout)
    await admin.assign('generated')
    await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
    assert.deepEqual(await node.configz(), before)
    await comesBack(node)
  })
}

const [ANSWER, GENERATED] = ['/root/configz.json', '/root/generated.yaml']

async function comesBack(node: Node): Promise<void> {
  writeFileSync(node.host(ANSWER), JSON.stringify({ kubeletconfig: await node.configz() }))
  const { stdout } = await node.command('generate', '--from-file', ANSWER, '--kubelet-version', `1.${node.kubeletMinor}`)
  assert.doesNotMatch(stdout, /^httpCheckFrequency:/m, 'a mere default is left out')
  writeFileSync(node.host(GENERATED), stdout)
  assert.match((await node.command('validate', '--deep', GENERATED)).stdout, /^kubelet +accepted /m)
  const { stdout: difference } = await node.command('diff', GENERATED).catch((error: unknown) => {
    if (error instanceof CommandError) throw new Error(`diff says: ${error.stdout}${error.stderr}`, { cause: error })
    throw error
  })
  assert.match(difference, /no difference$/m)
}
