// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findEndedUnit } from '../../src/systemd/unit-properties.ts'

/** Kubelet's unit was started at 100, and ceased to be active at 300. */
function find(exitUs: number, { inactiveUs = exitUs, after = true } = {}) {
  const unit = (id: string, exit: number, inactive: number, names: string) =>
    `Id=${id}\nActiveExitTimestampMonotonic=${exit}\nInactiveEnterTimestampMonotonic=${inactive}\nAfter=${names}\n`
  const kubelet = unit('kubelet.service', 300, 310, after ? 'basic.target containerd.service' : 'basic.target')
  const output = [kubelet, unit('containerd.service', exitUs, inactiveUs, 'network.target')].join('\n')
  return findEndedUnit(output, { startedAtUs: 100, activeExitUs: 300 })
}

t.test('a unit that ended before kubelet was stopped for it', async (t) => {
  t.equal(find(290), 'containerd.service')
  t.equal(find(290, { inactiveUs: 900 }), 'containerd.service', 'it has been restarted since')
  t.equal(find(301), undefined, 'kubelet was stopped first: a person stopped the two')
  t.equal(find(99), undefined, 'kubelet was started after that')
  t.equal(find(0), undefined, 'it was never active')
})

t.test('without an order, only a unit that nothing stopped counts', async (t) => {
  t.equal(find(290, { after: false }), 'containerd.service')
  t.equal(find(290, { after: false, inactiveUs: 295 }), undefined)
})

t.test('no answer names no unit', async (t) => {
  t.equal(findEndedUnit('', { startedAtUs: 100, activeExitUs: 300 }), undefined)
})
