// SPDX-License-Identifier: Apache-2.0
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { JournalJobResults } from '../../src/systemd/job-results.ts'

const LINE = `{"__CURSOR":"s=1","MESSAGE":"kubelet.service: Job kubelet.service/start failed with result 'dependency'.","__REALTIME_TIMESTAMP":"1795863960936682","__MONOTONIC_TIMESTAMP":"1309976511"}`

const BOOT = '0123456789abcdef0123456789abcdef'

/** `journalctl`, as a script, which also tells the boot. */
function ask(directory: string, script: string, boot = BOOT) {
  const journalctl = join(directory, 'journalctl')
  const tellsBoot = `case "$*" in *JOB_RESULT*) ;; *) echo '{"_BOOT_ID":"${boot}"}'; exit;; esac`
  writeFileSync(journalctl, `#!/bin/sh\n${tellsBoot}\n${script}\n`)
  chmodSync(journalctl, 0o755)
  return new JournalJobResults({ journalctl, unit: 'kubelet.service' }).dependencyFailedUs()
}

t.test('the time of the latest line of this boot, by the monotonic clock', async (t) => {
  const directory = t.testdir()
  const args = join(directory, 'args')
  t.equal(await ask(directory, `echo "$@" > ${args}\ncat <<'END'\n${LINE}\nEND`), 1309976511)
  t.match(readFileSync(args, 'utf8'), new RegExp(`--lines=1 _PID=1 _BOOT_ID=${BOOT} UNIT=kubelet\\.service JOB_RESULT=dependency`))
})

t.test('what cannot be read is not known', async (t) => {
  t.equal(await ask(t.testdir(), 'true'), undefined, 'no such line')
  t.equal(await ask(t.testdir(), `echo '${LINE.replace(/'/g, '')}'; exit 1`), undefined)
  t.equal(await ask(t.testdir(), 'echo garbage'), undefined)
  t.equal(await ask(t.testdir(), `echo '${LINE.replace(/'/g, '')}'`, 'no boot'), undefined, 'which boot it is')
  t.equal(await new JournalJobResults({ journalctl: '/nonexistent', unit: 'kubelet.service' }).dependencyFailedUs(), undefined)
})
