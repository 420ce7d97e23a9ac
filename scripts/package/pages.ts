// SPDX-License-Identifier: Apache-2.0
/**
 * The documents in a package: the pages with their images, the changelog, what the project says on
 * security, and `deploy/` as examples. Each link between them leads to a file of the package, and
 * so does each path in text and commands.
 */
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const EXAMPLES = '/usr/share/doc/kubelet-cfg-agent/examples/'
const LICENCE = 'https://www.apache.org/licenses/LICENSE-2.0'

export async function layOutPages(directory: string): Promise<void> {
  const at = (path: string) => join(directory, path)
  await mkdir(at('docs'), { recursive: true })
  for (const page of await listPages()) await writeFile(at(page), adaptPage(await readFile(page, 'utf8')))
  await cp('docs/images', at('docs/images'), { recursive: true })
  await cp('deploy', at('examples'), { recursive: true })
}

async function listPages(): Promise<string[]> {
  const pages = (await readdir('docs')).filter((name) => name.endsWith('.md'))
  return ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...pages.sort().map((name) => `docs/${name}`)]
}

/**
 * CONTRIBUTING, the bench and the chart are no part of the packages, and stay in the source. A deb
 * has the licence in its own place only: Debian Policy 12.5.
 */
export function adaptPage(page: string): string {
  return page
    .replace(/\]\((\.\.\/)?deploy\//g, (_, up = '') => `](${up}examples/`)
    .replaceAll('deploy/', EXAMPLES)
    .replace(/\[([^\]]*)\]\((?:\.\.\/)?CONTRIBUTING\.md[^)]*\)/g, (_, text: string) =>
      text.includes('CONTRIBUTING') ? `${text} (in the source)` : `${text} (CONTRIBUTING.md in the source)`,
    )
    .replace(/\[([^\]]*)\]\(\.\.\/((?:bench|charts)\/[^)]*)\)/g, '$1 ($2 in the source)')
    .replace(/\]\((?:\.\.\/)?LICENSE\)/g, `](${LICENCE})`)
}
