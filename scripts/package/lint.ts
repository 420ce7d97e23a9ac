// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the distributions' own checkers: any error or warning fails the build. Overrides, each with
 * its reason, are in packaging/.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { COMPLETER, PLUGIN } from '../../src/command/plugin/plugin-name.ts'
import { CONFIG_PAGE } from './man.ts'
import { run } from './tools.ts'

export async function lintDeb(deb: string): Promise<void> {
  await run('lintian', ['--allow-root', '--tag-display-limit', '0', '--fail-on', 'error,warning', deb])
}

export async function lintRpms(rpms: readonly string[]): Promise<void> {
  const output = await run('rpmlint', ['--config', 'packaging/rpm/rpmlint.toml', ...rpms], { accept: [64, 65, 66] })
  // With warnings only, its exit code is 0.
  if (!/ 0 errors, 0 warnings/.test(output)) throw new Error(`rpmlint:\n${output}`)
}

export async function lintScripts(): Promise<void> {
  const folders = await Promise.all(
    ['packaging/common', 'packaging/image'].map(async (each) => (await readdir(each)).map((name) => join(each, name))),
  )
  await run('shellcheck', [...folders.flat(), 'packaging/plugin/launcher', 'packaging/deb/prerm', 'packaging/deb/postrm'])
  const spec = await readFile('packaging/rpm/kubelet-cfg-agent.spec', 'utf8')
  if (/systemctl[^\n]*restart[^\n]* kubelet(\.service)?\s/.test(spec)) throw new Error('the spec restarts kubelet')
}

/** man(1) prints nothing about a page that has no problems. */
export async function lintManPages(payload: string): Promise<void> {
  for (const name of ['kubelet-cfg-agent.8', `${CONFIG_PAGE}.5`, `${PLUGIN}.1`, `${COMPLETER}.1`]) {
    const path = join(payload, 'man', name)
    const output = await run('man', ['--warnings', '--encoding=UTF-8', '--local-file', '--ditroff', '--troff-device=utf8', path], {
      env: { ...process.env, LC_ALL: 'C.UTF-8', MANROFFSEQ: '' },
    })
    const warnings = output.split('\n').filter((line) => /warning|error/i.test(line) && line.includes('<standard input>'))
    if (warnings.length > 0) throw new Error(`${path}: ${warnings.join('\n')}`)
  }
}
