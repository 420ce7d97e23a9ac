import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { KubeletBinaries } from '../../../src/preflight/kubelet/binaries.ts'

const binaries = new KubeletBinaries()

t.test('programs and scripts that are not a kubelet', async (t) => {
  const directory = t.testdir({ empty: '', short: 'E' })
  const script = join(directory, 'kubelet')
  writeFileSync(script, `#!/bin/sh\necho Kubernetes v1.20.2\ntouch ${directory}/ran\n`, { mode: 0o755 })
  mkdirSync(join(directory, 'folder'))
  for (const [path, detail] of [
    [join(directory, 'missing'), 'there is no kubelet at'],
    [join(directory, 'folder'), 'there is no kubelet at'],
    [join(directory, 'empty'), 'is not an ELF program, so kubelet itself cannot check the config'],
    [join(directory, 'short'), 'is not an ELF program, so kubelet itself cannot check the config'],
    [script, 'is not an ELF program, so kubelet itself cannot check the config'],
    // A program with another version text.
    [process.execPath, `is not a kubelet: ${process.execPath} --version printed "${process.version}"`],
    ['/proc/1/mem', /./],
  ] as const)
    t.match(await binaries.version(path), { ok: false, detail }, path)
  t.match(await new KubeletBinaries().version(join(directory, 'ran')), { ok: false }, 'the script was not run')
})
