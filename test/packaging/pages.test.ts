// SPDX-License-Identifier: Apache-2.0
/** The documents in a package: each link of theirs leads somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { adaptPage, layOutPages } from '../../scripts/package/pages.ts'

const read = (path: string) => readFileSync(path, 'utf8')

/** Without anchors. */
function listTargets(page: string): readonly string[] {
  const text = page.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`]*`/g, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !/^[a-z]+:|^#/.test(target)).map((target) => target.replace(/#.*/, ''))
}

t.test('each link of each page leads to a file of the package', async (t) => {
  const directory = t.testdir({})
  await layOutPages(directory)
  const pages = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const links = pages.flatMap((page) => listTargets(read(join(directory, page))).map((target) => ({ page, target })))
  t.ok(pages.length > 15 && links.length > 100)
  t.ok(links.some(({ target }) => target.endsWith('.svg')))
  t.same(
    links.filter(({ page, target }) => !existsSync(join(directory, dirname(page), target))),
    [],
  )
})

t.test('no page names a file of the source that the package has elsewhere', async (t) => {
  const directory = t.testdir({})
  await layOutPages(directory)
  const pages = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const named = pages.flatMap((page) => read(join(directory, page)).match(/^.*deploy\/.*$/gm) ?? [])
  t.same(named, [])
  const install = read(join(directory, 'docs/install.md'))
  t.match(install, 'In the packages, `deploy` is `/usr/share/doc/kubelet-cfg-agent/examples`', 'messages name it')
})

t.test('both packages take all of them', async (t) => {
  const directory = t.testdir({})
  await layOutPages(directory)
  const control = read('packaging/deb/docs')
  const spec = read('packaging/rpm/kubelet-cfg-agent.spec')
  for (const name of readdirSync(directory)) {
    // debhelper has a list of its own for examples.
    if (name !== 'examples') t.match(control, new RegExp(`^doc/${name}$`, 'm'), name)
    t.match(spec, new RegExp(`^%doc /usr/share/doc/kubelet-cfg-agent/${name}$`, 'm'), name)
  }
})

t.test('links are adapted to the package', (t) => {
  t.equal(
    adaptPage('[a](../deploy/rbac/status.yaml) [b](deploy/assign.yaml) [c](status.md) [d](LICENSE)'),
    '[a](../examples/rbac/status.yaml) [b](examples/assign.yaml) [c](status.md) [d](https://www.apache.org/licenses/LICENSE-2.0)',
  )
  t.equal(
    adaptPage(
      '`deploy/rbac/` and\n```console\n$ kubectl apply -f deploy/rbac/node-configmaps.yaml\n```\n[deploy/a.yaml](../deploy/a.yaml)',
    ),
    '`/usr/share/doc/kubelet-cfg-agent/examples/rbac/` and\n```console\n' +
      '$ kubectl apply -f /usr/share/doc/kubelet-cfg-agent/examples/rbac/node-configmaps.yaml\n```\n' +
      '[/usr/share/doc/kubelet-cfg-agent/examples/a.yaml](../examples/a.yaml)',
    'a command works from every directory',
  )
  t.equal(
    adaptPage('Its [build\nneeds](../CONTRIBUTING.md#packages), [CONTRIBUTING](CONTRIBUTING.md)'),
    'Its build\nneeds (CONTRIBUTING.md in the source), CONTRIBUTING (in the source)',
  )
  t.end()
})
