// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { FileCheckpoints } from '../../src/checkpoint/checkpoints.ts'
import { contentHash } from '../../src/checkpoint/content.ts'
import type { TreeFiles } from '../../src/checkpoint/disk.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { NodeDisk } from '../../src/checkpoint/node-disk.ts'
import type { SetAside } from '../../src/checkpoint/set-aside.ts'
import { anyData, anyKey, anyName } from './arbitraries.ts'
import { crashEverywhere, ROOT } from './crash.ts'
import { FakeDisk } from './fake/fake-disk.ts'
import { faultsOver } from './faults.ts'
import { silentLog } from './silent-log.ts'

const DATA = { kubelet: 'kind: KubeletConfiguration\n', other: 'x' }
const FILE = { uid: 'u', resourceVersion: '212', kubeletConfigKey: 'kubelet' }
const PATH = `${ROOT}/checkpoints/u/212`
const OVERLAY = '0123456789abcdef'
const RENDERED = `${ROOT}/rendered/u/212/${OVERLAY}`

function open() {
  let nowMs = 1_000
  const disk = new FakeDisk(() => {
    nowMs += 1_000
    return nowMs
  })
  const files = new DurableFiles(disk)
  const aside: SetAside[] = []
  return { disk, files, aside, checkpoints: storeOf(files, (what) => aside.push(what)) }
}

function storeOf(files: TreeFiles, onSetAside: (what: SetAside) => void = () => undefined, faults = faultsOver()) {
  return new FileCheckpoints(files, layoutOf(ROOT), onSetAside, faults)
}

t.test('save writes a file per key; its content hash is that of the data', (t) => {
  const { files, checkpoints } = open()
  checkpoints.save('u', '212', DATA)
  t.same(files.list(PATH), ['kubelet', 'other'])
  t.equal(files.read(`${PATH}/kubelet`)?.toString(), DATA.kubelet)
  t.equal(checkpoints.path(FILE), `${PATH}/kubelet`)
  t.equal(checkpoints.content(FILE), contentHash(DATA, 'kubelet'))
  t.equal(
    checkpoints.content({ ...FILE, kubeletConfigKey: 'lacking' }),
    contentHash(DATA, 'lacking'),
    'a key that is lacking is a content too',
  )
  t.same(checkpoints.data('u', '212'), DATA)
  t.equal(checkpoints.content({ ...FILE, resourceVersion: '213' }), undefined)
  t.equal(checkpoints.data('u', '213'), undefined)
  t.end()
})

t.test('any data is read back unchanged, an empty ConfigMap too', (t) => {
  fc.assert(
    fc.property(anyName, anyName, anyData, anyKey, (uid, resourceVersion, data, kubeletConfigKey) => {
      const { checkpoints } = open()
      checkpoints.save(uid, resourceVersion, data)
      assert.equal(checkpoints.content({ uid, resourceVersion, kubeletConfigKey }), contentHash(data, kubeletConfigKey))
      const utf8 = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString()]))
      assert.deepEqual(checkpoints.data(uid, resourceVersion), utf8)
      assert.deepEqual(
        checkpoints.list().map((found) => [found.uid, found.resourceVersion]),
        [[uid, resourceVersion]],
      )
    }),
  )
  t.end()
})

t.test('saving again does nothing; different content for the same version is rejected', (t) => {
  const { disk, checkpoints } = open()
  checkpoints.save('u', '212', DATA)
  let steps = 0
  disk.onStep = () => {
    steps += 1
  }
  checkpoints.save('u', '212', { other: 'x', kubelet: DATA.kubelet })
  t.equal(steps, 0)
  t.throws(() => checkpoints.save('u', '212', { ...DATA, other: 'y' }), { name: 'CheckpointError', code: 'content-differs' })
  t.same(checkpoints.data('u', '212'), DATA)
  t.end()
})

t.test('an edit of one key costs three fsyncs', (t) => {
  const { disk, checkpoints } = open()
  checkpoints.save('u', '211', DATA)
  let fsyncs = 0
  disk.onStep = ({ kind }, phase) => {
    if (kind === 'fsync' && phase === 'before') fsyncs += 1
  }
  checkpoints.save('u', '212', { kubelet: 'edited' })
  t.equal(fsyncs, 3, 'the file, the names in the new directory, the name of the directory')
  t.end()
})

