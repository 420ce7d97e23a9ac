// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import { parseUncommon } from '../../../src/kubelet/yaml.ts'
import { findMisread } from '../../../src/preflight/change/check-same.ts'
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { classify } from '../../../src/preflight/kubelet/classify.ts'
import { type JudgeStage, placesIn, WAITS_FOR_RUNTIME } from '../../../src/preflight/kubelet/judgement.ts'
import { isObject } from '../../../src/values/is-object.ts'

const DIRECTORY = '/run/kubelet-cfg-agent/judge-7-abc'
const TRACE = 'goroutine 1 [running]:\nk8s.io/klog/v2.stacks(0x1)\n\t/src/klog.go:1026 +0x89\n'
const END = 'Finished with result: exit-code\nMain processes terminated with: code=exited/status=255\nService runtime: 83ms\n'
/** The output of systemd-run and kubelet 1.20.2. */
const fatal = (message: string) =>
  `Running as unit: x.service\nI1121 20:44:19.9 noise\nI1121 20:44:19.976746      82 server.go:416] Version: v1.20.2\nF1121 20:44:19.976746      82 server.go:269] ${message}\n${TRACE}${END}`
const failed = (message: string) =>
  `Running as unit: x.service\nI1121 20:44:19.976746      82 server.go:416] "Version" v="v1.31.0"\nE1121 20:44:19.976746    82 run.go:72] "command failed" err=${JSON.stringify(message)}\n${END}`

function judge(output: string, stage: JudgeStage = 'load', flags: string[] = []) {
  return classify(output, { stage, places: placesIn(DIRECTORY, 'kubelet', stage), flags, version: { major: 1, minor: 20, patch: 2 } })
}

t.test('accepted: kubelet reached the end of the stage', async (t) => {
  const { kubeconfig } = placesIn(DIRECTORY, 'kubelet', 'load')
  const accepted = { kind: 'accepted', detail: 'kubelet 1.20.2 loaded and validated the config' }
  t.strictSame(judge(fatal(`failed to run Kubelet: invalid kubeconfig: stat ${kubeconfig}: no such file or directory`)), accepted)
  t.strictSame(judge(fatal(`failed to run Kubelet: unable to load kubeconfig: stat ${kubeconfig}: no such file or directory`)), accepted)
  t.strictSame(judge(failed(`failed to run Kubelet: invalid kubeconfig: stat ${kubeconfig}: no such file or directory`)), accepted)
  const { runtimeSocket } = placesIn(DIRECTORY, 'kubelet', 'deep')
  const dial = `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing dial unix ${runtimeSocket}: socket: address family not supported by protocol"`
  const deep = { kind: 'accepted', detail: 'kubelet 1.20.2 started with the config until it needed its container runtime' }
  t.strictSame(
    judge(fatal(`failed to run Kubelet: failed to create kubelet: get remote runtime typed version failed: ${dial}`), 'deep'),
    deep,
  )
  t.strictSame(
    judge(
      failed(
        `failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint "unix://${runtimeSocket}": ${dial}`,
      ),
      'deep',
    ),
    deep,
  )
})

t.test('from 1.28 on, kubelet reaches less before its runtime', async (t) => {
  const places = placesIn(DIRECTORY, 'kubelet', 'deep')
  const output = failed(`failed to run Kubelet: validate service connection: unix://${places.runtimeSocket}`)
  const judged = classify(output, { stage: 'deep', places, flags: [], version: { major: 1, minor: 28, patch: 0 } })
  t.match(judged, { kind: 'accepted', detail: /^kubelet 1\.28\.0 started .* before it parses reservations and eviction signals$/ })
})

const served = (...lines: string[]) =>
  `Running as unit: x.service\n${lines.map((line) => `E1121 20:44:19.976746      82 server.go:212] ${line}\n`).join('')}${END}`
/** After parts of kubelet that go on without the node's files and its API server. */
const NOISE = [
  '"Failed to set rlimit on max file handles" err="operation not permitted"',
  '"Failed to set some node status fields" err="can\'t get ip address of node n" node="n"',
]

