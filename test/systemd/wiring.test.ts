// SPDX-License-Identifier: Apache-2.0
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax is that of systemd
import t from 'tap'
import type { MergedPaths } from '../../src/systemd/merged-files.ts'
import type { UnitDefinition } from '../../src/systemd/unit-definition.ts'
import { describeKubelet, describeMissing, findNextWords } from '../../src/systemd/wiring.ts'

const ENV_FILE = '/var/lib/kubelet-cfg-agent/kubelet.env'
const OURS = `KUBELET_CONFIG_ARGS="--config=/var/lib/kubelet-cfg-agent/checkpoints/u/1/kubelet"\n`

const KUBEADM: UnitDefinition = {
  path: '/usr/bin/kubelet',
  words: ['/usr/bin/kubelet', '$KUBELET_KUBECONFIG_ARGS', '$KUBELET_CONFIG_ARGS', '$KUBELET_KUBEADM_ARGS', '$KUBELET_EXTRA_ARGS'],
  environment: new Map([
    ['KUBELET_KUBECONFIG_ARGS', '--kubeconfig=/etc/kubernetes/kubelet.conf'],
    ['KUBELET_CONFIG_ARGS', '--config=/var/lib/kubelet/config.yaml'],
  ]),
  environmentFiles: [
    { path: '/var/lib/kubelet/kubeadm-flags.env', text: 'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/c.sock"\n' },
    { path: '/etc/default/kubelet', text: undefined },
    { path: ENV_FILE, text: OURS },
  ],
  needDaemonReload: false,
  dropIn: 'loaded',
  dropInNames: [ENV_FILE],
  binaryIdentity: '1:2:3',
}
/** As on EKS. */
const SPELLED_OUT: UnitDefinition = {
  ...KUBEADM,
  words: ['/usr/bin/kubelet', '--config', '/etc/kubernetes/kubelet/kubelet-config.json', '$KUBELET_ARGS'],
  environment: new Map([['KUBELET_ARGS', '--v=2 --healthz-port=10300 --healthz-bind-address=0.0.0.0']]),
  environmentFiles: [],
  dropIn: 'absent',
}
const describe = (unit: UnitDefinition, choice: 'auto' | 'env' | 'file' | 'drop-in' = 'auto', command?: string[]) =>
  describeKubelet(unit, ENV_FILE, choice, command)
const withFiles = (...files: [path: string, text: string | undefined][]) => ({
  ...KUBEADM,
  environmentFiles: files.map(([path, text]) => ({ path, text })),
})
const withWords = (...words: string[]) => ({ ...KUBEADM, words: ['/usr/bin/kubelet', ...words] })

t.test("kubeadm's unit takes its config through kubelet.env", async (t) => {
  t.match(describe(KUBEADM), {
    wiring: { kind: 'ready', activation: 'env', configArgs: '--config=/var/lib/kubelet/config.yaml' },
    localConfigPath: '/var/lib/kubelet/config.yaml',
    runtimeEndpoint: 'unix:///run/c.sock',
    healthzFlags: {},
  })
  t.match(describe(withWords('${KUBELET_CONFIG_ARGS}')).wiring, { activation: 'env' })
})

t.test("the unit's own arguments can come from an earlier file, and contain more than --config", async (t) => {
  const args = '--config=/c --config-dir="/with space"'
  const unit = withFiles(['/etc/default/kubelet', `KUBELET_CONFIG_ARGS='${args}'`], [ENV_FILE, OURS])
  t.match(describe(unit), { wiring: { activation: 'env', configArgs: args }, localConfigPath: '/c' })
})

t.test('a unit with --config in ExecStart: that file is replaced', async (t) => {
  t.match(describe(SPELLED_OUT), {
    wiring: { kind: 'ready', activation: 'file', path: '/etc/kubernetes/kubelet/kubelet-config.json' },
    localConfigPath: '/etc/kubernetes/kubelet/kubelet-config.json',
    healthzFlags: { port: 10300, address: '0.0.0.0' },
  })
  const variable = withWords('$KUBELET_KUBEADM_ARGS', '$MY_ARGS')
  const unit = { ...variable, environment: new Map([['MY_ARGS', '--config=/my.yaml']]) }
  t.match(describe(unit).wiring, { activation: 'file', path: '/my.yaml' }, 'or in another variable')
})

