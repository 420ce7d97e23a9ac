// SPDX-License-Identifier: Apache-2.0
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { JournalLastWords } from '../../src/systemd/last-words.ts'

const ID = '0123456789abcdef0123456789abcdef'

/**
 * A stand-in for journalctl that notes its arguments, one call per line, and then runs `script`.
 */
function standIn(t: { testdir(content: Record<string, string>): string }, script: string) {
  const directory = t.testdir({})
  const journalctl = join(directory, 'journalctl')
  const calls = join(directory, 'calls')
  writeFileSync(journalctl, `#!/bin/sh\necho "$@" >> ${calls}\n${script}\n`)
  chmodSync(journalctl, 0o755)
  const read = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : [])
  return { journalctl, calls: read, directory }
}

t.test('the journal is asked for one start of the unit, and once', async (t) => {
  const { journalctl, calls } = standIn(
    t,
    'echo "main.main()"; echo "goroutine 1 [running]:"; echo; echo "panic: no such gate"; echo "noise"',
  )
  const lastWords = new JournalLastWords({ journalctl, unit: 'kubelet.service' })
  t.equal(await lastWords.of(ID), 'panic: no such gate')
  t.equal(await lastWords.of(ID), 'panic: no such gate')
  t.same(calls(), [
    `--no-pager --quiet --output=cat --reverse --lines=5000 --unit=kubelet.service _SYSTEMD_INVOCATION_ID=${ID} _TRANSPORT=stdout`,
  ])
})

t.test('the first lines of a start, bounded', async (t) => {
  const { journalctl, calls } = standIn(t, 'echo first; printf "\\tsecond\\n"; yes | head -c 1000000')
  const words = new JournalLastWords({ journalctl, unit: 'kubelet.service' })
  const text = (await words.atStart(ID)) ?? ''
  t.match(text, /^first\n\tsecond\ny\n/)
  t.ok(text.length < 300_000)
  t.same(calls(), [`--no-pager --quiet --output=cat --unit=kubelet.service _SYSTEMD_INVOCATION_ID=${ID} _TRANSPORT=stdout`])
  t.equal(await words.atStart(`--file=${ID}`), undefined)
  t.equal(await new JournalLastWords({ journalctl: '/nowhere/journalctl', unit: 'k' }).atStart(ID), undefined)
})

t.test('what is no invocation ID reaches no command line', async (t) => {
  const { journalctl, calls } = standIn(t, 'echo words')
  const lastWords = new JournalLastWords({ journalctl, unit: 'kubelet.service' })
  for (const id of ['', 'x', ID.toUpperCase(), `${ID}0`, `${ID}\n`, `--file=${ID}`]) t.equal(await lastWords.of(id), undefined)
  t.same(calls(), [])
})

t.test('lines that reach the journal late are waited for, a few looks long', async (t) => {
  const { journalctl, calls, directory } = standIn(t, 'cat "$(dirname "$0")/journal" 2>/dev/null; true')
  const lastWords = new JournalLastWords({ journalctl, unit: 'kubelet.service' })
  t.equal(await lastWords.of(ID), undefined)
  writeFileSync(join(directory, 'journal'), 'words\n')
  t.equal(await lastWords.of(ID), 'words')
  const other = ID.replace('0', 'f')
  writeFileSync(join(directory, 'journal'), '')
  for (let look = 0; look < 5; look += 1) t.equal(await lastWords.of(other), undefined)
  t.equal(calls().length, 2 + 3)
})

t.test('a journal that cannot be read is asked once for each start', async (t) => {
  t.equal(await new JournalLastWords({ journalctl: '/nowhere/journalctl', unit: 'kubelet.service' }).of(ID), undefined)
  const { journalctl, calls } = standIn(t, 'echo "No journal files were opened due to insufficient permissions." >&2; echo words; exit 1')
  const denied = new JournalLastWords({ journalctl, unit: 'kubelet.service' })
  t.equal(await denied.of(ID), undefined)
  t.equal(await denied.of(ID), undefined)
  t.equal(calls().length, 1)
})

t.test('of a kubelet that talks much, the end is what counts', async (t) => {
  const reason = 'E1126 13:00:00.000000 1 run.go:72] "command failed" err="the true reason"'
  const talk = `"$(head -c 900 /dev/zero | tr '\\0' x)"`
  const { journalctl } = standIn(t, `echo '${reason}'; talk=${talk}; i=0; while [ $i -lt 4998 ]; do echo "$talk $i"; i=$((i + 1)); done`)
  t.equal(await new JournalLastWords({ journalctl, unit: 'kubelet.service' }).of(ID), 'the true reason')
})

t.test('a journalctl that hangs or prints without end is bounded', async (t) => {
  const hanging = standIn(t, 'exec sleep 60')
  t.equal(await new JournalLastWords({ journalctl: hanging.journalctl, unit: 'kubelet.service', timeoutMs: 100 }).of(ID), undefined)
  const endless = standIn(t, 'echo "panic: last"; exec yes')
  t.equal(await new JournalLastWords({ journalctl: endless.journalctl, unit: 'kubelet.service' }).of(ID), 'panic: last')
})