t.test('from 1.30 on, kubelet starts beside a runtime that is not ready', async (t) => {
  const places = placesIn(DIRECTORY, 'kubelet', 'deep')
  const judged = (output: string) => classify(output, { stage: 'deep', places, flags: [], version: { major: 1, minor: 30, patch: 0 } })
  const started = 'kubelet 1.30.0 started with the config until it'
  t.same(judged(`${served(...NOISE)}\n${WAITS_FOR_RUNTIME}\n`), {
    kind: 'accepted',
    detail: `${started} waited for its container runtime`,
  })
  t.match(judged(served(`"Effective" config="a: ${WAITS_FOR_RUNTIME}"`)), { kind: 'unjudged' }, 'a line of its own says it')
  t.match(
    judged(failed(`failed to run Kubelet: validate service connection: unix://${places.runtimeSocket}`)),
    { kind: 'accepted', detail: `${started} needed its container runtime` },
    'it wants more of it than there is',
  )
  const refusals = [
    'http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher (need at least one of A or B)',
    'listen tcp: lookup <nil>: no such host',
    'listen tcp 0.0.0.0:10250: bind: address already in use',
    'listen tcp [::]:10250: bind: address already in use',
    'tls: private key does not match public key',
  ]
  for (const message of refusals) {
    const output = served(...NOISE, `"Failed to listen and serve" err=${JSON.stringify(message)}`, ...NOISE)
    t.same(judged(output), { kind: 'refused', reason: 'validate', message }, message)
    t.match(judged(`{"ts":1,"msg":"Failed to listen and serve","err":${JSON.stringify(message)}}\n${END}`), { kind: 'refused', message })
  }
  for (const message of [
    'failed to create kubelet: failed to initialize file based certificate manager: tls: failed to find any PEM data in certificate input',
    'failed to create kubelet: failed to load certificate: tls: private key does not match public key',
    'failed to create kubelet: create user namespace manager: kubelet user assigned IDs are not enough to support 2147483647 pods',
    'failed to create kubelet: invalid eviction grace period specified: -1m, must be a positive value',
    'the total amount "0" of type "memory" is not equal to the value "100Mi" determined by Node Allocatable feature',
    'unsupported on machines with more than 8 NUMA Nodes',
    'connectionTimeout must be positive',
  ])
    t.match(judged(failed(`failed to run Kubelet: ${message}`)), { kind: 'refused' }, message)
  const ticker = 'panic: non-positive interval for NewTicker'
  t.match(judged(`${served(...NOISE)}${ticker}\n\ngoroutine 1 [running]:\n`), { kind: 'refused', message: ticker })
  for (const message of [
    'listen tcp 10.1.2.3:10250: bind: cannot assign requested address',
    'listen tcp 0.0.0.0:443: bind: permission denied',
  ])
    t.same(judged(served(`"Failed to listen and serve" err=${JSON.stringify(message)}`)), {
      kind: 'accepted',
      detail: `${started} listened at an address or a port that its sandbox does not have`,
    })
  for (const message of ['error configuring root directory: failed to bind-mount: operation not permitted', 'something new'])
    t.match(judged(served(`"Failed to initialize internal modules" err="${message}"`)), { kind: 'unjudged' }, message)
})

t.test('the message formats of all versions', async (t) => {
  const refused = { kind: 'refused', reason: 'validate', message: 'unrecognized feature gate: NoSuchGate' }
  const header = 'E1121 20:44:19.976746      82 server.go:205]'
  for (const output of [
    fatal('unrecognized feature gate: NoSuchGate'),
    `${header} "Failed to set feature gates from initial flags-based config" err="unrecognized feature gate: NoSuchGate"\n`,
    `${header} "command failed" err="unrecognized feature gate: NoSuchGate"\n${END}`,
    `${header} "command failed" err=<\n\tunrecognized feature gate:\n\tNoSuchGate\n >\n${END}`,
    `Error: unrecognized feature gate: NoSuchGate\n${END}`,
    `{"ts":1,"msg":"Version"}\n{"ts":1,"caller":"app/run.go:74","msg":"command failed","err":"unrecognized feature gate: NoSuchGate"}\n${END}`,
    `{"ts":1,"msg":"unrecognized feature gate: NoSuchGate\\n","v":0}\n${TRACE}${END}`,
    `{"ts":1,"msg":"unrecognized feature gate: NoSuchGate\\n","v":0}\n\nRunning as unit: x.service\n${TRACE}${END}`,
  ])
    t.strictSame(judge(output), refused, output)
})

