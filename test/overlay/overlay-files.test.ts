// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process'
import fs, { chmodSync, chownSync, lchownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { NodeOwnedFiles } from '../../src/directory/owned-files.ts'
import { readInstanceFile, readOverlayFiles } from '../../src/overlay/overlay-files.ts'

const OWNED = new NodeOwnedFiles()

function directory(t: { testdir(content?: Record<string, string>): string }, files: Readonly<Record<string, string>> = {}): string {
  const path = join(t.testdir({}), 'overlay.d')
  mkdirSync(path)
  chmodSync(path, 0o755)
  for (const [name, text] of Object.entries(files)) write(path, name, text)
  return path
}

function write(path: string, name: string, text: string, mode = 0o644): void {
  writeFileSync(join(path, name), text)
  chmodSync(join(path, name), mode)
}

const names = (path: string) => {
  const found = readOverlayFiles(path, OWNED)
  return found.kind === 'files' ? [...found.files.keys()] : found.detail
}

const NO_RESOLVED = { stat: () => undefined }
const noLink = () => undefined

t.test('files are read in lexical order, other files are ignored', async (t) => {
  const path = directory(t, { '20-b.yaml': 'b', '10-a.yml': 'a', '9.yaml': 'c', '.x.yaml': '', 'x.yaml~': '', README: '' })
  t.same(names(path), ['10-a.yml', '20-b.yaml', '9.yaml'])
  const found = readOverlayFiles(path, OWNED)
  t.equal(found.kind === 'files' && found.files.get('20-b.yaml')?.toString(), 'b')
})

t.test('of kubelet’s directory one file is read', async (t) => {
  const path = directory(t, { 'config.yaml': 'a', 'instance-config.yaml': 'b' })
  t.same(readInstanceFile(path, OWNED, NO_RESOLVED, noLink), {
    kind: 'files',
    files: new Map([['instance-config.yaml', Buffer.from('b')]]),
  })
  t.same(readInstanceFile(directory(t, { 'config.yaml': 'a' }), OWNED, NO_RESOLVED, noLink), { kind: 'files', files: new Map() })
})

t.test('on a node with systemd-resolved, its file comes below the instance config', async (t) => {
  const path = directory(t, { 'instance-config.yaml': 'b' })
  const seen: string[] = []
  const stat = (of: string) => {
    seen.push(of)
    return { kind: 'file', mode: 0, uid: 0, gid: 0, size: 0, mtimeMs: 0, identity: '' } as const
  }
  const found = readInstanceFile(path, OWNED, { stat }, noLink)
  t.same(found.kind === 'files' && [...found.files.keys()], ['systemd-resolved', 'instance-config.yaml'])
  t.same(seen, ['/run/systemd/resolve/resolv.conf'])
  const broken = () => {
    throw new Error('EACCES')
  }
  t.match(readInstanceFile(path, OWNED, { stat: broken }, noLink), { kind: 'faulty', detail: 'EACCES' }, 'not known is not absent')
})

t.test('where systemd-resolved starts late at boot, its link tells of it before its file is there', async (t) => {
  const path = directory(t)
  const layersWith = (link: string | undefined) => {
    const found = readInstanceFile(path, OWNED, NO_RESOLVED, (of) => (of === '/etc/resolv.conf' ? link : undefined))
    return found.kind === 'files' && [...found.files.keys()]
  }
  for (const link of [
    '../run/systemd/resolve/stub-resolv.conf',
    '/run/systemd/resolve/stub-resolv.conf',
    '/run/systemd/resolve/resolv.conf',
  ])
    t.same(layersWith(link), ['systemd-resolved'], link)
  for (const link of ['/run/NetworkManager/resolv.conf', 'resolv.conf.static', undefined]) t.same(layersWith(link), [], link ?? 'no link')
})

t.test('an instance config that cannot be read is faulty, and never taken for none', async (t) => {
  const cases: readonly (readonly [string, (file: string) => void, RegExp])[] = [
    ['a named pipe', (file) => void execFileSync('mkfifo', [file]), /is not a regular file/],
    ['a directory', (file) => mkdirSync(file), /is not a regular file/],
    ['nothing behind a link', (file) => symlinkSync('nowhere', file), /is a dangling symbolic link/],
    ['others can write it', (file) => write(file, '', '', 0o666), /is writable by group or others/],
    ['too large', (file) => write(file, '', 'x'.repeat((1 << 20) + 1)), /is too large/],
  ]
  for (const [what, make, detail] of cases) {
    const path = directory(t)
    make(join(path, 'instance-config.yaml'))
    t.match(readInstanceFile(path, OWNED, NO_RESOLVED, noLink), { kind: 'faulty', detail }, what)
  }
})

t.test('a missing or empty directory means no overlay', async (t) => {
  t.same(names(join(t.testdir({}), 'nowhere')), [])
  t.same(names(directory(t)), [])
})

t.test('a file or directory that others can write is refused', async (t) => {
  const path = directory(t, { 'a.yaml': 'a' })
  for (const mode of [0o664, 0o646, 0o666]) {
    chmodSync(join(path, 'a.yaml'), mode)
    t.match(names(path), /a\.yaml is writable by group or others/)
  }
  chmodSync(join(path, 'a.yaml'), 0o600)
  t.same(names(path), ['a.yaml'])
  chmodSync(path, 0o775)
  t.match(names(path), /overlay\.d is writable by group or others/)
})

t.test('a file of another user is refused', { skip: process.geteuid?.() !== 0 && 'only root can give files away' }, async (t) => {
  const path = directory(t, { 'a.yaml': 'a' })
  chownSync(join(path, 'a.yaml'), 12345, 0)
  t.match(names(path), /a\.yaml belongs to uid 12345/)
  chownSync(join(path, 'a.yaml'), 0, 0)
  chownSync(path, 12345, 0)
  t.match(names(path), /overlay\.d belongs to uid 12345/)
})

t.test('symbolic links are followed, and their targets are checked', async (t) => {
  const path = directory(t)
  chmodSync(join(path, '..'), 0o755)
  write(join(path, '..'), 'elsewhere', 'text')
  symlinkSync('../elsewhere', join(path, 'a.yaml'))
  t.same(names(path), ['a.yaml'])
  chmodSync(join(path, '../elsewhere'), 0o666)
  t.match(names(path), /a\.yaml is writable by group or others/)
  chmodSync(join(path, '../elsewhere'), 0o644)
  symlinkSync('b.yaml', join(path, 'b.yaml'))
  t.match(names(path), /b\.yaml cannot be read: ELOOP/)
})

t.test('a symbolic link leads nowhere where others could make it lead elsewhere', async (t) => {
  const path = directory(t)
  const base = join(path, '..')
  chmodSync(base, 0o755)
  mkdirSync(join(base, 'theirs'))
  write(join(base, 'theirs'), 'text', 'text')
  symlinkSync('theirs', join(base, 'between'))
  symlinkSync('../between/text', join(path, 'a.yaml'))
  chmodSync(join(base, 'theirs'), 0o755)
  t.same(names(path), ['a.yaml'])
  chmodSync(join(base, 'theirs'), 0o757)
  t.match(names(path), /theirs is writable by group or others/, 'a directory on the way')
  chmodSync(join(base, 'theirs'), 0o1757)
  t.same(names(path), ['a.yaml'], 'in a sticky directory nobody replaces what is root’s')
  symlinkSync('overlay.d', join(base, 'linked.d'))
  t.same(names(join(base, 'linked.d')), ['a.yaml'], 'the directory may be a link too')
  chmodSync(base, 0o777)
  t.match(names(join(base, 'linked.d')), /is writable by group or others/)
  chmodSync(base, 0o755)
  if (process.geteuid?.() !== 0) return
  lchownSync(join(base, 'between'), 12345, 0)
  t.match(names(path), /between belongs to uid 12345/, 'a link on the way')
  lchownSync(join(base, 'between'), 0, 0)
  lchownSync(join(path, 'a.yaml'), 12345, 0)
  t.match(names(path), /a\.yaml belongs to uid 12345/, 'the link itself')
})

t.test('a link that is turned, or removed, after its file was opened', async (t) => {
  const path = directory(t, { 'b.txt': 'b', 'c.txt': 'c' })
  const link = join(path, 'a.yaml')
  const afterOpen = (change: () => void) => {
    const open = fs.openSync
    fs.openSync = (...args) => {
      const fd = open(...args)
      change()
      return fd
    }
    syncBuiltinESMExports()
    try {
      return names(path)
    } finally {
      fs.openSync = open
      syncBuiltinESMExports()
    }
  }
  symlinkSync('b.txt', link)
  t.same(
    afterOpen(() => {}),
    ['a.yaml'],
  )
  t.match(
    afterOpen(() => {
      rmSync(link)
      symlinkSync('c.txt', link)
    }),
    /a\.yaml was replaced while it was read/,
  )
  t.match(
    afterOpen(() => rmSync(link)),
    /a\.yaml was removed or replaced while it was read/,
  )
})

t.test('directories, dangling links, large files and unusual names are refused', async (t) => {
  const cases: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    ['a directory', (path) => mkdirSync(join(path, 'a.yaml')), /a\.yaml is not a regular file/],
    ['nothing behind a link', (path) => symlinkSync('/nowhere/at/all', join(path, 'a.yaml')), /is a dangling symbolic link/],
    ['too large', (path) => write(path, 'a.yaml', 'x'.repeat((1 << 20) + 1)), /a\.yaml is too large/],
    [
      'too large together',
      (path) => {
        write(path, 'a.yaml', 'x'.repeat(1 << 19))
        write(path, 'b.yaml', 'x'.repeat((1 << 19) + 1))
      },
      /b\.yaml is too large/,
    ],
    ['an odd name', (path) => write(path, 'a\n.yaml', ''), /may contain only letters/],
  ]
  for (const [what, make, detail] of cases) {
    await t.test(what, async (t) => {
      const path = directory(t)
      make(path)
      t.match(names(path), detail)
    })
  }
  const file = join(t.testdir({ file: '' }), 'file')
  t.match(names(file), /is not a directory/)
})

t.test('files up to the size limit are read whole', async (t) => {
  const found = readOverlayFiles(directory(t, { 'a.yaml': 'x'.repeat(1 << 20) }), OWNED)
  t.equal(found.kind === 'files' && found.files.get('a.yaml')?.length, 1 << 20)
})
