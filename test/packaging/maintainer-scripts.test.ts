// SPDX-License-Identifier: Apache-2.0
/**
 * The scripts that a package manager runs, in a separate root. debhelper writes what they do with
 * systemd; test/real covers it.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'
import { defaultConfigFile, defaultEnvironmentFile } from '../../scripts/package/default-config.ts'
import type { ConfigMapSource } from '../../src/subject/config-source.ts'
import { renderDropInRecord } from '../../src/systemd/drop-in-record.ts'
import { renderOriginalRecord } from '../../src/systemd/original-records.ts'

const STATE = 'var/lib/kubelet-cfg-agent'
const CONFIG = '/etc/kubernetes/kubelet.yaml'
const DROP_INS = 'etc/kubelet.d'
const RELEASED = '#!/bin/sh\necho "called $*"\n'

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const source: ConfigMapSource = { namespace: 'kube-system', name: 'c', kubeletConfigKey: 'kubelet', uid: 'u1', resourceVersion: '7' }

function machine(t: { testdir(content?: Record<string, string>): string }, files: Readonly<Record<string, string>>): string {
  const root = t.testdir({})
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  if (existsSync(join(root, 'usr/bin/kubelet-cfg-agent'))) chmodSync(join(root, 'usr/bin/kubelet-cfg-agent'), 0o755)
  if (existsSync(join(root, 'usr/lib/kubelet-cfg-agent/before-removal')))
    chmodSync(join(root, 'usr/lib/kubelet-cfg-agent/before-removal'), 0o755)
  return root
}

function runScript(script: string, root: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync('sh', [resolve('packaging', script), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DPKG_ROOT: root },
  })
  return { status, output: stdout + stderr }
}

const listing = (root: string) =>
  existsSync(join(root, STATE))
    ? readdirSync(join(root, STATE), { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map(({ parentPath, name }) => join(parentPath, name).slice(join(root, STATE).length + 1))
        .sort()
    : undefined

/** A node whose unit names its config file, which now contains `inPlace`. */
function replaced(inPlace: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const original = { hash: hashOf('original'), mode: 0o644, uid: 0, gid: 0 }
  const target = { source, hash: hashOf('replacement') }
  const record = renderOriginalRecord({ configPath: CONFIG, original, target, fallback: undefined, before: undefined, revision: 1 })
  return {
    'usr/bin/kubelet-cfg-agent': RELEASED,
    [`${STATE}/local/0123456789abcdef/record.json`]: record,
    [`${STATE}/local/0123456789abcdef/${original.hash}`]: 'original',
    [CONFIG]: inPlace,
    ...more,
  }
}

/** A node whose kubelet has `--config-dir`, with the agent's file in it. */
function dropIn(inPlace: string, path = `/${DROP_INS}/90-kubelet-cfg-agent.conf`): Readonly<Record<string, string>> {
  const target = { source, hash: hashOf('ours') }
  return {
    [`${STATE}/drop-ins/0123456789abcdef.json`]: renderDropInRecord({ path, target, fallback: undefined, before: undefined, revision: 1 }),
    [`${DROP_INS}/90-kubelet-cfg-agent.conf`]: inPlace,
    [`${DROP_INS}/.90-kubelet-cfg-agent.conf.fallback`]: 'before',
    [`${DROP_INS}/.90-kubelet-cfg-agent.conf.new`]: 'unfinished',
    [`${DROP_INS}/.90-kubelet-cfg-agent.conf.record`]: '{}',
  }
}