t.test('refused: kubelet could not load the config', async (t) => {
  const path = `${DIRECTORY}/candidate/kubelet`
  const why = `error failed to decode: couldn't get version/kind; json parse error: invalid character '0'`
  const message = `failed to load Kubelet config file kubelet, ${why}`
  t.strictSame(judge(fatal(`failed to load Kubelet config file ${path}, ${why}`)), { kind: 'refused', reason: 'load', message })
  const later = `failed to load kubelet config file, path: ${path}, error: failed to load Kubelet config file ${path}, ${why}`
  t.strictSame(judge(failed(later)), {
    kind: 'refused',
    reason: 'load',
    message: `failed to load kubelet config file, path: kubelet, error: ${message}`,
  })
  t.match(judge(failed(`failed to load kubelet config file, error: ${message}, path: ${path}`)), {
    reason: 'load',
    message: /^failed to load .*path: kubelet$/,
  })
})

t.test('refused: all other errors about the config', async (t) => {
  for (const message of [
    'invalid configuration: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number',
    `failed to run Kubelet: invalid configuration: cgroup-root ["nope"] doesn't exist`,
    "failed to run Kubelet: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    "failed to run Kubelet: --system-reserved value failed to parse: quantities must match the regular expression '^'",
    'failed to run Kubelet: unsupported eviction signal nodefs.banana',
    'failed to run Kubelet: reserved-cpus: 0-900 is not a subset of online-cpus: 0-1',
    'unable to load client CA file /etc/none.crt: open /etc/none.crt: no such file or directory',
    "Cipher suite FOO not supported or doesn't exist",
    'failed to construct kubelet dependencies: unknown tls version "VersionTLS99"',
    'initialize logging: logging.format: Invalid value: "x": Unsupported log format',
    'failed to validate kubelet configuration, error: kubelet is configured to not run on a host using cgroup v1',
    'failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false',
    'failed to run Kubelet: new none policy error: None policy: received unsupported options=map[full-pcpus-only:true]',
    'failed to run Kubelet: CPU Manager policy options map[full-pcpus-only:true] require feature gates "CPUManager", "CPUManagerPolicyOptions" enabled',
    'failed to run Kubelet: topology manager policy options map[x:true] require feature gates "TopologyManagerPolicyOptions" enabled',
    'failed to run Kubelet: CPU Manager Policy Alpha-level Options not enabled, but option "align-by-socket" provided',
    'failed to run Kubelet: topology manager policy beta-level options not enabled, but option "x" provided',
    'failed to run Kubelet: unknown Topology Manager Policy option: "x"',
    'failed to run Kubelet: unable to convert policy option to integer "max-allowable-numa-nodes": strconv.Atoi: parsing "x": invalid syntax',
    'failed to run Kubelet: the minimum value of "max-allowable-numa-nodes" should not be less than 8',
    'failed to run Kubelet: failed to create kubelet: iptables-masquerade-bit and iptables-drop-bit must be different',
    'failed to run Kubelet: bad value for option "full-pcpus-only": invalid syntax',
    'failed to run Kubelet: strconv.ParseFloat: parsing "ten": invalid syntax',
    'failed to run Kubelet: failed to create kubelet: time: missing unit in duration "90"',
    'failed to set feature gates from initial flags-based config: cannot set feature gate X to false, feature is locked to true',
  ]) {
    for (const output of [fatal(message), failed(message)])
      t.match(judge(output, 'deep'), { kind: 'refused', reason: 'validate', message }, message)
  }
})

t.test('cannot start: errors that no config can cause or avoid', async (t) => {
  const cases: [message: string, detail: string, flags: string[]][] = [
    ['failed to parse kubelet flag: unknown flag: --container-runtime', 'does not accept the flags', ['--container-runtime=remote']],
    ['unknown flag: --network-plugin', 'does not accept the flags', ['--network_plugin', 'cni']],
    ['unknown flag: --network_plugin', 'does not accept the flags', ['--network_plugin=cni']],
    ["unknown shorthand flag: 'x' in -x", 'does not accept the flags', ['-x']],
    ['invalid argument "many" for "--max-pods" flag: strconv.ParseInt', 'does not accept the flags', ['--max-pods', 'many']],
    ['failed to validate kubelet flags: x', 'does not accept the flags', []],
    ['unrecognized feature gate: Old', 'does not accept the flags', ['--feature-gates=New=true,Old=true']],
    ['unrecognized feature gate: Old', 'does not accept the flags', ['--feature_gates', 'Old=true']],
    [
      'failed to set feature gates from initial flags-based config: B is enabled, but depends on features that are disabled: [A]',
      'does not accept the flags',
      ['--feature-gates=B=true'],
    ],
    [
      'failed to set feature gates from initial flags-based config: [C is enabled, but depends on features that are disabled: [A], unrecognized feature gate: Old]',
      'does not accept the flags',
      ['--feature-gates=Old=true'],
    ],
    [
      'failed to merge kubelet configs: failed to load kubelet dropin file, path: /etc/kubelet.d/a.conf',
      'does not accept the config drop-ins of this node',
      ['--config-dir=/etc/kubelet.d'],
    ],
  ]
  for (const [message, detail, flags] of cases) {
    for (const stage of ['load', 'deep'] as const) {
      const judgement = judge(fatal(message), stage, flags)
      t.match(judgement, { kind: 'cannot-start' }, message)
      t.match(judgement.kind === 'cannot-start' && judgement.detail, detail)
      t.match(judgement.kind === 'cannot-start' && judgement.detail, message)
    }
  }
})

