// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { makeRequestsDirectory, settleDirectory } from '../../src/checkpoint/settle.ts'
import { crashEverywhere, ROOT } from './crash.ts'
import { FakeDisk } from './fake/fake-disk.ts'
import { silentLog } from './silent-log.ts'

t.test('a disk that takes no writes keeps no agent from starting', async (t) => {
  const disk = new FakeDisk(() => 1)
  const directory = {
    files: new DurableFiles(disk),
    layout: layoutOf(ROOT),
    records: { markLocal: () => directory.files.replace(`${ROOT}/x`, '') },
  }
  const log = silentLog()
  makeRequestsDirectory(directory, log)
  t.equal(directory.files.stat(directory.layout.requests)?.kind, 'directory')
  settleDirectory(directory, log)
  t.same(log.said, [])
  disk.faultOf = () => 'EROFS'
  settleDirectory(directory, log)
  directory.files = new DurableFiles(disk)
  makeRequestsDirectory({ ...directory, layout: layoutOf('/other') }, log)
  t.match(log.said, [/^cannot remove what a crash may have left/, /^cannot create the directory for requests/])
})

t.test('once settled, the directory outlives a loss of power', async (t) => {
  const disk = new FakeDisk(() => 1)
  disk.makeDirectory(ROOT, 0o700)
  new DurableFiles(disk).settle(ROOT)
  for (const random of [0, 0.99]) disk.powerLoss(() => random)
  t.ok(disk.stat(ROOT))
})

t.test('a tree between its two names has the first one again, whatever happens meanwhile', async (t) => {
  crashEverywhere({
    prepare(files, disk) {
      files.makeDirectory(ROOT)
      files.createTree(`${ROOT}/1~set-aside-1`, new Map([['kubelet', Buffer.from('the old one')]]))
      files.createTree(`${ROOT}/new`, new Map([['kubelet', Buffer.from('the new one')]]))
      files.rename(`${ROOT}/new`, `${ROOT}/..1.${disk.owner}`)
    },
    act: (files) => files.settle(ROOT),
    check: (files, where) => t.equal(files.read(`${ROOT}/1/kubelet`)?.toString(), 'the old one', where),
  })
})
