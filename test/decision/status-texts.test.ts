// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import * as texts from '../../src/decision/status-texts.ts'
import { source } from '../report/build.ts'

t.test("upstream's words, which people search for", async (t) => {
  t.equal(texts.LOAD_ERROR, 'failed to load config, see Kubelet log for details')
  t.equal(texts.VALIDATE_ERROR, 'failed to validate config, see Kubelet log for details')
  t.equal(texts.syncError(texts.DOWNLOAD_ERROR), 'failed to sync: failed to download config, see Kubelet log for details')
  t.equal(texts.syncError(texts.INTERNAL_ERROR), 'failed to sync: internal failure, see Kubelet log for details')
  t.equal(texts.sourcePath('local'), 'local')
  t.equal(texts.sourcePath(source()), '/api/v1/namespaces/kube-system/configmaps/my-node-config')
  t.equal(texts.restartingMessage('local'), 'Kubelet restarting to use local config')
  t.equal(
    texts.restartingMessage(source()),
    'Kubelet restarting to use /api/v1/namespaces/kube-system/configmaps/my-node-config, UID: uid-1, ResourceVersion: 212, KubeletConfigKey: kubelet',
  )
})

t.test('ours, by the same pattern', async (t) => {
  const refuges = ['last-known-good', 'previous', 'local', 'under-way'] as const
  for (const reason of ['crash-loop', 'start-deadline', 'ill-health', 'reboots', 'requested'] as const) {
    const said = refuges.map((refuge) => texts.failureError({ reason }, refuge))
    t.equal(new Set(said).size, refuges.length, `${reason}: each way out reads differently`)
    for (const text of said) t.match(text, /^[^\n]{20,160}, see kubelet-cfg-agent log for details$/)
  }
})
