// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { makeRequestsDirectory, settleDirectory } from '../../src/checkpoint/settle.ts'
import { ROOT } from './crash.ts'
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
