// SPDX-License-Identifier: Apache-2.0
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { audit, judgeAudit, readAudit } from '../../scripts/release/audit.ts'

const REPORT = {
  auditReportVersion: 2,
  vulnerabilities: {
    small: { name: 'small', severity: 'high', range: '<1.2.3', via: [{ title: 'Small reads too much' }], fixAvailable: true },
    user: { name: 'user', severity: 'high', range: '*', via: ['small'] },
  },
}
const REFUSED = {
  message: '405 Method Not Allowed - POST https://registry.example/-/npm/v1/security/advisories/bulk',
  error: { summary: '' },
}

t.test('nothing found', (t) => {
  t.strictSame(readAudit('{"auditReportVersion": 2, "vulnerabilities": {}}'), { kind: 'clean' })
  t.equal(judgeAudit({ kind: 'clean' }, false), undefined)
  t.end()
})

t.test('what is found stops the release, unless somebody has looked at it', (t) => {
  const found = readAudit(JSON.stringify(REPORT))
  t.strictSame(found, { kind: 'found', findings: ['small <1.2.3: high, Small reads too much', 'user *: high'] })
  t.throws(
    () => judgeAudit(found, false),
    /npm audit finds:\n {2}small <1\.2\.3: high, Small reads too much\n {2}user \*: high\n.*--despite-audit/,
  )
  t.match(judgeAudit(found, true), /small <1\.2\.3/)
  t.end()
})

t.test('an answer that is no report is no clean one', (t) => {
  for (const [text, why] of [
    [JSON.stringify(REFUSED), /405 Method Not Allowed/],
    [JSON.stringify({ error: { code: 'ENOLOCK', summary: 'This command requires an existing lockfile.' } }), /existing lockfile/],
    ['{}', /no report/],
    ['[]', /no JSON/],
    ['', /no JSON/],
  ] as const) {
    const unknown = readAudit(text)
    t.match(unknown, { kind: 'unknown', why }, text)
    t.match(judgeAudit(unknown, false), /nothing is known of vulnerable libraries/)
  }
  t.end()
})

t.test('npm is asked about the libraries that are bundled, by the lockfile', async (t) => {
  const npm = join(t.testdir({}), 'npm')
  const answers = (script: string) => {
    writeFileSync(npm, `#!/bin/sh\n${script}\n`)
    chmodSync(npm, 0o755)
    return audit(npm)
  }
  const asked = '[ "$*" = "audit --omit=dev --package-lock-only --json" ] || exit 2'
  t.match(await answers(`${asked}\necho '${JSON.stringify(REPORT)}'\nexit 1`), { kind: 'found' })
  t.match(await answers(`${asked}\necho 'npm warn audit 405' >&2\necho '${JSON.stringify(REFUSED)}'\nexit 1`), {
    kind: 'unknown',
    why: /^405/,
  })
  t.match(await answers(`${asked}\necho '{"vulnerabilities": {}}'`), { kind: 'clean' })
  t.match(await audit(join(t.testdirName, 'none')), { kind: 'unknown', why: /ENOENT/ })
})