t.test('the command is that of the process, or else that of the unit without kubelet.env', async (t) => {
  t.match(describe(KUBEADM).command, {
    path: '/usr/bin/kubelet',
    words: [
      '--kubeconfig=/etc/kubernetes/kubelet.conf',
      '--config=/var/lib/kubelet/config.yaml',
      '--container-runtime-endpoint=unix:///run/c.sock',
    ],
  })
  const running = ['kubelet', '--config', '/var/lib/kubelet-cfg-agent/checkpoints/u/1/kubelet', '--v=2']
  const words = ['$KUBELET_KUBECONFIG_ARGS', '$KUBELET_CONFIG_ARGS', '$KUBELET_KUBEADM_ARGS']
  t.strictSame(describe(withWords(...words), 'auto', running).command, {
    path: '/usr/bin/kubelet',
    words: running.slice(1),
    nextWords: describe(KUBEADM).command?.words,
  })
})

const nextWords = (running: string[], ...words: string[]) =>
  describe(withWords(...words), 'auto', ['/usr/bin/kubelet', ...running]).command?.nextWords

t.test('the words of the next start are not known where a part of them does not come from the unit', async (t) => {
  const next = (...words: string[]) => nextWords(['--config=/c', '--node-ip=10.0.0.1'], ...words)
  t.equal(next('--config=/c', '--node-ip=${NODE_IP}'), undefined)
  t.equal(next('--config=/c', '$NODE_FLAGS'), undefined, 'as PassEnvironment= gives it')
  t.strictSame(next('--config=/c', '--x=$$${KUBELET_CONFIG_ARGS}'), ['--config=/c', '--x=$--config=/var/lib/kubelet/config.yaml'])
  t.strictSame(next('--config=/c', '--x=$${NODE_IP}'), ['--config=/c', '--x=${NODE_IP}'])
})

t.test('the unit gives kubelet an environment of its own where it sets what libraries are found by', async (t) => {
  const command = (unit: UnitDefinition, running?: string[]) => describe(unit, 'auto', running).command
  t.equal(command(KUBEADM)?.ownEnvironment, undefined)
  t.equal(command(withFiles(['/f', 'HTTPS_PROXY=http://p']))?.ownEnvironment, undefined)
  const libraries = withFiles(['/f', 'LD_LIBRARY_PATH=/opt/lib'])
  t.equal(command(libraries, ['/usr/bin/kubelet'])?.ownEnvironment, true)
})

t.test('the words are incomplete where the unit does not set all of their variables', async (t) => {
  const command = (words: string[], running?: string[]) => describe(withWords(...words), 'auto', running).command
  t.match(command(['--max-pods=${MAX_PODS}']), { path: '/usr/bin/kubelet', words: ['--max-pods='], incomplete: 'more' })
  t.match(command(['$NODE_FLAGS']), { words: [], incomplete: 'more' })
  t.equal(command(['$KUBELET_KUBEADM_ARGS'])?.incomplete, undefined)
  const running = ['/usr/bin/kubelet', '--max-pods=7']
  t.match(command(['--max-pods=${MAX_PODS}'], running), { words: ['--max-pods=7'], incomplete: 'others', nextWords: undefined })
})

t.test('flags that were corrected since are not taken for those of the next start, nor those of the process', async (t) => {
  // Most nodes of kubeadm have no file that sets KUBELET_EXTRA_ARGS.
  const running = ['/usr/bin/kubelet', '--kubeconfig=/etc/kubernetes/kubelet.conf', '--config=/c', '--container-runtime=remote']
  t.match(describe(KUBEADM, 'auto', running).command, { words: running.slice(1), incomplete: 'others', nextWords: undefined })
  const same = [...running.slice(0, 3), '--container-runtime-endpoint=unix:///run/c.sock']
  t.match(describe(KUBEADM, 'auto', same).command, { words: same.slice(1), incomplete: undefined, nextWords: undefined })
})

