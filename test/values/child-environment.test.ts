// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { besideSystemctl } from '../../src/values/child-environment.ts'

t.test('PATH finds it where /bin and /usr/bin are two directories', async (t) => {
  for (const systemctl of ['/bin/systemctl', '/usr/bin/systemctl']) t.equal(besideSystemctl(systemctl, 'systemd-run'), 'systemd-run')
})

t.test('a systemctl of another place has its own beside it', async (t) => {
  t.equal(besideSystemctl('/run/current-system/sw/bin/systemctl', 'journalctl'), '/run/current-system/sw/bin/journalctl')
})