t.test('before removal', async (t) => {
  const armed = {
    [`${STATE}/meta/assigned`]: 'x',
    [`${STATE}/kubelet.env`]: 'y',
    [`${STATE}/kubelet.env.fallback`]: 'z',
    [`${STATE}/checkpoints/u1/7/kubelet`]: 'seven',
  }

  t.test('runs release, keeps the state and reports the next start', async (t) => {
    const root = machine(t, { 'usr/bin/kubelet-cfg-agent': RELEASED, ...armed })
    const { status, output } = runScript('common/before-removal', root)
    t.equal(status, 0)
    t.match(output, /^called release\n/)
    t.match(output, /its next start uses its local config/)
    t.same(
      listing(root),
      ['checkpoints/u1/7/kubelet', 'meta/assigned'],
      'a later installation must not make kubelet start with a config of now',
    )
  })

  t.test('leaves state files with which kubelet starts with its local config', async (t) => {
    const said = (text: string) => `#!/bin/sh\nif [ "$1" = set-aside ] && [ ! -e "$DPKG_ROOT/${STATE}/kubelet.env" ]; then ${text}; fi\n`
    const removed = (text: string) => runScript('common/before-removal', machine(t, { 'usr/bin/kubelet-cfg-agent': said(text), ...armed }))
    const warning = /may not fit the local config, see above\n.*drain this node, stop kubelet, and delete it: kubelet does not start/
    t.match(removed('echo It is there now').output, /kubelet-cfg-agent: It is there now\n/)
    for (const text of [':', 'echo It is there now']) t.notMatch(removed(text).output, warning)
    t.match(removed('echo kubelet runs >&2; exit 1'), { status: 0, output: /^kubelet runs\n/m })
    t.match(removed('exit 1'), { status: 0, output: warning })
    t.match(removed('echo One is there now; exit 1').output, /One is there now\n/)
  })

  t.test('leaves what kubelet starts with next as it is if release fails', async (t) => {
    const root = machine(t, { 'usr/bin/kubelet-cfg-agent': '#!/bin/sh\nexit 1\n', ...armed })
    const { status, output } = runScript('common/before-removal', root)
    t.equal(status, 0)
    t.match(output, /kubelet\.env stays: delete it before you install this package again/)
    t.same(
      listing(root),
      Object.keys(armed)
        .map((path) => path.slice(STATE.length + 1))
        .sort(),
    )
  })

  t.test('uses the settings of the service', async (t) => {
    const root = machine(t, {
      'usr/bin/kubelet-cfg-agent': '#!/bin/sh\necho "in $KUBELET_CFG_AGENT_DYNAMIC_CONFIG_DIR"\n',
      'etc/default/kubelet-cfg-agent': 'KUBELET_CFG_AGENT_DYNAMIC_CONFIG_DIR=/data/agent\n',
      [`${STATE}/meta/assigned`]: 'x',
    })
    const { output } = runScript('common/before-removal', root)
    t.match(output, /^in \/data\/agent\n/)
  })

  t.test('continues if the settings are not a shell script', async (t) => {
    const files = { 'usr/bin/kubelet-cfg-agent': RELEASED, 'etc/default/kubelet-cfg-agent': 'A="(\n', [`${STATE}/meta/assigned`]: 'x' }
    const { status, output } = runScript('common/before-removal', machine(t, files))
    t.equal(status, 0)
    t.match(output, /what kubelet's next start uses is left as it is/)
    t.notMatch(output, /its next start uses its local config/)
  })

  t.test('does nothing on a machine without state', async (t) => {
    t.same(runScript('common/before-removal', machine(t, { 'usr/bin/kubelet-cfg-agent': RELEASED })), { status: 0, output: '' })
  })

  t.test('runs release also where the state is lost, since a config may be in place', async (t) => {
    const files = { 'usr/bin/kubelet-cfg-agent': RELEASED, 'run/systemd/system/x': '' }
    t.match(runScript('common/before-removal', machine(t, files)), { status: 0, output: /^called release\n/ })
  })

  t.test('says nothing where no agent has worked', async (t) => {
    const said = '#!/bin/sh\necho "Nothing to release: no agent has worked on this node."\n'
    const files = { 'usr/bin/kubelet-cfg-agent': said, 'run/systemd/system/x': '' }
    t.same(runScript('common/before-removal', machine(t, files)), { status: 0, output: '' })
    t.match(readFileSync('src/command/agent/commands/release.ts', 'utf8'), 'Nothing to release: no agent has worked on this node.')
  })

  t.test('continues and reports if release fails', async (t) => {
    const root = machine(t, { 'usr/bin/kubelet-cfg-agent': '#!/bin/sh\nexit 1\n', [`${STATE}/meta/assigned`]: 'x' })
    const { status, output } = runScript('common/before-removal', root)
    t.equal(status, 0)
    t.match(output, /what kubelet's next start uses is left as it is/)
    t.notMatch(output, /its next start uses its local config/)
  })
})

t.test('what Node.js compiled goes with its version', async (t) => {
  const script = readFileSync('packaging/deb/prerm', 'utf8')
  const files = {
    'var/cache/kubelet-cfg-agent/compiled/v24/abc': 'x',
    'usr/lib/kubelet-cfg-agent/before-removal': '#!/bin/sh\necho removing\n',
  }
  for (const [action, output, left] of [
    ['upgrade', '', ['kubelet-cfg-agent', 'kubelet-cfg-agent/compiled']],
    ['remove', 'removing\n', []],
  ] as const) {
    const root = machine(t, files)
    t.same(runScript('deb/prerm', root, action), { status: 0, output }, action)
    t.same(readdirSync(join(root, 'var/cache'), { recursive: true }).sort(), left, action)
  }
  const spec = readFileSync('packaging/rpm/kubelet-cfg-agent.spec', 'utf8')
  for (const text of [script, spec]) t.match(text, '/var/cache/kubelet-cfg-agent/compiled')
  const unit = readFileSync('systemd/kubelet-cfg-agent.service', 'utf8')
  t.match(unit, 'CacheDirectory=kubelet-cfg-agent/compiled\nCacheDirectoryMode=0700\n')
})

t.test('the first installation of the rpm', async (t) => {
  const spec = readFileSync('packaging/rpm/kubelet-cfg-agent.spec', 'utf8')
  const script = /^%post\n([\s\S]*?)^%preun\n/m.exec(spec)?.[1] ?? ''
  const SETTINGS = 'etc/kubelet-cfg-agent/config.yaml'
  const VARIABLES = 'etc/sysconfig/kubelet-cfg-agent'
  const packaged = { [SETTINGS]: defaultConfigFile(), [VARIABLES]: defaultEnvironmentFile(), 'run/systemd/system/x': '' }
  const old = `${defaultConfigFile()}spread: 10m\n`

  /** The paths in the script are absolute: they are moved into the root. */
  function install(root: string, installed = 1) {
    mkdirSync(join(root, 'bin'))
    writeFileSync(join(root, 'bin/systemctl'), '#!/bin/sh\necho "systemctl $*"\n')
    chmodSync(join(root, 'bin/systemctl'), 0o755)
    const moved = script.replaceAll(/(?<![\w.])\/(?=(?:etc|run)\/)/g, `${root}/`)
    const { status, stdout, stderr } = spawnSync('sh', ['-c', moved, 'post', `${installed}`], {
      encoding: 'utf8',
      env: { PATH: `${join(root, 'bin')}:${process.env.PATH}` },
    })
    t.equal(status, 0)
    t.equal(stderr, '')
    return stdout.replaceAll(root, '')
  }

  const started =
    'systemctl daemon-reload\nsystemctl --no-reload enable kubelet-cfg-agent.service\nsystemctl start kubelet-cfg-agent.service\n'

  t.test('enables and starts the agent', async (t) => {
    t.equal(install(machine(t, packaged)), started)
    t.equal(install(machine(t, packaged), 2), 'systemctl daemon-reload\n', 'an upgrade leaves it to the other script')
  })

  for (const path of [SETTINGS, VARIABLES]) {
    t.test(`waits for a person where an earlier removal set ${path} aside`, async (t) => {
      const said = install(machine(t, { ...packaged, [`${path}.rpmsave`]: old }))
      t.match(said, `/${path}.rpmsave`)
      t.match(said, 'systemctl enable --now kubelet-cfg-agent')
      t.notMatch(said, /^systemctl (?!daemon-reload)/m, 'with the defaults, it could take the node to another config')
      t.equal(install(machine(t, { ...packaged, [`${path}.rpmsave`]: old }), 2), 'systemctl daemon-reload\n')
    })
  }

  t.test('starts the agent where the settings that were set aside set nothing', async (t) => {
    t.equal(install(machine(t, { ...packaged, [`${SETTINGS}.rpmsave`]: `${defaultConfigFile()}# a note\n` })), started)
  })

  t.test('starts the agent with settings that were put there again', async (t) => {
    t.equal(install(machine(t, { ...packaged, [SETTINGS]: old, [`${SETTINGS}.rpmsave`]: old })), started)
    const variables = { ...packaged, [VARIABLES]: 'KUBELET_CFG_AGENT_SPREAD=10m\n', [`${VARIABLES}.rpmsave`]: 'x' }
    t.equal(install(machine(t, variables)), started)
  })
})

t.test('purge', async (t) => {
  const state = {
    [`${STATE}/meta/assigned`]: 'x',
    [`${STATE}/kubelet.env`]: 'y',
    [`${STATE}/.hidden`]: 'z',
    [`${STATE}/checkpoints/u1/7/kubelet`]: 'seven',
    [`${STATE}/checkpoints/u1/8/kubelet`]: 'eight',
    [`${STATE}/checkpoints/u2/9/kubelet`]: 'nine',
    [`${STATE}/checkpoints/..new-u3/1/kubelet`]: 'unfinished',
    [`${STATE}/rendered/u1/7/0123456789abcdef/kubelet`]: 'seven and more',
    [`${STATE}/rendered/u1/8/0123456789abcdef/kubelet`]: 'eight and more',
    'run/kubelet-cfg-agent/health': 'h',
  }

  t.test('deletes the state', async (t) => {
    const root = machine(t, { ...state, 'proc/1/cmdline': '/sbin/init\0' })
    t.same(runScript('deb/postrm', root, 'purge'), { status: 0, output: '' })
    t.equal(existsSync(join(root, STATE)), false)
    t.equal(existsSync(join(root, 'run/kubelet-cfg-agent')), false)
  })

  for (const [form, config] of Object.entries({
    '--config=PATH': `--config=/${STATE}/checkpoints/u1/7/kubelet`,
    '--config PATH': `--config\0/${STATE}/checkpoints/u1/7/kubelet`,
  })) {
    t.test(`keeps the checkpoint that a kubelet runs, given as ${form}`, async (t) => {
      const root = machine(t, { ...state, 'proc/4242/cmdline': `/usr/bin/kubelet\0--v=2\0${config}\0--node-ip=\0` })
      const { status, output } = runScript('deb/postrm', root, 'purge')
      t.equal(status, 0)
      t.same(listing(root), ['checkpoints/u1/7/kubelet'])
      t.match(output, /checkpoints\/u1\/7, which is kept/)
    })
  }

  t.test('keeps the rendering that a kubelet runs', async (t) => {
    const config = `--config=/${STATE}/rendered/u1/7/0123456789abcdef/kubelet`
    const root = machine(t, { ...state, 'proc/4242/cmdline': `/usr/bin/kubelet\0${config}\0` })
    const { output } = runScript('deb/postrm', root, 'purge')
    t.same(listing(root), ['rendered/u1/7/0123456789abcdef/kubelet'])
    t.match(output, /rendered\/u1\/7, which is kept/)
  })

  t.test('keeps an original that is not back in its place', async (t) => {
    const root = machine(t, { ...state, ...replaced('by hand') })
    const { status, output } = runScript('deb/postrm', root, 'purge')
    t.equal(status, 0)
    t.equal(listing(root)?.length, 2)
    t.match(output, /local\/0123456789abcdef is kept/)
  })

  t.test('keeps an original whose record cannot be read', async (t) => {
    for (const record of ['{"hash"', '']) {
      const root = machine(t, { ...state, ...replaced('replacement'), [`${STATE}/local/0123456789abcdef/record.json`]: record })
      const { status, output } = runScript('deb/postrm', root, 'purge')
      t.equal(status, 0)
      t.equal(listing(root)?.length, 2)
      t.match(output, /local\/0123456789abcdef is kept: its record/)
    }
    const empty = machine(t, state)
    mkdirSync(join(empty, STATE, 'local/0123456789abcdef'), { recursive: true })
    t.same(runScript('deb/postrm', empty, 'purge'), { status: 0, output: '' })
  })

  t.test('deletes an original that is back in its place, with its prepared copies', async (t) => {
    const ready = Object.fromEntries(
      ['local', 'fallback', 'record'].map((name) => [`/etc/kubernetes/.kubelet.yaml.kubelet-cfg-agent-${name}`, 'x']),
    )
    const root = machine(t, { ...state, ...replaced('original'), ...ready })
    t.same(runScript('deb/postrm', root, 'purge'), { status: 0, output: '' })
    t.equal(existsSync(join(root, STATE)), false)
    t.same(readdirSync(join(root, 'etc/kubernetes')), ['kubelet.yaml'])
  })

  t.test("deletes the agent's drop-in of kubelet, with its prepared copies, and no other", async (t) => {
    const root = machine(t, { ...state, ...dropIn('ours'), [`${DROP_INS}/95-other.conf`]: 'other' })
    t.same(runScript('deb/postrm', root, 'purge'), { status: 0, output: '' })
    t.equal(existsSync(join(root, STATE)), false)
    t.same(readdirSync(join(root, DROP_INS)), ['95-other.conf'])
  })

  t.test('keeps a drop-in that the agent did not write, and a file that no drop-in of the agent can be', async (t) => {
    const root = machine(t, { ...state, ...dropIn('by hand') })
    const { status, output } = runScript('deb/postrm', root, 'purge')
    t.equal(status, 0)
    t.match(output, /\/etc\/kubelet\.d\/90-kubelet-cfg-agent\.conf is kept/)
    t.same(readdirSync(join(root, DROP_INS)), ['90-kubelet-cfg-agent.conf'])
    const strange = machine(t, { ...state, ...dropIn('ours', '/etc/passwd'), 'etc/passwd': 'ours' })
    t.same(runScript('deb/postrm', strange, 'purge'), { status: 0, output: '' })
    t.ok(existsSync(join(strange, 'etc/passwd')))
  })

  t.test('removal without purge, and an upgrade, delete nothing', async (t) => {
    for (const action of ['remove', 'upgrade', 'abort-install', 'disappear']) {
      const root = machine(t, state)
      t.same(runScript('deb/postrm', root, action), { status: 0, output: '' })
      t.equal(listing(root)?.length, 9, action)
    }
  })
})

t.test('the launcher', async (t) => {
  const home = t.testdir({ node: '#!/bin/sh\nenv\nprintf "<%s>\\n" "$@"\n' })
  chmodSync(join(home, 'node'), 0o755)
  const launcher = join(home, 'launcher')
  writeFileSync(launcher, readFileSync('packaging/common/kubelet-cfg-agent', 'utf8').replaceAll('/usr/lib/kubelet-cfg-agent', home))
  const env = {
    PATH: process.env.PATH,
    NODE_OPTIONS: '--require /tmp/x.js',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    KUBELET_CFG_AGENT_SPREAD: '1s',
  }
  const { stdout, status } = spawnSync('sh', [launcher, 'status', '--config', '/a b'], { encoding: 'utf8', env })
  t.equal(status, 0)
  t.notMatch(stdout, /^NODE_/m, 'removes variables that configure Node.js')
  t.match(stdout, /^KUBELET_CFG_AGENT_SPREAD=1s$/m)
  t.match(stdout, '<--disable-sigusr1>\n', 'no signal opens a debugger')
  t.match(stdout, `<${home}/kubelet-cfg-agent.mjs>\n<status>\n<--config>\n</a b>\n`)

  const compiled = join(home, 'compiled')
  const text = readFileSync(launcher, 'utf8').replaceAll('/var/cache/kubelet-cfg-agent/compiled', compiled)
  writeFileSync(launcher, text)
  const cacheOf = (command: string) => {
    const { stdout } = spawnSync('sh', [launcher, command], { encoding: 'utf8', env: { ...env, NODE_COMPILE_CACHE: '/tmp/foreign' } })
    return /^NODE_COMPILE_CACHE=(.*)$/m.exec(stdout)?.[1]
  }
  t.equal(cacheOf('run'), undefined, 'without the directory of the unit nothing is kept')
  mkdirSync(compiled)
  t.equal(cacheOf('run'), compiled)
  t.equal(cacheOf('status'), undefined, 'only the agent itself keeps what it compiled')
})
