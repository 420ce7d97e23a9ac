// SPDX-License-Identifier: Apache-2.0
/** The addresses that deploy/monitoring/scrape.yaml makes of Nodes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { ROOT } from '../docs/pages.ts'

interface RelabelRule {
  readonly source_labels: readonly string[]
  readonly regex?: string
  readonly action?: string
  readonly target_label?: string
  readonly replacement?: string
}

const INTERNAL_IP = '__meta_kubernetes_node_address_InternalIP'
const [scrape] = (
  parse(readFileSync(join(ROOT, 'deploy/monitoring/scrape.yaml'), 'utf8')) as { scrape_configs: { relabel_configs: RelabelRule[] }[] }
).scrape_configs

/** As Prometheus applies the rules that replace a label. */
function addressOf(ip: string): string | undefined {
  const labels = new Map([
    [INTERNAL_IP, ip],
    ['__meta_kubernetes_node_name', 'worker-1'],
  ])
  for (const { source_labels, regex = '(.*)', action = 'replace', target_label = '', replacement = '$1' } of scrape?.relabel_configs ??
    []) {
    const match = new RegExp(`^(?:${regex})$`, 's').exec(source_labels.map((label) => labels.get(label) ?? '').join(';'))
    if (action === 'replace' && match !== null) labels.set(target_label, replacement.replace(/\$\{?1\}?/g, match[1] ?? ''))
  }
  t.equal(labels.get('instance'), 'worker-1')
  return labels.get('__address__')
}

t.test('an agent is scraped at the address of its Node, of either family', async (t) => {
  t.equal(addressOf('192.0.2.7'), '192.0.2.7:10271')
  t.equal(addressOf('2001:db8::7'), '[2001:db8::7]:10271')
})