t.test('unjudged: errors that may not be the fault of the config', async (t) => {
  const cases: [message: string, detail: string, flags?: string[]][] = [
    [
      'failed to load kubelet dropin file, path: /etc/kubelet.d/a.conf, error: open /etc/kubelet.d/a.conf: permission denied',
      'does not accept the config drop-ins of this node',
    ],
    ['unknown flag: --cert-dir', 'does not accept the flags of the probe'],
    ['unknown command "run" for "kubelet"', 'does not accept the words of the probe', ['run']],
    ['unknown command c=d', 'does not accept the words of the probe', ['--node-labels=a=b,', 'c=d']],
    ['invalid argument "x" for "-v, --v" flag: bad', 'does not accept the flags of the probe'],
    [
      `failed to load Kubelet config file ${DIRECTORY}/candidate/kubelet, error failed to read kubelet config file "x", error: open x: permission denied`,
      'could not read the config file of the probe',
    ],
    ['unable to load client CA file /etc/ca.crt: open /etc/ca.crt: permission denied', 'failed, perhaps because of its sandbox'],
    [
      `unable to load client CA file ${DIRECTORY}/ca.crt: open ${DIRECTORY}/ca.crt: no such file or directory`,
      'failed, perhaps because of its sandbox',
    ],
    [
      'failed to run Kubelet: failed to create kubelet: open /dev/kmsg: no such file or directory',
      'failed, perhaps because of its sandbox',
    ],
    ['failed to run Kubelet: mkdir /sys/fs/cgroup/cpu/kubepods: read-only file system', 'failed, perhaps because of its sandbox'],
    ['failed to run Kubelet: something new', 'exited with an unknown message'],
    [
      'failed to run Kubelet: failed to create kubelet: create user namespace manager: parse /etc/subuid: strconv.ParseUint: parsing "x": invalid syntax',
      'exited with an unknown message',
    ],
  ]
  for (const [message, detail, flags] of cases) {
    const judgement = judge(fatal(message), 'deep', flags)
    t.match(judgement, { kind: 'unjudged' }, message)
    t.match(judgement.kind === 'unjudged' && judgement.detail, detail)
  }
  t.match(judge(fatal('unrecognized feature gate: Old'), 'load', ['--feature-gates=Older=true', '--x=Old']), { kind: 'refused' })
  const needs = 'failed to set feature gates from initial flags-based config: B is enabled, but depends on features that are disabled: [A]'
  t.match(judge(failed(needs), 'load', ['--feature-gates=A=false']), { kind: 'refused' }, 'the config enables B')
  t.match(judge(panic(needs.replace(/^.*config/, MERGE)), 'load', ['--feature-gates=B=true']), { kind: 'refused' }, 'the config disables A')
})

t.test('unjudged: flags that are not known completely', async (t) => {
  const probe = { stage: 'load', places: placesIn(DIRECTORY, 'kubelet', 'load'), version: { major: 1, minor: 30, patch: 0 } } as const
  for (const [message, flag] of [
    ['invalid argument "" for "--max-pods" flag: strconv.ParseInt: parsing "": invalid syntax', '--max-pods='],
    ['failed to validate kubelet flags: the container runtime endpoint address was not specified', '--x=y'],
    ['failed to set feature gates from initial flags-based config: unrecognized feature gate: Old', '--feature-gates=Old=true'],
    ['failed to merge kubelet configs: failed to load kubelet dropin file, path: /etc/a.conf', '--config-dir=/etc/'],
  ] as const) {
    for (const incomplete of ['more', 'others'] as const) {
      const judged = classify(failed(message), { ...probe, flags: [flag], incomplete })
      t.match(judged, { kind: 'unjudged' }, message)
      t.match(judged.kind === 'unjudged' && judged.detail, message)
    }
    t.match(classify(failed(message), { ...probe, flags: [flag] }), { kind: 'cannot-start' }, message)
  }
})

