import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { expandPath } from '../../src/systemd/path-pattern.ts'

const TREE: Readonly<Record<string, readonly string[]>> = {
  '/': ['etc', 'run'],
  '/etc': ['kubelet.d', 'kubelet.env', 'other.d'],
  '/etc/kubelet.d': ['b.env', 'a.env', '.hidden.env', 'B.env', 'c.env~', 'a*b', 'x-y', '10.env', '2.env', ']'],
  '/etc/other.d': ['b.env', 'z.env'],
}
const expand = (path: string) => expandPath(path, (directory) => TREE[directory])

t.test('a path without wildcards is the path, whether the file exists or not', async (t) => {
  for (const path of ['/etc/kubelet.env', '/none', '/etc//kubelet.env', 'relative']) t.strictSame(expand(path), [path])
})

t.test('wildcards in any part of a path, sorted', async (t) => {
  const d = (...names: string[]) => names.map((name) => `/etc/kubelet.d/${name}`)
  const cases: [path: string, found: string[]][] = [
    ['/etc/kubelet.d/*.env', d('10.env', '2.env', 'B.env', 'a.env', 'b.env')],
    ['/etc/kubelet.d/?.env', d('2.env', 'B.env', 'a.env', 'b.env')],
    ['/etc/kubelet.d/[ab].env', d('a.env', 'b.env')],
    ['/etc/kubelet.d/[a-c].env*', d('a.env', 'b.env', 'c.env~')],
    ['/etc/kubelet.d/[!a-z].env', d('2.env', 'B.env')],
    ['/etc/kubelet.d/[^a-z].env', d('2.env', 'B.env')],
    ['/etc/kubelet.d/[[:upper:]0-9].env', d('2.env', 'B.env')],
    ['/etc/kubelet.d/[]]', d(']')],
    ['/etc/kubelet.d/x[,-]y', d('x-y')],
    ['/etc/kubelet.d/[z-a].env', []],
    ['/etc/kubelet.d/[a.env', []],
    ['/etc/kubelet.d/a\\*b', d('a*b')],
    ['/etc/kubelet.d/.*.env', d('.hidden.env')],
    ['/etc/kubelet.d/.h*', d('.hidden.env')],
    ['/etc/*.d/b.env', ['/etc/kubelet.d/b.env', '/etc/other.d/b.env']],
    ['/etc/*/z.env', ['/etc/other.d/z.env']],
    ['/etc/kubelet.d/./[b].env', d('b.env')],
    ['/none/*', []],
    ['/etc/kubelet.d/*.none', []],
  ]
  for (const [path, found] of cases) t.strictSame(expand(path), found, path)
})

t.test('the shell, which uses the same rules, finds the same', async (t) => {
  const dir = t.testdir({ one: { 'a.env': '', 'b c.env': '', '.d.env': '', '[x].env': '', 'a+b.env': '' }, two: { 'a.env': '' } })
  const list = (directory: string) => {
    try {
      return readdirSync(directory)
    } catch {
      return undefined
    }
  }
  for (const pattern of [
    '*/*.env',
    'one/?.env',
    '*/a*',
    'one/[[]x].env',
    'one/[!b]*.env',
    'one/.*env',
    'one/a+b.en?',
    'two/[[:alpha:]].env',
  ]) {
    const script = `set -f; p=$1; set +f; IFS=; for f in $p; do printf '%s\\n' "$f"; done`
    const found = execFileSync('/bin/sh', ['-c', script, 'sh', join(dir, pattern)], { env: { LC_ALL: 'C' }, encoding: 'utf8' })
    t.strictSame(expandPath(join(dir, pattern), list), found.trim().split('\n'), pattern)
  }
})
