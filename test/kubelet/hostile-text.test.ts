/**
 * Two texts of a ConfigMap are compared in the agent's own thread, and may be 1 MiB. All of this
 * takes seconds; a pattern that is quadratic takes minutes, and ends at the time limit.
 */
import t from 'tap'
import { SameConfigs } from '../../src/kubelet/same-config.ts'
import { IN_PLACE } from './in-place-yaml.ts'

const LENGTH = 300_000
const UNITS = [
  'a',
  ' ',
  '\n',
  '-',
  '--- ',
  'a\n',
  '1',
  '1:',
  '1_',
  '1.',
  '1e',
  ':1',
  '0',
  '%',
  '#',
  '\t#',
  '"',
  "'",
  '\\"',
  '&',
  '*a ',
  '<<',
  '~',
  '[',
  '{',
  'a: ',
]

t.setTimeout(120_000)

t.test('long texts are compared in linear time', async (t) => {
  for (const unit of UNITS) {
    const text = `kind: "${unit.repeat(LENGTH / unit.length)}`
    for (const other of [`${text}z"`, `${text}\u2028"`]) t.notOk(await new SameConfigs(IN_PLACE).isSame(`${text}"`, other), unit)
  }
})
