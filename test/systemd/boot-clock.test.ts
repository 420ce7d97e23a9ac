// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BootClock } from '../../src/systemd/boot-clock.ts'

t.test('without /proc, reading the clock fails with an error that says what is missing', (t) => {
  const path = join(t.testdir({}), 'boot_id')
  const clock = new BootClock(path)
  t.throws(() => clock.now(), {
    message: /^cannot read the boot ID: ENOENT.*boot_id.*; mount \/proc completely/,
    cause: { code: 'ENOENT' },
  })
  writeFileSync(path, 'one\n')
  const first = clock.now()
  t.equal(first.bootId, 'one')
  writeFileSync(path, 'two\n')
  t.equal(clock.now().bootId, 'one', 'read once')
  t.ok(clock.now().monotonicUs >= first.monotonicUs)
  t.end()
})

t.test('the kernel provides a boot ID', async (t) => {
  t.match(new BootClock().now().bootId, /^[0-9a-f-]{36}$/)
})
