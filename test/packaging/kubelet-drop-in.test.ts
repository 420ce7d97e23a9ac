// SPDX-License-Identifier: Apache-2.0
/** What the drop-in of kubelet's unit runs before each start, in a separate root. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const LINE = /^ExecStartPre=-(.*)$/m.exec(readFileSync('systemd/kubelet.service.d/90-kubelet-cfg-agent.conf', 'utf8'))?.[1] ?? ''

function start(t: Test, agent: string, state: Readonly<Record<string, string>> = {}) {
  const root = t.testdir({ state })
  writeFileSync(join(root, 'agent'), `#!/bin/sh\ncd ${root}\necho "$*" > called\n${agent}\n`, { mode: 0o755 })
  const words = LINE.replaceAll('/var/lib/kubelet-cfg-agent', join(root, 'state'))
    .replaceAll('/usr/bin/kubelet-cfg-agent', join(root, 'agent'))
    .replace('-k 1 10', '-k 0.1 0.3')
    .replace('%n', 'kubelet.service')
    .split(' ')
    .map((word) => (word === '\\;' ? ';' : word))
  // A program that is left has nothing that keeps this one waiting.
  const { status } = spawnSync(words[0] ?? '', words.slice(1), { stdio: 'ignore', timeout: 20_000 })
  const called = join(root, 'called')
  return { status, called: existsSync(called) ? readFileSync(called, 'utf8') : undefined }
}

t.test('state files are judged, unless the agent says that they fit', async (t) => {
  t.same(start(t, ''), { status: 0, called: 'set-aside --kubelet-unit=kubelet.service\n' })
  t.same(start(t, '', { 'states-fit': '' }), { status: 0, called: undefined })
})

t.test('kubelet starts though an agent fails, or hangs and ignores SIGTERM', async (t) => {
  t.equal(start(t, 'exit 1').status, 0)
  t.match(start(t, "trap '' TERM\nexec sleep 60"), { status: 0, called: 'set-aside' })
})
