// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { drawTree } from '../../demo/tree.ts'

t.test('draws an empty directory and a full one', async (t) => {
  const uid = '5274a9bd-00f5-49fe-a395-53c08b3087db'
  const record = `source:\n  configMap:\n    kubeletConfigKey: kubelet\n    name: my-config\n    namespace: n\n    resourceVersion: "212"\n`
  const directory = t.testdir({
    empty: {},
    full: {
      'kubelet.env': '',
      meta: { assigned: record, 'last-known-good': '', verdicts: '[]' },
      checkpoints: { [uid]: { 108: { kubelet: 'kind: X\nmaxPods: 50\n' }, 212: { kubelet: '{0xdeadbeef}\n' } } },
      lock: '1',
    },
  })
  t.strictSame(drawTree(`${directory}/empty`), [])
  t.strictSame(drawTree(`${directory}/full`), [
    '├── kubelet.env',
    '├── meta/assigned            my-config@212',
    '├── meta/last-known-good     (empty: local)',
    '└── checkpoints/5274a9bd',
    '    ├── 108/kubelet          maxPods: 50',
    '    └── 212/kubelet          {0xdeadbeef}',
  ])
})