t.test('a flag that kubelet does not know is to blame, whatever other flags there are', async (t) => {
  const probe = { stage: 'load', places: placesIn(DIRECTORY, 'kubelet', 'load'), version: { major: 1, minor: 30, patch: 0 } } as const
  const output = failed('failed to parse kubelet flag: unknown flag: --container-runtime')
  const judged = (flag: string, incomplete: 'more' | 'others') => classify(output, { ...probe, flags: [flag], incomplete }).kind
  t.equal(judged('--container-runtime=remote', 'more'), 'cannot-start')
  t.equal(judged('--container-runtime=remote', 'others'), 'unjudged', 'the unit may have lost it since')
  t.equal(judged('--x=y', 'more'), 'unjudged', 'it is a flag of the probe')
})

t.test('refused: a file that the ConfigMap lacks', async (t) => {
  const path = `${DIRECTORY}/candidate/ca.crt`
  t.match(judge(fatal(`unable to load client CA file ${path}: open ${path}: no such file or directory`)), {
    kind: 'refused',
    message: 'unable to load client CA file ca.crt: open ca.crt: no such file or directory',
  })
})

/** The output of kubelet 1.34.1, where `SetDefaults_KubeletConfiguration` panics. */
const panic = (message: string) =>
  [
    'Running as unit: x.service',
    'Flag --hostname-override has been deprecated, This parameter should be set via the config file',
    `panic: ${message}`,
    '',
    'goroutine 1 [running]:',
    'k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1.SetDefaults_KubeletConfiguration(0x1966802c2708)',
    '\tk8s.io/kubernetes@v1.34.1/pkg/kubelet/apis/config/v1beta1/defaults.go:71 +0x13a5',
    'k8s.io/apimachinery/pkg/runtime.(*Scheme).Default(0x53d2ac0?, {0x33222d8, 0x1966802c2708})',
    'main.main()',
    '\tk8s.io/kubernetes@v1.34.1/cmd/kubelet/kubelet.go:35 +0x18',
    END.replace('255', '2'),
  ].join('\n')
const MERGE = 'failed to merge global and in-flight KubeletConfiguration while setting defaults, error'

t.test('load stage: kubelet panics because of the config', async (t) => {
  const text = `${MERGE}: unrecognized feature gate: NoSuchGate`
  const message = `panic: ${text}`
  t.strictSame(judge(panic(text)), { kind: 'refused', reason: 'validate', message })
  t.strictSame(judge(panic(`${text}\n\tand more`)), { kind: 'refused', reason: 'validate', message: `${message} and more` })
  t.match(
    judge(panic(`${MERGE}: cannot set feature gate CPUManager to false, feature is locked to true`)),
    { kind: 'refused', message: /locked to true$/ },
    'a locked gate',
  )
  t.match(
    judge(panic(`${MERGE}: cannot set feature gate CPUManager to false, feature is locked to true`), 'load', [
      '--feature-gates=CPUManager=true',
    ]),
    { kind: 'refused', message: /locked to true$/ },
    'kubelet has set the gates of its flags before it loads the config',
  )
  t.match(judge('panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\n'), {
    kind: 'refused',
    message: 'panic: runtime error: index out of range [3]',
  })
})

t.test('load stage: whatever kubelet prints when it dies is a refusal', async (t) => {
  const noise = 'I1121 20:44:19.976746      82 server.go:416] "Version" v="v1.40.0"\n'
  for (const output of [
    fatal('something new'),
    failed('something new'),
    `Error: something new\n${END}`,
    panic('something new'),
    `${noise}E1121 20:44:19.976746      82 x.go:1] something new\n${END}`,
    `${noise}E1121 20:44:19.976746      82 x.go:1] "Something new" err="something new"\n${END}`,
    `Running as unit: x.service\nsomething new\n${END}`,
    `Running as unit: x.service\nFlag --v has been deprecated, x\nsomething new\n${END}`,
  ])
    t.match(judge(output), { kind: 'refused', reason: 'validate', message: /something new/ }, output)
  t.match(judge(panic('something new'), 'deep'), { kind: 'unjudged', detail: /unknown message: panic: something new/ }, 'the deep stage')
})

