// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { KubeletBinaries } from '../../../src/preflight/kubelet/binaries.ts'

const binaries = new KubeletBinaries()

t.test('k3s has the version of the kubelet in it', { skip: hasCompiler() ? false : 'no C compiler' }, async (t) => {
  const build = (name: string, output: string) => {
    const directory = t.testdir()
    const source = join(directory, 'main.c')
    writeFileSync(source, `#include <stdio.h>\nint main(void) { puts(${JSON.stringify(output)}); return 0; }\n`)
    execFileSync('cc', ['-o', join(directory, name), source])
    return join(directory, name)
  }
  const k3s = await binaries.version(build('k3s', 'k3s version v1.36.4+k3s1 (3dd98cc5)\ngo version go1.26.8'))
  t.match(k3s, { ok: true, version: { major: 1, minor: 36, patch: 4 }, inside: true })
  const kubelet = await binaries.version(build('kubelet', 'Kubernetes v1.36.4'))
  t.match(kubelet, { ok: true, version: { major: 1, minor: 36, patch: 4 }, inside: undefined })
  const rke2 = await binaries.version(build('rke2', 'rke2 version v1.36.4+rke2r1 (3dd98cc5)'))
  t.match(rke2, { ok: false, detail: 'is not a kubelet' })
})

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

t.test('a kubelet that does not run on this machine', async (t) => {
  const directory = t.testdir({ bin: {} })
  const kubelet = join(directory, 'kubelet')
  const program = readFileSync('/bin/false')
  for (const [what, bytes, cannotRun] of [
    ['it exits, as one without its libraries', program, 'without-environment'],
    ['truncated', program.subarray(0, 100), 'at-all'],
    ['for another processor', Buffer.concat([program.subarray(0, 18), Buffer.from([0xf3, 0]), program.subarray(20)]), 'at-all'],
  ] as const) {
    writeFileSync(kubelet, bytes, { mode: 0o755 })
    const answer = await new KubeletBinaries().version(kubelet)
    t.match(answer, { ok: false, cannotRun, detail: `${kubelet} cannot run on this machine: ` }, what)
    t.notMatch(answer.ok ? '' : answer.detail, /\n/)
  }
  const commands = join(directory, 'commands')
  const script = `\ntouch ${directory}/ran\n`
  writeFileSync(commands, Buffer.concat([program.subarray(0, 18), Buffer.from([0xf3, 0]), program.subarray(20, 64), Buffer.from(script)]), {
    mode: 0o755,
  })
  t.match(await new KubeletBinaries().version(commands), { ok: false, detail: 'damaged, or for another processor' })
  t.notOk(existsSync(join(directory, 'ran')), 'the C library gives a program that the kernel refuses to a shell')
  const wrapper = join(directory, 'bin', 'start-node')
  copyFileSync('/bin/false', wrapper)
  t.match(await binaries.version(wrapper), { ok: false, cannotRun: undefined, detail: 'is not a kubelet' }, 'a program of another name')
})

function hasCompiler(): boolean {
  try {
    execFileSync('cc', ['--version'])
    return true
  } catch {
    return false
  }
}

t.test(
  'the program that a process runs, which an upgrade has replaced on disk',
  { skip: hasCompiler() ? false : 'no C compiler' },
  async (t) => {
    const directory = t.testdir()
    const kubelet = join(directory, 'kubelet')
    const install = (version: string) => {
      const source = join(directory, 'main.c')
      const text = `#include <stdio.h>\n#include <unistd.h>\nint main(int count, char **words) { if (count == 1) pause(); puts("Kubernetes v${version}"); return 0; }\n`
      writeFileSync(source, text)
      execFileSync('cc', ['-o', join(directory, 'next'), source])
      renameSync(join(directory, 'next'), kubelet)
    }
    install('1.36.3')
    const child = spawn(kubelet, { stdio: 'ignore' })
    t.teardown(() => child.kill())
    const pid = child.pid ?? 0
    t.match(await binaries.versionOfProcess(pid, kubelet), { ok: true, version: { minor: 36 } })
    install('1.37.2')
    t.match(await binaries.versionOfProcess(pid, kubelet), { ok: true, version: { minor: 36 } })
    t.match(await binaries.version(kubelet), { ok: true, version: { minor: 37 } })
    t.match(await binaries.versionOfProcess(pid, '/usr/bin/wrapper'), { ok: false, detail: /runs .*kubelet, not \/usr\/bin\/wrapper/ })
    t.match(await binaries.versionOfProcess(999_999_999, kubelet), { ok: false })
  },
)
