import t from 'tap'
import { readRunLine } from '../../../src/command/agent/run-line.ts'

t.test('known flags with their values', async (t) => {
  t.same(readRunLine(['run']), { given: {}, rest: [] })
  t.same(readRunLine(['run', '--trial-duration=1m', '--spread', '2m', '--adopt', '--trial-duration=3m', '--metrics-address=']), {
    given: { trialDuration: '3m', spread: '2m', adopt: true, metricsAddress: '' },
    rest: [],
  })
})

t.test('anything else is for the parser of all command lines', async (t) => {
  for (const args of [
    [],
    ['status'],
    ['--help'],
    ['run', '--help'],
    ['run', '-h'],
    ['run', '--no-such-flag=1'],
    ['run', '--trial-durations=1m'],
    ['run', 'word'],
    ['run', '--'],
    ['run', '--trial-duration'],
    ['run', '--trial-duration', '--spread=1m'],
    ['run', '--adopt=true'],
  ])
    t.equal(readRunLine(args), undefined, args.join(' '))
})
