// SPDX-License-Identifier: Apache-2.0
/** The results that are read from a lane's output. */
import t from 'tap'
import { LaneOutput, type LaneResult } from '../real/lab/lane-output.ts'

function read(text: string): LaneResult {
  const output = new LaneOutput()
  for (const line of text.split('\n')) output.line(line)
  return output.result()
}

const ONE_FAILED = `
# node: reboot
  - the node starts (3.00 s)
  ok (4.00 s)

# node: a crash loop
  - the node starts (3.00 s)
  ! it is rolled back (60.00 s)
  FAILED (64.00 s)
    Error: waited 60 s for the rollback
        at there

# node: workflow
  ok (9.00 s)

Failed:
    node: a crash loop
        Error: waited 60 s for the rollback

`

t.test('a failure has its name and what was printed of it', async (t) => {
  t.strictSame(read(`${ONE_FAILED}2 passed, 1 failed`), {
    passed: 2,
    failed: 1,
    failures: [
      {
        name: 'node: a crash loop',
        lines: [
          '  - the node starts (3.00 s)',
          '  ! it is rolled back (60.00 s)',
          '  FAILED (64.00 s)',
          '    Error: waited 60 s for the rollback',
          '        at there',
        ],
      },
    ],
  })
})

t.test('a lane that ends without a count is a failure of its own, and what had passed counts', async (t) => {
  t.match(read(ONE_FAILED), { passed: 2, failed: 2, failures: [{ name: 'node: a crash loop' }] })
  t.strictSame(read('# node: reboot\n  - the node starts (3.00 s)'), { passed: 0, failed: 1, failures: [] })
  t.strictSame(read(''), { passed: 0, failed: 1, failures: [] })
})

t.test('the last scenario may have failed', async (t) => {
  t.match(read('# one\n  FAILED (1 s)\n    why\n\nFailed:\n    one\n        why\n\n0 passed, 1 failed'), {
    passed: 0,
    failed: 1,
    failures: [{ name: 'one', lines: ['  FAILED (1 s)', '    why'] }],
  })
})
