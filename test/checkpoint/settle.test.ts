import t from 'tap'
import { FakeDisk } from '../../src/checkpoint/fake/fake-disk.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'

const STATE = '/var/lib/state'

t.test('the name of a directory that an earlier process made becomes durable, though its fsync failed then', async (t) => {
  const disk = new FakeDisk(() => 0)
  new DurableFiles(disk).makeDirectory('/var/lib')
  disk.faultOf = ({ kind, path }) => (kind === 'fsync' && path === '/var/lib' ? 'EIO' : undefined)
  t.throws(() => new DurableFiles(disk).makeDirectory(STATE), { code: 'EIO' })
  disk.faultOf = undefined
  const files = new DurableFiles(disk)
  files.makeDirectory(STATE)
  files.settle(STATE)
  files.replace(`${STATE}/file`, 'text')
  disk.powerLoss(() => 0)
  t.equal(new DurableFiles(disk).read(`${STATE}/file`)?.toString(), 'text')
})

t.test('only the directories that are named are looked into', async (t) => {
  const disk = new FakeDisk(() => 0)
  const files = new DurableFiles(disk)
  const torn = ['', '/ours', '/ours/deep', '/theirs'].map((name) => `${STATE}${name}/..x.77`)
  for (const path of torn) {
    files.makeDirectory(path.slice(0, path.lastIndexOf('/')))
    disk.write(path, Buffer.from('torn'), 0o600)
  }
  files.settle(STATE, ['ours', 'none'])
  t.same(
    torn.map((path) => disk.stat(path)?.kind),
    [undefined, undefined, undefined, 'file'],
  )
})
