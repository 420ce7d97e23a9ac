// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findNeeds } from '../../../src/preflight/node/check-node.ts'
import { describeShutdown } from '../../../src/preflight/node/check-shutdown.ts'
import { NodeView } from '../../../src/preflight/node/node-view.ts'
import { NOTHING_KNOWN } from '../../../src/preflight/node/surroundings.ts'
import { optionsOf, verdicts } from './node-options.ts'

const UPGRADES = '/usr/lib/systemd/logind.conf.d/unattended-upgrades-logind-maxdelay.conf'
const OWN = '/etc/systemd/logind.conf.d/99-kubelet.conf'
const LOCK = 'WHAT=shutdown\nMODE=delay\nUID=0\nPID=712\nWHO=kubelet\nWHY=Kubelet needs time to handle node shutdown\n'

const set = (value: string) => `[Login]\nInhibitDelayMaxSec=${value}\n`
const logind = (dropIns: Readonly<Record<string, string>>, locks: readonly string[] = []) => ({
  logind: { dropIns: new Map(Object.entries(dropIns)), locks },
})
const wait = (period: string) => ({ shutdownGracePeriod: period, shutdownGracePeriodCriticalPods: '10s' })
const FOUND = ['warn node/shutdown shutdownGracePeriod']

t.test('a drop-in of logind that kubelet cannot override', async (t) => {
  for (const [text, period, expected] of [
    [set('30'), '31s', FOUND],
    [set('30'), '30s', []],
    [set('30s'), '15m', FOUND],
    [set('1min 30s'), '91s', FOUND],
    [set('1min 30s'), '90s', []],
    [set('0.5h'), '31m', FOUND],
    [set('infinity'), '15m', []],
    [set('30 fortnights'), '15m', []],
    [set('lots'), '15m', []],
    [set(''), '15m', []],
    ['#InhibitDelayMaxSec=30', '15m', []],
    ['', '15m', []],
    [set('5') + set('3600'), '15m', []],
    [set('30'), '0s', []],
  ] as const)
    t.same(verdicts(wait(period), logind({ [UPGRADES]: text })), expected, `${JSON.stringify(text)} ${period}`)
  t.same(verdicts(wait('15m'), logind({ '/etc/systemd/logind.conf.d/10-x.conf': set('30') })), [], "kubelet's own counts after it")
  t.same(verdicts(wait('15m'), logind({ [OWN]: set('60') })), [], 'kubelet writes it anew')
  t.same(verdicts(wait('15m'), logind({ [UPGRADES]: set('30'), '/run/systemd/logind.conf.d/z.conf': set('1h') })), [])
  t.same(verdicts({}, logind({ [UPGRADES]: set('30') })), [])
  t.same(verdicts(wait('15m'), {}), [], 'unknown')
})

t.test('per version and gate', async (t) => {
  const at = (minor: number, config: object) => verdicts(config, logind({ [UPGRADES]: set('30') }), optionsOf(minor))
  t.same(at(20, wait('15m')), [], 'the gate is off')
  t.same(at(20, { ...wait('15m'), featureGates: { GracefulNodeShutdown: true } }), FOUND)
  t.same(at(34, { ...wait('15m'), featureGates: { GracefulNodeShutdown: false } }), [])
  const list = [20, 20].map((shutdownGracePeriodSeconds, priority) => ({ priority, shutdownGracePeriodSeconds }))
  const byPriority = { shutdownGracePeriodByPodPriority: list }
  t.same(at(34, byPriority), ['warn node/shutdown shutdownGracePeriodByPodPriority'])
  t.same(at(23, byPriority), [], 'the gate is off')
  t.equal(findNeeds({}, optionsOf(34)).logind, false)
  t.equal(findNeeds(wait('1s'), optionsOf(34)).logind, true)
})

t.test('a kubelet that runs without its shutdown manager', async (t) => {
  const describe = (config: object, found: object) =>
    describeShutdown(new NodeView({ ...config }, optionsOf(34)), { ...NOTHING_KNOWN, ...found })
  t.matchSnapshot(describe(wait('15m'), logind({ [UPGRADES]: set('30') })))
  t.matchSnapshot(describe(wait('15m'), logind({ '/etc/systemd/logind.conf.d/z.conf': set('30') }, [LOCK.replace('WHO=kubelet', 'WHO=x')])))
  t.matchSnapshot(describe(wait('15m'), logind({})))
  t.equal(describe(wait('15m'), logind({ [UPGRADES]: set('30') }, ['', LOCK])), undefined)
  t.equal(describe({}, logind({})), undefined)
  t.equal(describe(wait('15m'), {}), undefined)
})
