// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { FIELDS, NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import { checkFields } from '../../../src/preflight/check-fields.ts'
import { readDocument } from '../../../src/preflight/document.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'
import { HEAD } from '../corpus/candidate.ts'

const version = { major: 1, minor: 34, patch: 0 }

async function check(lines: string): Promise<string[]> {
  const read = await readDocument(`${HEAD}${lines}\n`, IN_PLACE)
  if (!read.ok) throw new Error(read.detail)
  const findings = checkFields(read.document, { version, unknownKeys: 'warn' })
  return findings.map(
    ({ severity, rule, position, problem, advice }) => `${severity} ${rule} ${position?.line}:${position?.column} ${problem} => ${advice}`,
  )
}

const TEMPLATE = '{{ begins a template that was not rendered'
const RENDER = 'render it first, and give the result'

t.test('what was not rendered is named where kubelet would take it as text', async (t) => {
  const cases: [lines: string, finding: string | RegExp | undefined][] = [
    [
      'clusterDNS: ["10.0.0.10", "{{ dns }}"]',
      new RegExp(`^warn otherwise/cluster-dns 3:27 kubelet starts, and drops .* => ${TEMPLATE}: ${RENDER}$`),
    ],
    [
      'podCIDR: "$\u007bC}"',
      'warn fields/template 3:1 $\u007bC} is a placeholder that was not replaced: kubelet takes it as it is => replace it, and give the result',
    ],
    ['clusterDomain: $DOMAIN', /^warn fields\/template 3:1 \$DOMAIN is a placeholder/],
    ['clusterDomain: <domain>', /^warn fields\/template 3:1 <domain> is a placeholder/],
    ['clusterDomain: \u201ccluster.local\u201d', /^warn fields\/odd-character 3:1 \u201c \(U\+201C\) is not a quotation mark/],
    ['tlsCipherSuites: ["TLS_AES_128_GCM_SHA256\u00a0"]', /^refuse fields\/value .* => the character U\+00A0 looks like a space/],
    ['systemReserved: {memory: "1Gi\u00a0"}', /^refuse fields\/value 3:18 .* => the character U\+00A0 looks like a space/],
    ['cpuManagerPolicy: "{{ x }}"', new RegExp(`^refuse fields/value 3:1 .* => ${TEMPLATE}: ${RENDER}$`)],
    ['featureGates: {\u201cX\u201d: true}', /^refuse fields\/gate-unknown 3:16 .* => \u201c \(U\+201C\) is not a quotation mark/],
    ['"{{ x }}": 1', new RegExp(`^warn fields/unknown-key 3:1 .* => ${TEMPLATE}`)],
    ['staticPodPath: "/etc/$\u007bx}/{{ y }}"', undefined],
    ['volumePluginDir: "/var/$(x)"', undefined],
    ['clusterDomain: cluster.local', undefined],
  ]
  for (const [lines, finding] of cases) {
    const findings = await check(lines)
    if (finding === undefined) t.strictSame(findings, [], lines)
    else t.match(findings, [finding], lines)
    t.equal(findings.length, finding === undefined ? 0 : 1, `${lines}: one finding`)
  }
})

t.test('a value of a wrong type has no second finding', async (t) => {
  const wrong = [true, 5, 'x', [], [5], {}, { x: 5 }, { x: true }, { x: [] }]
  const document = (config: Record<string, unknown>) => ({ text: '', config, locate: () => undefined, repeated: [] })
  for (const [name, { since = 0 }] of Object.entries(FIELDS) as [string, { since?: number }][]) {
    if (since === 0) continue
    for (const value of wrong) {
      const config = { [name]: value, cpuManagerPolicy: 'static', topologyManagerPolicy: 'restricted' }
      const found = checkFields(document(config), { version: { major: 1, minor: NEWEST_MINOR, patch: 0 }, unknownKeys: 'warn' })
      const types = found.filter(({ rule }) => rule === 'fields/type').map(({ path }) => path.join('.'))
      const again = found.filter(({ rule, path }) => rule !== 'fields/type' && types.includes(path.join('.')))
      t.strictSame(again, [], `${name}: ${JSON.stringify(value)}`)
    }
  }
})
