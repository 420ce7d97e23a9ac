// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { checkLogRotation } from '../../../src/preflight/fields/at-start.ts'
import { v } from '../change/configs.ts'

function severities(config: object, minor: number | undefined): (string | undefined)[] {
  const version = minor === undefined ? undefined : v(minor)
  return checkLogRotation({ config: { ...config }, version, gate: () => undefined }).map(({ severity = 'refuse' }) => severity)
}

t.test('kubelet wants two files or more, and before 1.24 only where it does not use Docker', async (t) => {
  for (const containerLogMaxFiles of [-1, 0, 1]) {
    for (const minor of [24, 32, 36]) t.same(severities({ containerLogMaxFiles }, minor), ['refuse'])
    for (const minor of [20, 23, undefined]) t.same(severities({ containerLogMaxFiles }, minor), ['warn'])
  }
  t.same(severities({ containerLogMaxFiles: 2 }, 36), [])
  t.same(severities({ containerLogMaxFiles: null }, 36), [])
})

t.test('a size is a quantity of whole bytes', async (t) => {
  for (const size of ['10Mi', '10M', '+1k', '-1', '0', '1.5M', '1.50k', '10.Mi', '1e3', '1.5e1', '1E', '10Ti', '009Ti', '9999999999', '']) {
    for (const minor of [20, 24, 36]) t.same(severities({ containerLogMaxSize: size }, minor), [], size)
  }
  for (const size of [
    '10MB',
    '10 Mi',
    'much',
    '1.5Mi',
    '1.0Gi',
    '0.5',
    '1.0',
    '100m',
    '1.5555k',
    '1e-3',
    '100Ti',
    '1Pi',
    '1Ei',
    '100E',
    '1234567890123456789',
  ]) {
    t.same(severities({ containerLogMaxSize: size }, 36), ['refuse'], size)
    t.same(severities({ containerLogMaxSize: size }, 23), ['warn'], size)
    t.same(severities({ containerLogMaxSize: size }, undefined), ['warn'], size)
  }
})
