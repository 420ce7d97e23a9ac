// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { hasLeadingZero, meet, readIp } from '../../src/values/ip-address.ts'

t.test('reads what kubelet reads', async (t) => {
  const hex = (text: string) => {
    const bits = readIp(text)
    return bits === undefined
      ? undefined
      : BigInt(`0b${bits}`)
          .toString(16)
          .padStart(bits.length / 4, '0')
  }
  const cases: [text: string, hex: string | undefined][] = [
    ['10.0.0.1', '0a000001'],
    ['010.00.0.001', '0a000001'],
    ['255.255.255.255', 'ffffffff'],
    ['256.0.0.1', undefined],
    ['10.0.0', undefined],
    ['10.0.0.1.', undefined],
    ['10.0.0.1/24', undefined],
    [' 10.0.0.1', undefined],
    ['0x10.0.0.1', undefined],
    ['localhost', undefined],
    ['', undefined],
    ['::', '0'.repeat(32)],
    ['::1', `${'0'.repeat(31)}1`],
    ['fd00::A', `fd00${'0'.repeat(27)}a`],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
    ['::ffff:10.0.0.1', '0a000001'],
    ['64:ff9b::10.0.0.1', '0064ff9b00000000000000000a000001'],
    ['1:2:3:4:5:6:7:8::', undefined],
    ['1::2::3', undefined],
    [':::', undefined],
    [':1', undefined],
    ['1:2:3:4:5:6:7', undefined],
    ['12345::', undefined],
    ['fe80::1%eth0', undefined],
    ['[::1]', undefined],
    ['10.0.0.1::', undefined],
    ['10.0.0.1:10250', undefined],
  ]
  for (const [text, expected] of cases) t.equal(hex(text), expected, text)
})

t.test('two listeners meet on the same address, or if one has all', async (t) => {
  const cases: [one: string, other: string, meet: boolean][] = [
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.1', '::ffff:10.0.0.1', true],
    ['0.0.0.0', '10.0.0.1', true],
    ['0.0.0.0', '::1', true],
    ['::', '10.0.0.1', true],
    ['name', '0.0.0.0', true],
    ['name', '10.0.0.1', false],
    ['name', 'name', false],
  ]
  for (const [one, other, expected] of cases) t.same([meet(one, other), meet(other, one)], [expected, expected], `${one} ${other}`)
})

t.test('leading zeros', async (t) => {
  t.same(['10.0.0.1', '0.0.0.0', '2001:0db8::', '::1', '10.200.30.100'].filter(hasLeadingZero), [])
  t.same(
    ['010.0.0.1', '10.0.0.01', '10.00.0.1', '::ffff:01.2.3.4'].filter((text) => !hasLeadingZero(text)),
    [],
  )
})