t.test('unsafe names are rejected by changes, and are no checkpoint for reads', (t) => {
  const { checkpoints } = open()
  const refused = { name: 'CheckpointError', code: 'unsafe-name' }
  t.throws(() => checkpoints.save('..', '1', DATA), refused)
  t.throws(() => checkpoints.save('u', '../1', DATA), refused)
  t.throws(() => checkpoints.save('u', '1', { '../../etc/cron.d/x': '' }), refused)
  t.throws(() => checkpoints.save('u', '1', { '..data': '' }), refused)
  t.throws(() => checkpoints.path({ ...FILE, kubeletConfigKey: '../x' }), refused)
  t.throws(() => checkpoints.remove('.', '1'), { ...refused, message: /uid "\." must not be.*rename it in the cluster/ })
  t.equal(checkpoints.content({ ...FILE, uid: '../x' }), undefined)
  t.same(checkpoints.list(), [])
  t.end()
})

t.test('tampering is detected', (t) => {
  const { disk, checkpoints } = open()
  checkpoints.save('u', '212', DATA)
  const before = checkpoints.content(FILE)
  disk.plant(`${PATH}/kubelet`, 'tampered')
  t.equal(checkpoints.content(FILE), contentHash({ ...DATA, kubelet: 'tampered' }, 'kubelet'))
  disk.plant(`${PATH}/kubelet`, DATA.kubelet)
  t.equal(checkpoints.content(FILE), before)
  disk.unlink(`${PATH}/other`)
  t.not(checkpoints.content(FILE), before)
  disk.plant(`${PATH}/other/deeper`, '')
  t.equal(checkpoints.content(FILE), undefined, 'a directory is not a key')
  t.equal(checkpoints.data('u', '212'), undefined)
  t.end()
})

t.test('save sets an invalid checkpoint aside', (t) => {
  const { disk, aside, checkpoints } = open()
  disk.plant(`${PATH}/kubelet/deeper`, '')
  checkpoints.save('u', '212', DATA)
  t.equal(checkpoints.content(FILE), contentHash(DATA, 'kubelet'))
  t.match(aside, [{ path: PATH, to: `${PATH}~set-aside-1` }])
  t.end()
})

t.test('files in the place of directories are no checkpoints, and only prevent a save there', (t) => {
  const { disk, checkpoints } = open()
  disk.plant(`${ROOT}/checkpoints/u`, '')
  t.equal(checkpoints.content(FILE), undefined)
  t.same(checkpoints.list(), [])
  t.throws(() => checkpoints.save('u', '212', DATA), { name: 'FileError', code: 'ENOTDIR', message: /remove or rename the file/ })
  checkpoints.save('v', '1', DATA)
  t.match(checkpoints.list(), [{ uid: 'v' }])
  t.end()
})

t.test('a replacement that fails halfway is reverted', (t) => {
  const { disk, aside, checkpoints } = open()
  checkpoints.save('u', '212', { kubelet: 'a' })
  let renames = 0
  disk.faultOf = (step) => {
    renames += Number(step.kind === 'rename')
    return step.kind === 'rename' && renames === 2 ? 'EIO' : undefined
  }
  t.throws(() => checkpoints.replace('u', '212', { kubelet: 'b' }, 'restored etcd'), { code: 'EIO' })
  t.same(checkpoints.data('u', '212'), { kubelet: 'a' })
  t.same(aside, [])
  checkpoints.replace('u', '212', { kubelet: 'b' }, 'restored etcd')
  t.same(checkpoints.data('u', '212'), { kubelet: 'b' })
  t.end()
})

t.test('a checkpoint that was set aside is kept, but not listed', (t) => {
  const { files, aside, checkpoints } = open()
  for (let round = 0; round < 7; round += 1) {
    checkpoints.replace('u', '212', { kubelet: `${round}` }, 'restored etcd')
  }
  checkpoints.replace('u', '212', DATA, 'restored etcd')
  t.same(files.list(`${ROOT}/checkpoints/u`), ['212', ...[3, 4, 5, 6, 7].map((n) => `212~set-aside-${n}`)])
  t.equal(files.read(`${PATH}~set-aside-7/kubelet`)?.toString(), '6')
  t.match(checkpoints.list(), [{ uid: 'u', resourceVersion: '212' }])
  t.equal(aside.at(-1)?.why, 'restored etcd')
  t.end()
})

