// SPDX-License-Identifier: Apache-2.0
/** The licences of everything in the bundle were looked at, and the packages name them. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { readComponents } from '../../scripts/package/payload.ts'

/**
 * These licences ask for their text and the names of the authors, which THIRD-PARTY-LICENCES has.
 */
const LOOKED_AT = ['Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT']

t.test('each library in the bundle', async (t) => {
  const directory = t.testdir()
  const metafile = join(directory, 'metafile.json')
  await promisify(execFile)(process.execPath, ['scripts/build.mjs', 'src/main.ts', directory, metafile])
  const components = await readComponents(metafile)
  const names = components.map(({ name }) => name)
  t.ok(names.includes('@kubernetes/client-node') && names.includes('yaml'), names.join())
  const licencesOf = ({ licence }: { readonly licence: string }) => licence.split(' AND ')
  for (const component of components)
    t.same(
      licencesOf(component).filter((licence) => !LOOKED_AT.includes(licence)),
      [],
      component.name,
    )
  for (const { name, licenceText } of components) t.match(licenceText, /Copyright|\(c\)/i, `${name}: the names of the authors`)
  const spec = /^License: (.*)$/m.exec(readFileSync('packaging/rpm/kubelet-cfg-agent.spec', 'utf8'))?.[1]?.split(' AND ')
  t.same(
    [...new Set(components.flatMap(licencesOf))].filter((licence) => !spec?.includes(licence)),
    [],
    'the rpm names all of them',
  )
})
