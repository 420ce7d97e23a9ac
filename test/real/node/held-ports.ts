// SPDX-License-Identifier: Apache-2.0
/**
 * Another account takes a port of kubelet before kubelet does: it answers at the health port in
 * kubelet's place, or only binds it, or takes the TLS port, without which kubelet exits. The config
 * is not to blame: it neither fails nor passes meanwhile, and the Node says who has the port.
 */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import type { Source } from '../records.ts'
import { assignNew, promoteGood } from './assign.ts'
import { type Node, withNode } from './node.ts'

const NOBODY = 65534
const UNIT = 'port-holder'
const FILE = `/var/tmp/${UNIT}.pl`
/**
 * The file that says that the program has the port. Debian 13 has a file system of its own on /tmp.
 */
const MARK = `/var/tmp/${UNIT}`
const SETTINGS = { TRIAL_DURATION: '5s', START_DEADLINE: '10s', HEALTH_TOLERANCE: '5s', SPREAD: '0s' }
const SEVERAL_DEADLINES_MS = 25_000
/** Of a kubelet that systemd restarts 10 s after each exit. */
const SEVERAL_EXITS_MS = 45_000
/** A port that the kernel keeps for a while after a connection cannot be bound. */
const BOUND_MS = 90_000

const BIND = 'bind($s, sockaddr_in($port, INADDR_LOOPBACK)) or select(undef, undef, undef, 0.1), redo'
const ANSWER =
  'while (accept(my $c, $s)) { sysread($c, my $q, 4096); syswrite($c, "HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok"); close $c }'
/** Kubelet cannot listen in either case. Only what listens shows in /proc/net/tcp. */
const PROGRAMS = {
  answers: `{ socket(my $s, PF_INET, SOCK_STREAM, 0); setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1); ${BIND}; listen($s, 9); ${ANSWER} }`,
  binds: `{ socket(my $s, PF_INET, SOCK_STREAM, 0); ${BIND}; open(my $f, ">", "${MARK}"); sleep }`,
} as const

export function addHeldPortScenarios(plane: ControlPlane, program: string): void {
  scenario('node: another account has a port of kubelet', (step) =>
    withNode(plane, program, { name: 'held-port-node', settings: SETTINGS }, async (node, admin) => {
      const { kubelet, healthz } = node.ports
      const first = await step('a good config is promoted', () => promoteGood(node, admin))
      const answered = `a process of uid ${NOBODY}, which is not kubelet, has port ${healthz} of 127.0.0.1`
      const second = await step('it answers 200 at the health port: the next config is neither promoted nor left', async () => {
        await restartWithout(node, () => hold(node, 'answers', healthz))
        await admin.untilCondition({ reason: 'KubeletUnknown', message: new RegExp(answered) })
        const source = await assignNew(node, admin, 'answered', { maxPods: 52 })
        await node.untilRuns(52)
        await stays(node, admin, { reason: 'InTrial', message: new RegExp(answered) }, first)
        assert.match((await node.command('status')).stdout, new RegExp(answered))
        return source
      })
      await step('once it is gone, the config is promoted', () => isPromoted(node, admin, second))
      const third = await step('it only binds the health port: the same', async () => {
        await restartWithout(node, () => hold(node, 'binds', healthz))
        const message = new RegExp(`a process that does not listen there has port ${healthz} of 127.0.0.1`)
        await admin.untilCondition({ reason: 'KubeletUnknown', message })
        const source = await assignNew(node, admin, 'bound', { maxPods: 53 })
        await node.untilRuns(53)
        await stays(node, admin, { reason: 'InTrial', message }, second)
        assert.match((await node.command('status')).stdout, message)
        return source
      })
      await step('once it is gone, the config is promoted', () => isPromoted(node, admin, third))
      await step('it has the TLS port, so that kubelet exits again and again: nor is a promoted config left', async () => {
        const startsBefore = await node.kubeletStarts()
        await restartWithout(node, () => hold(node, 'answers', kubelet))
        const message = new RegExp(`^kubelet cannot start, since a process of uid ${NOBODY}, which is not kubelet, has port ${kubelet} of `)
        await stays(node, admin, { reason: 'Restarting', message }, third, SEVERAL_EXITS_MS)
        assert((await node.kubeletStarts()) - startsBefore > 3, 'kubelet exited more often than is tolerated')
      })
      await step('once it is gone, kubelet runs on', async () => {
        await release(node)
        await node.untilRuns(53)
        await admin.untilCondition({ reason: 'Promoted' })
        assert.deepEqual(
          node.history().filter(({ kind }) => kind === 'rolled-back'),
          [],
        )
      })
    }),
  )
}

async function restartWithout(node: Node, work: () => Promise<void>): Promise<void> {
  await node.systemctl('stop', node.kubeletUnit)
  await work()
  await node.systemctl('start', node.kubeletUnit)
}

async function hold(node: Node, how: keyof typeof PROGRAMS, port: number): Promise<void> {
  await writeFile(node.host(FILE), `use Socket; my $port = ${port}; ${PROGRAMS[how]}`)
  await node.exec('rm', '-f', MARK)
  await node.exec('systemd-run', '--quiet', `--unit=${UNIT}`, `--property=User=${NOBODY}`, 'perl', FILE)
  const isHeld = async () => (how === 'binds' ? existsSync(node.host(MARK)) : (await fetch(`http://127.0.0.1:${port}/`)).ok)
  await eventually(isHeld, { what: `uid ${NOBODY} has port ${port}`, timeoutMs: BOUND_MS, intervalMs: 500 })
}

function release(node: Node): Promise<unknown> {
  return node.systemctl('stop', UNIT)
}

/** For longer than the agent waits for a kubelet that is ill. */
async function stays(
  node: Node,
  admin: Administrator,
  condition: { readonly reason: string; readonly message: RegExp },
  lastKnownGood: Source,
  heldMs = SEVERAL_DEADLINES_MS,
): Promise<void> {
  await admin.untilCondition(condition)
  const promoted = count(node, 'promoted')
  await pause(heldMs)
  await admin.untilCondition(condition)
  assert.equal(count(node, 'promoted'), promoted)
  assert.equal(count(node, 'rolled-back'), 0)
  const status = (await admin.status()) as { readonly lastKnownGood?: unknown }
  assert.deepEqual(status.lastKnownGood, { configMap: lastKnownGood })
}

async function isPromoted(node: Node, admin: Administrator, source: Source): Promise<void> {
  await release(node)
  await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
  await admin.untilCondition({ reason: 'Promoted', message: /has passed its trial/ })
}

function count(node: Node, kind: string): number {
  return node.history().filter((line) => line.kind === kind).length
}