t.test('list contains the time of each save; removing the last version of a uid removes its directory', (t) => {
  const { files, checkpoints } = open()
  checkpoints.save('b', '9', DATA)
  checkpoints.save('a', '100', DATA)
  checkpoints.save('a', '99', {})
  const saved = [...checkpoints.list()].sort((a, b) => a.savedAtMs - b.savedAtMs)
  t.same(
    saved.map(({ uid, resourceVersion }) => `${uid}/${resourceVersion}`),
    ['b/9', 'a/100', 'a/99'],
  )
  checkpoints.remove('a', '100')
  checkpoints.remove('b', '9')
  checkpoints.remove('b', '9')
  t.same(files.list(`${ROOT}/checkpoints`), ['a'])
  t.match(checkpoints.list(), [{ uid: 'a', resourceVersion: '99' }])
  t.end()
})

t.test('list reads the disk again only after a change, successful or not', (t) => {
  const { disk, checkpoints } = open()
  const { list } = disk
  let reads = 0
  disk.list = (path) => {
    reads += 1
    return list.call(disk, path)
  }
  const names = () => checkpoints.list().map(({ resourceVersion }) => resourceVersion)
  const isRead = () => {
    reads = 0
    checkpoints.list()
    return reads > 0
  }
  checkpoints.save('u', '1', DATA)
  t.same(names(), ['1'])
  t.notOk(isRead())
  checkpoints.save('u', '2', DATA)
  t.same(names(), ['1', '2'])
  checkpoints.replace('u', '2', {}, 'restored etcd')
  t.ok(isRead(), 'it was saved at another time')
  t.notOk(isRead())
  checkpoints.remove('u', '1')
  t.same(names(), ['2'])
  disk.full = true
  t.throws(() => checkpoints.save('u', '3', DATA))
  t.ok(isRead())
  t.same(names(), ['2'])
  t.end()
})

t.test('a full disk: nothing is saved, and existing checkpoints can be removed', (t) => {
  const { disk, files, checkpoints } = open()
  checkpoints.save('u', '211', DATA)
  disk.full = true
  t.throws(() => checkpoints.save('u', '212', DATA), { name: 'FileError', code: 'ENOSPC' })
  t.throws(() => checkpoints.save('v', '1', DATA), { code: 'ENOSPC' })
  t.equal(checkpoints.content(FILE), undefined)
  t.throws(() => checkpoints.replace('u', '211', { kubelet: 'other' }, 'x'), { code: 'ENOSPC' })
  t.same(checkpoints.data('u', '211'), DATA, 'the old checkpoint stays in place until the new one is ready')
  checkpoints.remove('u', '211')
  t.same(files.list(`${ROOT}/checkpoints`), [])
  t.end()
})

t.test('a crash at any point of save leaves the checkpoint complete or absent, and saving again completes it', (t) => {
  const crashes = crashEverywhere({
    prepare: () => undefined,
    act: (files) => storeOf(files).save('u', '212', DATA),
    check: (files, where) => {
      const checkpoints = storeOf(files)
      const data = checkpoints.data('u', '212')
      if (data !== undefined) assert.deepEqual(data, DATA, where)
      checkpoints.save('u', '212', DATA)
      assert.deepEqual(checkpoints.data('u', '212'), DATA, where)
    },
  })
  t.ok(crashes > 100)
  t.end()
})

t.test('a crash at any point of remove or replace leaves the checkpoint complete or absent', (t) => {
  const prepare = (files: DurableFiles) => storeOf(files).save('u', '212', DATA)
  const check = (files: DurableFiles, where: string) => {
    const data = storeOf(files).data('u', '212')
    if (data !== undefined && data.kubelet !== 'new') assert.deepEqual(data, DATA, where)
  }
  crashEverywhere({ prepare, act: (files) => storeOf(files).remove('u', '212'), check })
  crashEverywhere({
    prepare,
    act: (files) => storeOf(files).replace('u', '212', { kubelet: 'new' }, 'x'),
    check: (files, where) => {
      check(files, where)
      const kept = files.read(`${PATH}/other`) ?? files.read(`${PATH}~set-aside-1/other`)
      assert.equal(kept?.toString(), 'x', where)
    },
  })
  t.pass('never torn')
  t.end()
})