t.test('load stage: what the sandbox causes is no refusal, whatever its form', async (t) => {
  for (const message of [
    'mkdir /var/lib/x: read-only file system',
    'open /etc/x: permission denied',
    'runtime: failed to create new OS thread (have 9 already; errno=11)',
    'open /dev/kmsg: no such file or directory',
  ]) {
    for (const output of [
      fatal(message),
      failed(message),
      panic(message),
      `Error: ${message}\n${END}`,
      `Running as unit: x\n${message}\n${END}`,
    ])
      t.match(judge(output), { kind: 'unjudged', detail: /perhaps because of its sandbox/ }, output)
  }
  for (const message of ['fatal error: runtime: out of memory', 'SIGSYS: bad system call', 'fatal error: newosproc'])
    t.match(judge(`Running as unit: x.service\n${message}\n\n${TRACE}${END}`), { kind: 'unjudged', detail: /sandbox/ }, message)
})

t.test('unjudged: no message', async (t) => {
  for (const output of [
    '',
    END,
    'I1121 20:44:19.976746 82 x.go:1] hello',
    `Running as unit: x.service\nFlag --v has been deprecated, x\nI1121 20:44:19.976746      82 x.go:1] hello\n${END}`,
    '{"msg":1}\n{"a"\n{}\nnull',
  ])
    t.match(judge(output), { kind: 'unjudged', detail: /exited without a known message/ }, output)
})

/** The output of kubelet 1.37.2 in the load stage, for this config with a drop-in and flags. */
function recorded(name: string): string {
  const { kubeconfig } = placesIn(DIRECTORY, 'kubelet', 'load')
  return readFileSync(join(import.meta.dirname, name), 'utf8').replaceAll('DIR/kubeconfig', kubeconfig)
}
const WRITTEN = {
  authentication: { anonymous: { enabled: false } },
  clusterDNS: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  cgroupDriver: 'systemd',
  evictionHard: { 'memory.available': '200Mi', 'nodefs.available': '5%' },
  featureGates: { MemoryQoS: false },
  failCgroupV1: false,
  maxPods: 42,
  podsPerCore: 7,
  imageMinimumGCAge: '0s',
  kubeReserved: { cpu: '100m' },
  registerWithTaints: [{ key: 'example.com/a', value: 'yes', effect: 'NoSchedule' }],
  staticPodURL: 'https://example.com/pods',
  staticPodURLHeader: { Authorization: ['secret-1', 'secret-2'] },
  logging: { verbosity: 4, format: 'text' },
}

t.test('the effective config that kubelet 1.37 logs, in both formats of the log, is the one that the rules expect', async (t) => {
  const flags = collectFlags(['--max-pods=43', '--system-reserved=cpu=1', '--v=0'])
  const version = { major: 1, minor: 37, patch: 2 }
  for (const format of ['text', 'json']) {
    const judgement = judge(recorded(format === 'text' ? 'effective-1.37.2.txt' : 'effective-1.37.2-json.txt'))
    const effective = judgement.kind === 'accepted' ? (judgement.effective ?? '') : ''
    t.match(effective, /^address: 0\.0\.0\.0\napiVersion: kubelet\.config\.k8s\.io\/v1beta1\n/, format)
    t.notMatch(effective, /secret-1/)
    const read = parseUncommon(effective)
    const logged = read.ok && isObject(read.value) ? read.value : {}
    t.match(logged, { maxPods: 43, podsPerCore: 7, systemReserved: { cpu: '1' }, registerWithTaints: [{ value: 'yes' }] })
    const config = { ...WRITTEN, logging: { ...WRITTEN.logging, format } }
    t.same(findMisread(config, logged, version, flags), [])
    const misread = findMisread({ ...config, podsPerCore: 8 }, logged, version, flags)
    t.match(misread, [{ path: ['podsPerCore'], meant: { value: 8 }, running: { value: 7 } }])
    t.equal(findMisread(config, { ...logged, podPidsLimit: 9 }, version, flags).length, 1, 'also where it is not set')
    const split = { ...config, logging: { ...config.logging, options: { text: { splitStream: true } } } }
    t.same(findMisread(split, logged, version, flags), [], 'kubelet resets it')
  }
})