t.test('the words of the process count while the unit tells the same: systemd shows a quoted space as two words', async (t) => {
  const labels = '--node-labels=a=b,  c=d'
  t.equal(nextWords(['--config=/checkpoint', labels], '$KUBELET_CONFIG_ARGS', '--node-labels=a=b,', 'c=d'), undefined)
  t.equal(nextWords([labels, '--config', '/checkpoint'], '--node-labels=a=b,', 'c=d', '$KUBELET_CONFIG_ARGS'), undefined)
  t.strictSame(nextWords(['--config=/c', '--v=2'], '--config=/c', '--v=3'), ['--config=/c', '--v=3'])
  t.strictSame(nextWords(['--config=/c', '--v=2'], '--config=/c'), ['--config=/c'])
})

t.test('reports what is broken', async (t) => {
  const cases: [what: string, unit: UnitDefinition, reason: string, names: string][] = [
    ['no drop-in', { ...withFiles(), dropIn: 'absent' }, 'drop-in-missing', ENV_FILE],
    ['not reloaded', { ...withFiles(), dropIn: 'on-disk' }, 'daemon-reload-needed', 'daemon-reload'],
    ['changed on disk', { ...withFiles(), dropIn: 'absent', needDaemonReload: true }, 'daemon-reload-needed', 'daemon-reload'],
    ['cleared', { ...withFiles(), dropIn: 'loaded' }, 'overridden', 'clears'],
    ['another file', { ...withFiles(['/other.env', OURS]), dropInNames: ['/other.env'] }, 'drop-in-missing', 'names /other.env, not'],
    ['later file', withFiles([ENV_FILE, OURS], ['/etc/later', 'KUBELET_CONFIG_ARGS=']), 'overridden', '/etc/later'],
    [
      'later variable',
      withFiles(['/f', 'KUBELET_EXTRA_ARGS="--config /x"'], [ENV_FILE, OURS]),
      'flag-wins',
      '$KUBELET_EXTRA_ARGS holds --config=/x',
    ],
    ['later flag', withWords('$KUBELET_CONFIG_ARGS', '--config=/y'), 'flag-wins', 'ExecStart holds --config=/y'],
    ['no argument', withWords('--v=2'), 'no-config-argument', '--config'],
    ['relative', withWords('--config=kubelet.yaml'), 'no-config-argument', 'kubelet.yaml'],
    ['DKC', withWords('$KUBELET_CONFIG_ARGS', '--dynamic-config-dir=/var/lib/dkc'), 'dynamic-config-dir', '/var/lib/dkc'],
  ]
  for (const [what, unit, reason, names] of cases) {
    const { wiring } = describe(unit)
    t.match(wiring, { kind: 'broken', reason }, what)
    t.match(wiring.kind === 'broken' && wiring.detail, names, what)
  }
})

t.test('assignments and flags before kubelet.env do no harm', async (t) => {
  t.match(describe(withFiles(['/f', OURS], [ENV_FILE, OURS])).wiring, { kind: 'ready' })
  t.match(describe(withWords('--config=/early', '$KUBELET_CONFIG_ARGS')).wiring, { kind: 'ready' })
  t.match(
    describe(withWords('--dynamic-config-dir=', '$KUBELET_CONFIG_ARGS')).wiring,
    { kind: 'ready' },
    'an empty value means no directory',
  )
  t.match(describe(withFiles([`/var/lib//kubelet-cfg-agent/./kubelet.env`, OURS])).wiring, { kind: 'ready' })
})

t.test('the flag --dynamic-config-dir of a running process counts too', async (t) => {
  const command = ['/usr/bin/kubelet', '--dynamic-config-dir', '/d', '--healthz-port=1']
  t.match(describe(KUBEADM, 'auto', command), {
    wiring: { reason: 'dynamic-config-dir' },
    healthzFlags: { port: 1 },
    runtimeEndpoint: undefined,
  })
})

t.test('a configured kind is used, or reported as impossible', async (t) => {
  t.match(describe({ ...KUBEADM, environmentFiles: [] }, 'file').wiring, { activation: 'file', path: '/var/lib/kubelet/config.yaml' })
  t.match(describe(KUBEADM, 'file').wiring, { reason: 'overridden', detail: ENV_FILE }, 'an old kubelet.env would override it')
  t.match(describe(SPELLED_OUT, 'env').wiring, { reason: 'no-config-argument', detail: 'KUBELET_CONFIG_ARGS' })
})