t.test('on a real disk', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'checkpoints-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const checkpoints = new FileCheckpoints(new DurableFiles(new NodeDisk()), layoutOf(root), () => undefined, faultsOver())
  const key = 'k'.repeat(253)
  checkpoints.save('u'.repeat(200), '212', { [key]: 'x'.repeat(100_000) })
  t.equal(
    checkpoints.content({ uid: 'u'.repeat(200), resourceVersion: '212', kubeletConfigKey: key }),
    contentHash({ [key]: 'x'.repeat(100_000) }, key),
  )
  checkpoints.replace('u'.repeat(200), '212', {}, 'x')
  t.same(checkpoints.data('u'.repeat(200), '212'), {})
  t.end()
})

t.test('a checkpoint that cannot be read at the moment is not missing; one that stays unreadable is, but may not be lost', (t) => {
  const { disk, files } = open()
  const log = silentLog()
  let nowUs = 0
  const faults = faultsOver(() => nowUs, log)
  storeOf(files).save('u', '212', DATA)
  const file = { uid: 'u', resourceVersion: '212', kubeletConfigKey: 'kubelet' }
  const checkpoints = storeOf(files, () => t.fail('set aside'), faults)
  for (const fault of ['EACCES', 'EIO'] as const) {
    disk.readFaultOf = (path) => (path === `${PATH}/other` ? fault : undefined)
    t.throws(() => checkpoints.content(file), { code: fault })
    t.throws(() => checkpoints.save('u', '212', { other: 'data' }), { code: fault }, 'it is not replaced either')
  }
  nowUs += 31e6
  t.notOk(checkpoints.isUnreadable(file))
  t.equal(checkpoints.content(file), undefined)
  t.ok(checkpoints.isUnreadable(file))
  checkpoints.content(file)
  t.match(log.said, [/u\/212 stays unreadable; continuing without it/])
  t.equal(log.said.length, 1, 'logged once')
  disk.readFaultOf = undefined
  t.equal(checkpoints.content(file), contentHash(DATA, 'kubelet'))
  t.notOk(checkpoints.isUnreadable(file))
  t.end()
})

/** A fault of the disk that lasts is told by the time. */
function openOverTime() {
  const { disk, files } = open()
  const time = { nowUs: 0 }
  const checkpoints = storeOf(
    files,
    () => undefined,
    faultsOver(() => time.nowUs),
  )
  return { disk, checkpoints, time }
}

t.test('what stays unreadable is left out of the list, until it can be read', (t) => {
  const places: readonly (readonly [string, string, readonly string[]])[] = [
    ['a version', PATH, ['v/1', `u/212/${OVERLAY}`]],
    ['a uid', `${ROOT}/checkpoints/u`, ['v/1', `u/212/${OVERLAY}`]],
    ['all checkpoints', `${ROOT}/checkpoints`, [`u/212/${OVERLAY}`]],
    ['all renderings', `${ROOT}/rendered`, ['u/212', 'v/1']],
    ['the renderings of a version', `${ROOT}/rendered/u/212`, ['u/212', 'v/1']],
  ]
  for (const [what, place, others] of places) {
    for (const kind of ['stat', 'list'] as const) {
      const { disk, checkpoints, time } = openOverTime()
      checkpoints.save('u', '212', DATA)
      checkpoints.save('v', '1', DATA)
      checkpoints.save('u', '212', DATA, OVERLAY)
      const names = () =>
        checkpoints.list().map(({ uid, resourceVersion, overlay }) => [uid, resourceVersion, overlay ?? []].flat().join('/'))
      let faults = 0
      disk.readFaultOf = (path, tried) => {
        if (path !== place || tried !== kind) return undefined
        faults += 1
        return 'EIO'
      }
      const failing = () => {
        try {
          return names()
        } catch {
          return 'unknown'
        }
      }
      const first = failing()
      // Not each of them is both inspected and listed.
      if (faults === 0) continue
      t.equal(first, 'unknown', `${what}, ${kind}`)
      time.nowUs += 31e6
      t.same(names(), others, `${what}, ${kind}`)
      disk.readFaultOf = undefined
      t.same(names(), ['u/212', 'v/1', `u/212/${OVERLAY}`], 'once it can be read again')
    }
  }
  t.end()
})

