// SPDX-License-Identifier: Apache-2.0
/** The output of `npm run fields` about two releases, and the code that our rules name. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { describeChanges, listChanges } from '../../scripts/fields/changes.ts'
import { isReleased, listCitations, listGone } from '../../scripts/fields/citations.ts'
import { modulesWith } from '../../scripts/fields/releases.ts'

const RULES = join(import.meta.dirname, '../../src/preflight/fields')

t.test('the changes between two releases, function by function', async (t) => {
  const before = { functions: { 'a.Same': 'x', 'a.Gone': 'y', 'b.Check': 'func Check() {\n\tone()\n\ttwo()\n}' } }
  const after = { functions: { 'a.Same': 'x', 'b.Check': 'func Check() {\n\tone()\n\tthree()\n\ttwo()\n}', 'b.New': 'z' } }
  const changes = listChanges(before, after)
  t.strictSame(changes, [
    { name: 'a.Gone', kind: 'gone', lines: ['-y'] },
    { name: 'b.Check', kind: 'changed', lines: ['+\tthree()'] },
    { name: 'b.New', kind: 'new', lines: ['+z'] },
  ])
  t.strictSame(listChanges(after, after), [])
  t.match(
    describeChanges('v1.37.2', 'v1.38.0-beta.0', changes),
    /^From v1\.37\.2 to v1\.38\.0-beta\.0: 3 .* differ\ngone: a\.Gone\n {2}-y\n/,
  )
  const replaced = listChanges({ functions: { f: 'a\nb\nc' } }, { functions: { f: 'a\nx\nc\nd' } })
  t.strictSame(replaced[0]?.lines, ['-b', '+x', '+d'])
})

t.test('the code that a comment names', async (t) => {
  const text = [
    '/**',
    ' * Rules: `Set` and `SetFromMap`,',
    ' * k8s.io/component-base/featuregate; `run` (cmd/kubelet/app/server.go), k8s.io/utils/cpuset and its',
    ' * `Parse`; pkg/kubelet/sysctl has `NewWhitelist` in 1.20. `Parse`, k8s.io/utils/cpuset.',
    ' */',
    'const set = `no comment`, cmd/kubelet',
    '// `Store.Get` of pkg/kubelet/store.',
  ].join('\n')
  const citations = listCitations('a.ts', text)
  t.strictSame(
    citations.filter(isReleased).map(({ name, path }) => `${name} ${path}`),
    [
      'Set k8s.io/component-base/featuregate',
      'SetFromMap k8s.io/component-base/featuregate',
      'run k8s.io/kubernetes/cmd/kubelet/app/server.go',
      'Store.Get k8s.io/kubernetes/pkg/kubelet/store',
    ],
  )
  const declared = {
    'k8s.io/component-base/featuregate': ['featureGate.Set', 'featureGate.SetFromMap'],
    'k8s.io/kubernetes/cmd/kubelet/app/server.go': ['running'],
    'k8s.io/kubernetes/pkg/kubelet/store': ['Store.Get'],
  }
  t.strictSame(listGone(citations.filter(isReleased), declared), [
    'a.ts names run of k8s.io/kubernetes/cmd/kubelet/app/server.go, which is gone',
  ])
})

t.test('a module has the version of its release', async (t) => {
  const release = { minor: 38, patch: '0-beta.0' } as const
  t.strictSame(
    [...modulesWith(release, ['k8s.io/kubernetes/cmd/kubelet', 'k8s.io/client-go/rest', 'k8s.io/client-go/util'])],
    [
      ['k8s.io/kubernetes', 'v1.38.0-beta.0'],
      ['k8s.io/client-go', 'v0.38.0-beta.0'],
    ],
  )
})

t.test('every module of rules about fields names the code that it follows', async (t) => {
  const modules = readdirSync(RULES).map((name) => [name, readFileSync(join(RULES, name), 'utf8')] as const)
  const rules = modules.filter(([, text]) => /^export function check\w+\(/m.test(text))
  t.ok(rules.length >= 4, `${rules.length} modules`)
  for (const [name, text] of rules) t.ok(listCitations(name, text).length > 0, name)
})