t.test('no effective config: an older kubelet, one that is cut off, and one that is far too long', async (t) => {
  const { kubeconfig } = placesIn(DIRECTORY, 'kubelet', 'load')
  const end = `E1129 03:36:10.976953   21027 run.go:72] "command failed" err="invalid kubeconfig: stat ${kubeconfig}: no such file or directory"\n`
  const entry = (lines: string) => `I1129 03:36:10.822396   21027 server.go:257] "Effective KubeletConfiguration" config=<\n${lines}`
  t.match(judge(`${entry('\tmaxPods: 1\n >\n')}${end}`), { kind: 'accepted', effective: 'maxPods: 1' })
  for (const none of ['', entry('\tmaxPods: 1\n'), entry(`${'\ta: 1\n'.repeat(20_000)} >\n`), '{"msg":"Effective KubeletConfiguration"}\n'])
    t.same(Object.keys(judge(`${none}${end}`)), ['kind', 'detail'])
})

t.test('errors that do not end kubelet are ignored', async (t) => {
  const noise = 'E1121 20:44:19.976746      82 reflector.go:138] k8s.io/client-go: Failed to watch *v1.Node: failed to list\n'
  t.match(judge(`${noise}${failed('invalid configuration: x')}${noise}`), { kind: 'refused', message: 'invalid configuration: x' })
})

t.test('parts of the config in a message are not quoted', async (t) => {
  const secret = 'Bearer topsecret'
  for (const message of [
    `failed to load Kubelet config file x, error failed to decode: v1beta1.KubeletConfiguration.MaxPods: readUint32: unexpected character: \u{FFFD}, error found in #10 byte of ...|${secret}|..., bigger context ...|${secret}|...`,
    `failed to load Kubelet config file x, error failed to decode: Object 'Kind' is missing in '{"staticPodURLHeader":{"Authorization":["${secret}"]}}'`,
    `failed to validate kubelet configuration, error: invalid configuration: x, path: &{TypeMeta:{Kind: APIVersion:} StaticPodURLHeader:map[Authorization:[${secret}]]}`,
    `failed to validate kubelet configuration, error: invalid configuration: x, path: &TypeMeta{Kind:,APIVersion:,} ${secret}`,
  ]) {
    for (const output of [fatal(message), failed(message)]) {
      const judgement = judge(output)
      t.equal(judgement.kind, 'refused')
      t.notMatch(JSON.stringify(judgement), 'topsecret')
    }
  }
})

t.test('a quote is one line with a limited length', async (t) => {
  const judgement = judge(fatal(`invalid configuration: a\n\tb\u0007\u202e${'x'.repeat(2000)}`))
  t.match(judgement, { kind: 'refused', message: /^invalid configuration: a b x+\.\.\.$/ })
  t.equal(judgement.kind === 'refused' && judgement.message.length, 400)
})

t.test('accepted: a kubelet that is newer than the tables names the fields that it ignores', async (t) => {
  const places = placesIn(DIRECTORY, 'kubelet', 'load')
  const probe = (minor: number) => ({ stage: 'load', places, flags: [], version: { major: 1, minor, patch: 0 } }) as const
  const end = failed(`failed to run Kubelet: unable to load bootstrap kubeconfig: stat ${places.kubeconfig}: no such file or directory`)
  const strict = 'strict decoding error: unknown field \\"foo\\", unknown field \\"memorySwap.bar\\"'
  const warning = `I1129 03:30:00.000000       1 codec.go:102] "Using lenient decoding as strict decoding failed" err="${strict}"\n`
  t.match(classify(`${warning}${end}`, probe(NEWEST_MINOR + 1)), { kind: 'accepted', ignored: ['foo', 'memorySwap.bar'] })
  t.strictSame(Object.entries(classify(end, probe(NEWEST_MINOR + 2))).at(-1), ['ignored', []])
  t.notOk('ignored' in classify(`${warning}${end}`, probe(NEWEST_MINOR)), 'the tables know')
})

t.test('ids that end too late are no fault of the config, and a message of 1.38 is known', async (t) => {
  const ids = 'kubelet user assigned ID 4294901760 with assigned IDs length 65536 ends past the last mappable ID 4294967294'
  t.match(judge(failed(`failed to run Kubelet: create user namespace manager: ${ids}`), 'deep'), { kind: 'unjudged' })
  t.match(judge(failed('failed to run Kubelet: LimitedSwap is only supported with cgroupv2'), 'deep'), { kind: 'refused' })
})