t.test('the data of a checkpoint that stays unreadable is missing, although its content is known', (t) => {
  const { disk, checkpoints, time } = openOverTime()
  checkpoints.save('u', '212', DATA)
  t.ok(checkpoints.content(FILE))
  disk.readFaultOf = (path, kind) => (path === `${PATH}/kubelet` && kind === 'read' ? 'EIO' : undefined)
  for (const seconds of [0, 20]) {
    time.nowUs = seconds * 1e6
    t.ok(checkpoints.content(FILE))
    t.throws(() => checkpoints.data('u', '212'), { code: 'EIO' })
  }
  time.nowUs = 31e6
  t.ok(checkpoints.content(FILE))
  t.equal(checkpoints.data('u', '212'), undefined)
  t.notOk(checkpoints.isUnreadable(FILE))
  disk.readFaultOf = undefined
  t.same(checkpoints.data('u', '212'), DATA)
  t.end()
})

t.test('a rendering and its checkpoint are independent', (t) => {
  const { files, aside, checkpoints } = open()
  checkpoints.save('u', '212', DATA)
  checkpoints.save('u', '212', { kubelet: '{}' }, OVERLAY)
  const overlaid = { ...FILE, overlay: OVERLAY }
  t.equal(checkpoints.path(overlaid), `${RENDERED}/kubelet`)
  t.equal(files.read(`${RENDERED}/kubelet`)?.toString(), '{}')
  t.equal(checkpoints.content(overlaid), contentHash({ kubelet: '{}' }, 'kubelet'))
  t.equal(checkpoints.content(FILE), contentHash(DATA, 'kubelet'))
  t.same(checkpoints.data('u', '212', OVERLAY), { kubelet: '{}' })
  t.strictSame(
    checkpoints.list().map(({ savedAtMs: _, ...version }) => version),
    [
      { uid: 'u', resourceVersion: '212' },
      { uid: 'u', resourceVersion: '212', overlay: OVERLAY },
    ],
  )
  t.throws(() => checkpoints.save('u', '212', DATA, OVERLAY), { code: 'content-differs' })
  checkpoints.replace('u', '212', DATA, 'restored etcd', OVERLAY)
  t.match(aside, [{ path: RENDERED, to: `${RENDERED}~set-aside-1` }])
  t.equal(checkpoints.list().length, 2, 'a rendering that was set aside is not listed')
  checkpoints.remove('u', '212', OVERLAY)
  t.same(files.list(`${ROOT}/rendered/u/212`), [`${OVERLAY}~set-aside-1`])
  t.same(checkpoints.data('u', '212'), DATA)
  t.end()
})

t.test('removing the last rendering removes its directories; invalid names are rejected or ignored', (t) => {
  const { disk, files, checkpoints } = open()
  checkpoints.save('u', '212', DATA, OVERLAY)
  files.makeDirectory(`${ROOT}/rendered/u/212/kubelet`)
  disk.plant(`${ROOT}/rendered/file`, 'x')
  t.equal(checkpoints.list().length, 1)
  files.removeTree(`${ROOT}/rendered/u/212/kubelet`)
  checkpoints.remove('u', '212', OVERLAY)
  t.same(files.list(`${ROOT}/rendered`), ['file'])
  for (const overlay of ['..', '../../x', 'ABCDEF0123456789'])
    t.throws(() => checkpoints.save('u', '212', DATA, overlay), { code: 'unsafe-name', message: /overlay/ })
  t.end()
})

t.test('a crash at any point of saving, replacing or removing a rendering leaves it complete or absent', (t) => {
  const check = (files: DurableFiles, where: string) => {
    const checkpoints = storeOf(files)
    const data = checkpoints.data('u', '212', OVERLAY)
    if (data !== undefined && data.kubelet !== 'new') assert.deepEqual(data, DATA, where)
    assert.deepEqual(checkpoints.data('u', '212'), { kubelet: 'own' }, where)
  }
  const saved = (files: DurableFiles) => storeOf(files).save('u', '212', { kubelet: 'own' })
  const rendered = (files: DurableFiles) => {
    saved(files)
    storeOf(files).save('u', '212', DATA, OVERLAY)
  }
  const crashes = crashEverywhere({
    prepare: saved,
    act: (files) => storeOf(files).save('u', '212', DATA, OVERLAY),
    check: (files, where) => {
      check(files, where)
      storeOf(files).save('u', '212', DATA, OVERLAY)
      assert.deepEqual(storeOf(files).data('u', '212', OVERLAY), DATA, where)
    },
  })
  t.ok(crashes > 100)
  crashEverywhere({ prepare: rendered, act: (files) => storeOf(files).remove('u', '212', OVERLAY), check })
  crashEverywhere({ prepare: rendered, act: (files) => storeOf(files).replace('u', '212', { kubelet: 'new' }, 'x', OVERLAY), check })
  t.end()
})