t.test('a drop-in is added to --config-dir, only where it is asked for', async (t) => {
  const unit = { ...SPELLED_OUT, words: [...SPELLED_OUT.words, '--config-dir', '/etc/kubernetes/kubelet/config.json.d'] }
  t.match(describe(unit).wiring, { activation: 'file' })
  t.match(describe(unit, 'drop-in'), {
    wiring: {
      kind: 'ready',
      activation: 'drop-in',
      path: '/etc/kubernetes/kubelet/config.json.d/90-kubelet-cfg-agent.conf',
      laysOverLocal: true,
      replacesLocalFile: false,
    },
    localConfigPath: '/etc/kubernetes/kubelet/kubelet-config.json',
  })
  t.match(describe(SPELLED_OUT, 'drop-in').wiring, { reason: 'no-config-dir' })
  const relative = { ...SPELLED_OUT, words: [...SPELLED_OUT.words, '--config-dir=conf.d'] }
  t.match(describe(relative, 'drop-in').wiring, { reason: 'no-config-dir', detail: 'conf.d is not an absolute path' })
  const kubeadm = { ...KUBEADM, words: [...KUBEADM.words, '--config-dir=/etc/kubelet.d'] }
  t.match(describe(kubeadm, 'drop-in').wiring, { reason: 'overridden', detail: ENV_FILE }, 'an old kubelet.env would override --config')
  const without = { ...kubeadm, environmentFiles: [] }
  t.match(describe(without, 'drop-in').wiring, { kind: 'ready', path: '/etc/kubelet.d/90-kubelet-cfg-agent.conf' })
})

t.test('the identity of kubelet changes with everything that makes its flags, but not with kubelet.env', async (t) => {
  const identity = (unit: UnitDefinition) => describe(unit).kubeletIdentity
  const same = identity(KUBEADM)
  t.equal(identity({ ...KUBEADM, environmentFiles: KUBEADM.environmentFiles.filter(({ path }) => path !== ENV_FILE) }), same)
  t.equal(identity({ ...KUBEADM, needDaemonReload: true }), same)
  for (const other of [
    { ...KUBEADM, binaryIdentity: 'upgraded' },
    withWords('--v=2'),
    { ...KUBEADM, environment: new Map() },
    withFiles(['/var/lib/kubelet/kubeadm-flags.env', 'KUBELET_KUBEADM_ARGS=--v=4']),
  ])
    t.not(identity(other), same)
})

t.test('what other programs merge with the config is a part of that identity', async (t) => {
  const asked: MergedPaths[] = []
  const identify = (paths: MergedPaths) => `${asked.push(paths)}`
  const merging = { ...SPELLED_OUT, words: [...SPELLED_OUT.words, '--config-dir=/etc/kubelet.d'] }
  const identities = (['auto', 'drop-in'] as const).map(
    (choice) => describeKubelet(merging, ENV_FILE, choice, undefined, undefined, identify).kubeletIdentity,
  )
  t.not(identities[0], identities[1])
  const own = '/etc/kubelet.d/90-kubelet-cfg-agent.conf'
  t.same(asked, [
    { directory: '/etc/kubelet.d', own, base: undefined },
    { directory: '/etc/kubelet.d', own, base: '/etc/kubernetes/kubelet/kubelet-config.json' },
  ])
  t.equal(describeKubelet(KUBEADM, ENV_FILE, 'auto', undefined, undefined, identify).kubeletIdentity, describe(KUBEADM).kubeletIdentity)
  t.equal(asked.length, 2, 'a kubelet without --config-dir merges nothing')
})

const CONFIG_DIR = '/var/lib/rancher/k3s/agent/etc/kubelet.conf.d'
/** As the installer of k3s writes it. `--config` is k3s's own file. */
const K3S: UnitDefinition = {
  ...KUBEADM,
  path: '/usr/local/bin/k3s',
  words: [
    ...['/usr/local/bin/k3s', 'agent', '--config=/etc/rancher/k3s/own.yaml', '--token', 'secret', '--kubelet-arg=healthz-port=10300'],
    ...['--kubelet-arg', 'max-pods=40', '--kubelet-arg=config=/etc/mine.conf', '--kubelet-arg=config-dir=/etc/mine.d'],
  ],
  environment: new Map(),
  environmentFiles: [{ path: '/etc/systemd/system/k3s-agent.service.env', text: 'K3S_URL=https://server:6443\n' }],
  dropIn: 'absent',
}

