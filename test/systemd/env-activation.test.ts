// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { joinWords, splitWords } from '../../src/systemd/command-line.ts'
import { EnvActivation, readEnvFile, renderEnvFile } from '../../src/systemd/env-activation.ts'
import { parseEnvironmentFile } from '../../src/systemd/environment-file.ts'
import { envWiring } from '../../src/systemd/wiring-kinds.ts'
import { DIRECTORY, pathOf, sourceOf, worldWith } from './disk.ts'

const A = sourceOf('101')
const B = sourceOf('102')
const ENV_FILE = `${DIRECTORY}/kubelet.env`
const WIRING = envWiring(ENV_FILE, '--config=/var/lib/kubelet/config.yaml')
const fresh = () => {
  const world = worldWith(A, B)
  return { ...world, activation: new EnvActivation({ files: world.files, dynamicConfigDir: DIRECTORY, envFile: ENV_FILE }) }
}

t.test('the exact content of kubelet.env', async (t) => {
  const { activation, files } = fresh()
  t.strictSame(activation.read(WIRING), { kind: 'local', since: undefined })
  activation.activate(A, WIRING)
  t.equal(
    files.read(ENV_FILE)?.toString(),
    `# Written by kubelet-cfg-agent: what kubelet starts with next. Without this file it starts with its local config.
# source: {"namespace":"kube-system","name":"my-node-config","uid":"u-1","resourceVersion":"101","kubeletConfigKey":"kubelet"}
KUBELET_CONFIG_ARGS="--config=/var/lib/kubelet-cfg-agent/checkpoints/u-1/101/kubelet"
`,
  )
  t.strictSame(activation.read(WIRING), { kind: 'checkpoint', source: A, since: undefined })
  activation.activate('local', WIRING)
  t.equal(files.read(ENV_FILE), undefined)
})

t.test("keeps the unit's other arguments, whatever they are", async () => {
  const word = fc.string({ unit: fc.oneof(fc.constantFrom(...'"\'\\$`# \n'), fc.string({ minLength: 1, maxLength: 1 })) })
  const others = fc.array(word.filter((text) => !text.startsWith('--config')))
  fc.assert(
    fc.property(others, others, fc.constantFrom(['--config=/x'], ['--config', '/x'], []), (before, after, flag) => {
      const configArgs = joinWords([...before, ...flag, ...after])
      const text = renderEnvFile(A, pathOf(A), configArgs)
      const words = splitWords(parseEnvironmentFile(text).get('KUBELET_CONFIG_ARGS') ?? '')
      const kept = JSON.stringify(words.slice(1)) === JSON.stringify([...before, ...after])
      return kept && words[0] === `--config=${pathOf(A)}` && readEnvFile(text, configArgs, pathOf).ok
    }),
  )
})

t.test('a file that was not written for this unit and checkpoint is unknown', async (t) => {
  const { activation, files } = fresh()
  const good = renderEnvFile(A, pathOf(A), WIRING.configArgs)
  const cases: [what: string, text: string][] = [
    ['empty', ''],
    ['without its source', good.replace(/^# source.*\n/m, '')],
    ['of another path', good.replace('101/kubelet"', '102/kubelet"')],
    ['with another variable', `${good}LD_PRELOAD=/evil.so\n`],
    ['without ours', good.replace(/^KUBELET.*\n/m, '')],
    ['with a source that is none', good.replace(/\{.*\}/, '{"uid": 1}')],
    ['with a source that cannot be read', good.replace(/\{.*\}/, '{]}')],
    ['that leads out of the directory', renderEnvFile({ ...A, uid: '..' }, pathOf({ ...A, uid: '..' }), WIRING.configArgs)],
    ['of a unit with other arguments', renderEnvFile(A, pathOf(A), '--config=/x --config-dir=/d')],
  ]
  for (const [what, text] of cases) {
    files.replace(ENV_FILE, text)
    t.match(activation.read(WIRING), { kind: 'unknown', detail: ENV_FILE }, what)
  }
  files.replace(ENV_FILE, `# a comment of ours that changed\n${good}`)
  t.match(activation.read(WIRING), { kind: 'checkpoint' })
  t.throws(() => activation.activate({ ...A, uid: '../..' }, WIRING), { code: 'unsafe-character' })
  t.throws(() => new EnvActivation({ files, dynamicConfigDir: '/var/lib/with space', envFile: ENV_FILE }), { code: 'unsafe-character' })
})

t.test('does not write what is there already', async (t) => {
  const { activation, disk } = fresh()
  activation.stage(A, WIRING)
  activation.activate(B, WIRING)
  let steps = 0
  disk.onStep = () => {
    steps++
  }
  activation.stage(A, WIRING)
  activation.activate(B, WIRING)
  t.equal(steps, 0)
})

t.test('a source with an overlay: kubelet starts with the rendering, and the comment names it', async (t) => {
  const { activation, files } = fresh()
  const overlaid = { ...A, overlay: '0123456789abcdef' }
  activation.activate(overlaid, WIRING)
  const text = files.read(ENV_FILE)?.toString() ?? ''
  t.match(text, /"kubeletConfigKey":"kubelet","overlay":"0123456789abcdef"\}$/m)
  t.match(text, '--config=/var/lib/kubelet-cfg-agent/rendered/u-1/101/0123456789abcdef/kubelet"')
  t.strictSame(activation.read(WIRING), { kind: 'checkpoint', source: overlaid, since: undefined })
  files.replace(ENV_FILE, text.replace('"overlay":"0123456789abcdef"', '"overlay":"../../../../etc/x"'))
  t.match(activation.read(WIRING), { kind: 'unknown' })
})
