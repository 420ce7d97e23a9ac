// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { compareConfigs } from '../../../src/preflight/change/compare.ts'
import { collectFlags, findOverridden } from '../../../src/preflight/change/kubelet-flags.ts'
import { checkNode, findNeeds } from '../../../src/preflight/node/check-node.ts'
import { checkPolicy } from '../../../src/preflight/policy/check-policy.ts'
import { v } from '../change/configs.ts'
import { withDefaults } from '../change/with-defaults.ts'
import { MACHINE, NOWHERE, optionsOf } from './node-options.ts'

const RUNS = 50
const MOST_MS = 20

t.test(`node, change and policy of a full config, warm, together under ${MOST_MS} ms of CPU`, async (t) => {
  const before = withDefaults({}, v(30))
  const after = {
    ...before,
    maxPods: 50,
    port: 10251,
    featureGates: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`G${at}`, true])),
  }
  const options = optionsOf(30, ['--max-pods=7', '--node-ip=1.2.3.4'], { running: before })
  const policy = { base: 'guarded', allow: ['maxPods'], deny: ['class:reboot', 'tls*'], requireDrain: ['*'] } as const
  const run = () => {
    findNeeds(after, options)
    const findings = checkNode(after, NOWHERE, MACHINE, options)
    const changes = compareConfigs(before, after, v(30))
    return [...findings, ...findOverridden(changes, collectFlags(['--max-pods=7'])), ...checkPolicy(changes, policy).findings]
  }
  for (let warm = 0; warm < 5; warm++) run()
  const times = Array.from({ length: RUNS }, () => {
    const started = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1000
  }).sort((a, b) => a - b)
  const median = times[RUNS / 2] ?? Number.POSITIVE_INFINITY
  t.comment(`median ${median.toFixed(2)} ms, longest ${times.at(-1)?.toFixed(2)} ms`)
  t.ok(median < MOST_MS, `${median} ms`)
})