t.test('kubelet in k3s has the flags that k3s gives it', async (t) => {
  const { command, ...facts } = describeKubelet(K3S, ENV_FILE, 'drop-in', [], CONFIG_DIR)
  t.match(facts, {
    wiring: { kind: 'ready', activation: 'drop-in', path: `${CONFIG_DIR}/90-kubelet-cfg-agent.conf` },
    localConfigPath: `${CONFIG_DIR}/00-k3s-defaults.conf`,
    healthzFlags: { port: 10300 },
    runtimeEndpoint: undefined,
  })
  t.strictSame(command, { path: '/usr/local/bin/k3s', words: [`--config-dir=${CONFIG_DIR}`, '--healthz-port=10300', '--max-pods=40'] })
})

t.test("the agent takes no file of k0s for kubelet's config", async (t) => {
  const words = ['/usr/local/bin/k0s', 'controller', '--config=/etc/k0s/k0s.yaml', '--enable-worker']
  for (const choice of ['auto', 'env', 'file', 'drop-in'] as const) {
    const k0s = describe({ ...SPELLED_OUT, path: '/usr/local/bin/k0s', words }, choice)
    t.match(k0s, { wiring: { reason: 'no-config-argument', detail: /^k0s .*workerProfiles/ }, localConfigPath: undefined }, choice)
  }
})

t.test("the agent takes no file of k3s and rke2 for kubelet's config", async (t) => {
  for (const choice of ['auto', 'env', 'file', 'drop-in'] as const) {
    const k3s = describe(K3S, choice)
    t.match(k3s, { wiring: { reason: 'no-config-dir', detail: 'kubeletConfigDir' }, localConfigPath: undefined }, choice)
    const rke2 = describeKubelet({ ...K3S, path: '/usr/local/bin/rke2' }, ENV_FILE, choice, [], CONFIG_DIR)
    t.match(rke2, { wiring: { reason: 'no-config-argument', detail: 'rke2' }, localConfigPath: undefined }, choice)
  }
  t.match(describeKubelet(K3S, ENV_FILE, 'auto', [], CONFIG_DIR).wiring, { reason: 'no-config-dir', detail: 'set activation to drop-in' })
})

t.test('a directory that is stated for another kubelet is not ignored', async (t) => {
  for (const choice of ['auto', 'drop-in'] as const)
    t.match(describeKubelet(KUBEADM, ENV_FILE, choice, undefined, CONFIG_DIR).wiring, {
      reason: 'no-config-dir',
      detail: 'remove that setting',
    })
})

t.test('the words of the next start are those that systemd makes of the unit, whatever wrote its files', async (t) => {
  t.same(
    findNextWords({ ...KUBEADM, words: [...KUBEADM.words, '${SHELL}', '$NEVER_SET'] }, { SHELL: '--v=2', KUBELET_CONFIG_ARGS: 'no' }),
    [
      '--kubeconfig=/etc/kubernetes/kubelet.conf',
      '--config=/var/lib/kubelet-cfg-agent/checkpoints/u/1/kubelet',
      '--container-runtime-endpoint=unix:///run/c.sock',
      '--v=2',
    ],
  )
  t.equal(findNextWords({ ...KUBEADM, path: '/usr/local/bin/k3s' }, {}), undefined, 'kubelet is inside')
})

t.test('a unit without a command is masked, or has none', async (t) => {
  const times = { name: 'kubelet.service', activeExitUs: 0, mainExitUs: 0, inactiveEnterUs: 0 }
  t.match(describeMissing('kubelet.service', { loadState: 'masked', down: { ...times, barred: 'masked' } }), {
    kind: 'broken',
    reason: 'masked',
    detail: 'kubelet.service is masked, so that nothing can start it: systemctl unmask kubelet.service',
  })
  t.match(describeMissing('kubelet.service', { loadState: 'not-found', down: times }), {
    reason: 'no-config-argument',
    detail: 'kubelet.service has no command: not-found',
  })
})
