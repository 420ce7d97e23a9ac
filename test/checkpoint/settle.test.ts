import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { FakeDisk } from './fake/fake-disk.ts'

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

t.test(
  'a crash or power loss while a directory is replaced loses neither all versions of it, nor the new one once it is in place',
  async (t) => {
    for (const name of ['213', 'long'.repeat(15)]) {
      const path = `${STATE}/${name}`
      const crash = new Error('crash')
      for (let at = 0, ended = false; !ended; at++) {
        const disk = new FakeDisk(() => 0)
        const files = new DurableFiles(disk)
        disk.plant(`${path}~set-aside-1/k`, 'older')
        disk.plant(`${path}/k`, 'old')
        let step = 0
        disk.onStep = () => {
          if (step++ === at) throw crash
        }
        try {
          files.createTree(path, new Map([['k', Buffer.from('new')]]), `${path}~set-aside-2`)
          ended = true
        } catch (error) {
          if (error !== crash) throw error
        }
        disk.onStep = undefined
        disk.restart()
        const again = new DurableFiles(disk)
        again.settle(STATE)
        disk.powerLoss(() => 0)
        const found = again.read(`${path}/k`)?.toString()
        const isInPlace = found === 'new' && again.read(`${path}~set-aside-2/k`)?.toString() === 'old'
        t.ok(isInPlace || (found === 'old' && again.stat(`${path}~set-aside-2`) === undefined), `step ${at}: ${found}`)
        t.equal(again.read(`${path}~set-aside-1/k`)?.toString(), 'older')
      }
    }
  },
)
