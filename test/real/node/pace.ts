// SPDX-License-Identifier: Apache-2.0
/**
 * How long a change takes on a real node, from the arrival of a ConfigMap to the restart of
 * kubelet, with preflight as shipped. Prints where the time goes. A run on a busy machine is no
 * measurement, so no time has a limit: what counts is that each stage comes once, and in its turn.
 */
import { strict as assert } from 'node:assert'
import { median, percentile } from '../../../bench/statistics.ts'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { scenario } from '../lab/runner.ts'
import { promoteGood } from './assign.ts'
import type { JournalLine } from './journal.ts'
import { type Node, withNode } from './node.ts'

/** For figures: `LAB_PACE_CHANGES=12 npm run test:real -- 'node: pace'`. */
const CHANGES = Number(process.env.LAB_PACE_CHANGES ?? 4)
const SETTINGS = { TRIAL_DURATION: '1s', SPREAD: '0s', RESTARTS_PER_HOUR: '60', LOG_LEVEL: 'debug' }

/** In this order in the journal, for each change. */
const MARKS = {
  arrived: /will checkpoint source/,
  checked: /^preflight answered$/,
  activated: /^activated /,
  restarted: /^Kubelet restarting to use /,
}
type Times = { readonly [K in keyof typeof MARKS]: number }

export function addPaceScenarios(plane: ControlPlane, program: string): void {
  scenario('node: pace: a change reaches kubelet at once', (step) =>
    withNode(plane, program, { name: 'pace-node', settings: SETTINGS }, async (node, admin) => {
      await step('a good one is promoted', () => promoteGood(node, admin))
      const fresh = await step(`${CHANGES} changes, each with a content of its own`, async () => {
        const times: Times[] = []
        for (let at = 0; at < CHANGES; at++) times.push(await change(node, admin, 60 + at))
        return times
      })
      const known = await step('and back to contents that this kubelet has loaded before', async () => {
        const times: Times[] = []
        for (let at = 0; at < CHANGES / 2; at++) times.push(await change(node, admin, 60 + at))
        return times
      })
      for (const [what, times] of Object.entries({ fresh, known })) console.log(describe(what, times))
    }),
  )
}

async function change(node: Node, admin: Administrator, maxPods: number): Promise<Times> {
  const seen = (await node.journal()).length
  const source = await admin.editConfigMap('good', node.config({ maxPods }))
  await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
  await node.untilHealthy()
  const lines = (await node.journal()).slice(seen)
  const places = Object.values(MARKS).map((mark) => lines.findLastIndex(({ msg }) => mark.test(msg)))
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
    'each stage comes after the one before',
  )
  for (const mark of [MARKS.arrived, MARKS.activated, MARKS.restarted]) {
    assert.equal(lines.filter(({ msg }) => mark.test(msg)).length, 1, `${mark} is there once`)
  }
  const timeOf = (mark: RegExp) => lastTime(lines, mark)
  return {
    arrived: timeOf(MARKS.arrived),
    checked: timeOf(MARKS.checked),
    activated: timeOf(MARKS.activated),
    restarted: timeOf(MARKS.restarted),
  }
}

function lastTime(lines: readonly JournalLine[], mark: RegExp): number {
  const line = lines.findLast(({ msg }) => mark.test(msg))
  assert(line !== undefined, `the journal has no ${mark}`)
  return line.atMs
}

function describe(what: string, times: readonly Times[]): string {
  const stages: Readonly<Record<string, (each: Times) => number>> = {
    'saved and checked': ({ arrived, checked }) => checked - arrived,
    'until activated': ({ checked, activated }) => activated - checked,
    'until restarted': ({ activated, restarted }) => restarted - activated,
    whole: ({ arrived, restarted }) => restarted - arrived,
  }
  const row = ([stage, take]: [string, (each: Times) => number]) => {
    const taken = times.map(take)
    return `${stage} ${median(taken).toFixed(0)} (most ${percentile(taken, 100).toFixed(0)})`
  }
  return `    ${what}, ms: ${Object.entries(stages).map(row).join(', ')}`
}
