// SPDX-License-Identifier: Apache-2.0
/**
 * A certificate authority that has not signed the API server's client certificate: logs, exec and
 * metrics of the node are gone, while its Node is ready and `/healthz` of kubelet says ok.
 * Kubelet's own port then answers 401 where it answered 403.
 */
import { strict as assert } from 'node:assert'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../lab/certificates.ts'
import { type Age, onEachKubelet } from './stage.ts'

const ANOTHER = '/etc/kubernetes/pki/another-ca.crt'
const SETTINGS = { TRIAL_DURATION: '15s' }
const LEFT_MS = 240_000

export function addServingScenarios(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'a wrong authority of its clients', 'serving', SETTINGS, async (stage) => {
    const { step, node, plane } = stage
    const first = await step('a good config is promoted', () => stage.promoteFirst())
    await step('one with another authority is rolled back', async () => {
      await stage.configureAgent({ TRIAL_DURATION: '180s' })
      await makeAuthority(node.host(ANOTHER))
      const x509 = { clientCAFile: ANOTHER }
      const failed = await stage.put({ maxPods: 52, authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509 } })
      await stage.untilRolledBack(failed, first, /serving.*401/, LEFT_MS)
      await node.untilRuns(51)
    })
    await step('the API server reaches kubelet again', async () => {
      assert.equal((await node.configz()).maxPods, 51)
      assert.equal(await plane.kubectl(['get', '--raw', `/api/v1/nodes/${node.name}/proxy/healthz`]), 'ok')
    })
  })
}

async function makeAuthority(file: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-cfg-agent-ca-'))
  try {
    await copyFile((await createAuthority(directory)).certificateFile, file)
  } finally {
    await rm(directory, { recursive: true })
  }
}
