// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAgentService } from '../../src/systemd/agent-service.ts'
import { readAgentService } from '../../src/systemd/read-agent-service.ts'

const show = (load: string, active: string, sub: string, result: string, enabled: string) =>
  `LoadState=${load}\nActiveState=${active}\nSubState=${sub}\nResult=${result}\nUnitFileState=${enabled}\n`

t.test('the states of the unit', async (t) => {
  const known = (enabled: string, phase: string, summary: string) => ({ kind: 'known', enabled, phase, summary })
  const read = (...values: Parameters<typeof show>) => parseAgentService(show(...values))
  t.same(read('loaded', 'active', 'running', 'success', 'enabled'), known('enabled', 'active', 'active (running)'))
  t.same(read('loaded', 'reloading', 'reload', 'success', 'enabled'), known('enabled', 'active', 'reloading (reload)'))
  t.same(read('loaded', 'activating', 'start', 'success', 'enabled'), known('enabled', 'starting', 'activating (start)'))
  t.match(read('loaded', 'activating', 'auto-restart', 'exit-code', 'enabled'), { phase: 'down' }, 'it ended, and tries again')
  t.same(read('loaded', 'inactive', 'dead', 'success', 'disabled'), known('disabled', 'down', 'inactive (dead)'))
  t.same(read('loaded', 'failed', 'failed', 'exit-code', 'enabled'), known('enabled', 'down', 'failed (exit-code)'))
  t.match(read('masked', 'inactive', 'dead', 'success', 'masked'), { enabled: 'masked' })
  t.match(read('masked', 'inactive', 'dead', 'success', 'masked-runtime'), { enabled: 'masked' }, 'until the next boot')
  t.same(read('not-found', 'inactive', 'dead', 'success', ''), { kind: 'absent' })
  t.match(parseAgentService('Failed\n'), { kind: 'unknown', detail: /unexpected/ })
})

t.test('asks systemctl once, and says why it cannot', async (t) => {
  const dir = t.testdir({})
  const systemctl = join(dir, 'systemctl')
  writeFileSync(systemctl, `#!/bin/sh\necho "$*" >> ${dir}/calls\nprintf '${show('loaded', 'inactive', 'dead', 'success', 'enabled')}'\n`, {
    mode: 0o755,
  })
  t.match(await readAgentService(systemctl), { kind: 'known', enabled: 'enabled', phase: 'down' })
  writeFileSync(systemctl, '#!/bin/sh\necho "no bus" >&2\nexit 1\n')
  t.match(await readAgentService(systemctl), { kind: 'unknown', detail: /no bus/ })
  t.match(await readAgentService(join(dir, 'none')), { kind: 'unknown' })
})
