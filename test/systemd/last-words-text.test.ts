// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findLastWords } from '../../src/systemd/last-words-text.ts'

const BESIDE = `I1122 13:43:58.691773       1 server.go:416] Version: v1.20.2
W1122 13:43:58.691790       1 server.go:560] standalone mode, no API client
E1122 13:43:58.691800       1 summary_sys_containers.go:47] Failed to get system container stats for "/user.slice"`
/** Of kubelet 1.20.2 (after the message, the traces of all goroutines) and 1.34.1, shortened. */
const TRACES = `goroutine 1 [running]:
k8s.io/kubernetes/vendor/k8s.io/klog/v2.stacks(0x1)
\t/go/src/k8s.io/kubernetes/vendor/k8s.io/klog/v2/klog.go:1026 +0x89
main.main()
\t/go/src/k8s.io/kubernetes/cmd/kubelet/kubelet.go:41 +0xc5

goroutine 18 [chan receive]:
k8s.io/kubernetes/vendor/k8s.io/klog/v2.(*loggingT).flushDaemon(0x0?)
\t/go/src/k8s.io/kubernetes/vendor/k8s.io/klog/v2/klog.go:1169 +0x6a
created by k8s.io/kubernetes/vendor/k8s.io/klog/v2.init.0
\t/go/src/k8s.io/kubernetes/vendor/k8s.io/klog/v2/klog.go:417 +0xf6

goroutine 46 [select]:
created by os/signal.Notify.func1.1
\t/usr/lib/go-1.19/src/os/signal/signal.go:151 +0x2a
`
const PANIC_TRACES = `
goroutine 1 [running]:
k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1.SetDefaults_KubeletConfiguration(0x2c0b5acb4e08)
\t/go/pkg/mod/k8s.io/kubernetes@v1.34.1/pkg/kubelet/apis/config/v1beta1/defaults.go:71 +0x13a5
main.main()
\t/go/pkg/mod/k8s.io/kubernetes@v1.34.1/cmd/kubelet/kubelet.go:37 +0x2a
`
const USAGE = `Usage:
  kubelet [flags]

Flags:
      --add-dir-header                                           If true, adds the file directory to the header of the log messages
  -v, --v Level                                                  number for the log level verbosity
`
const STARTED = `I1122 13:44:58.970375       1 server.go:529] "Kubelet version" kubeletVersion="v1.34.1"
I1122 13:44:58.970485       1 server.go:531] "Golang settings" GOGC="" GOMAXPROCS="" GOTRACEBACK=""
I1122 13:44:58.970535       1 watchdog_linux.go:95] "Systemd watchdog is not enabled"`

const CASES: readonly (readonly [what: string, output: string, words: string | undefined])[] = [
  [
    '1.20: a fatal line before the traces of all goroutines',
    `${BESIDE}\nF1122 13:43:58.692392       1 server.go:269] failed to run Kubelet: invalid kubeconfig: stat /nope: no such file or directory\n${TRACES}`,
    'failed to run Kubelet: invalid kubeconfig: stat /nope: no such file or directory',
  ],
  [
    '1.20: a fatal line after the usage text of the command line',
    `${USAGE}F1122 13:43:57.278955       1 server.go:156] unknown flag: --nope\n${TRACES}`,
    'unknown flag: --nope',
  ],
  [
    '1.20: a fatal line of several lines',
    `F1122 13:43:57.278955       1 server.go:156] failed to run Kubelet: two errors\nfirst one\n${TRACES}`,
    'failed to run Kubelet: two errors first one',
  ],
  [
    '1.22: the error before the usage text',
    `E1122 13:43:57.278955       1 server.go:294] "Failed to run kubelet" err="failed to run Kubelet: running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false"\n`,
    'failed to run Kubelet: running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false',
  ],
  [
    '1.23 and later: command failed',
    `${STARTED}\nE1122 13:44:58.970994       1 run.go:72] "command failed" err="failed to run Kubelet: invalid kubeconfig: stat /nope: no such file or directory"\n`,
    'failed to run Kubelet: invalid kubeconfig: stat /nope: no such file or directory',
  ],
  [
    'a config that kubelet prints with its message is cut',
    'E1122 13:44:58.622564       1 run.go:72] "command failed" err="failed to validate kubelet configuration, error: invalid configuration: maxPods (--max-pods) -1 must not be a negative number, path: &TypeMeta{Kind:,APIVersion:,}"',
    'failed to validate kubelet configuration, error: invalid configuration: maxPods (--max-pods) -1 must not be a negative number',
  ],
  [
    'an error of several lines',
    'E1122 13:44:58.622564       1 run.go:72] "command failed" err=<\n\tfailed to run Kubelet: [\n\ta, b]\n >\n',
    'failed to run Kubelet: [ a, b]',
  ],
  [
    'sysctls that kubelet refuses only when it starts',
    `${STARTED}\nE1122 13:44:58.970994       1 run.go:72] "command failed" err="failed to run Kubelet: failed to create kubelet: the sysctl \\"vm.nr_hugepages\\" are not known to be namespaced"\n`,
    'failed to run Kubelet: failed to create kubelet: the sysctl "vm.nr_hugepages" are not known to be namespaced',
  ],
  [
    'the JSON log format',
    `{"ts":1795355099070.1,"caller":"app/server.go:529","msg":"Kubelet version","v":0,"kubeletVersion":"v1.34.1"}
{"ts":1795355099080.0857,"caller":"cli/run.go:72","msg":"command failed","err":"failed to run Kubelet: no"}`,
    'failed to run Kubelet: no',
  ],
  [
    '1.29 and later: a panic with its goroutine',
    `panic: failed to merge global and in-flight KubeletConfiguration while setting defaults, error: unrecognized feature gate: Nope\n${PANIC_TRACES}`,
    'panic: failed to merge global and in-flight KubeletConfiguration while setting defaults, error: unrecognized feature gate: Nope',
  ],
  [
    'a panic that was recovered and raised again',
    `${STARTED}\nE1122 13:44:58.970994       1 runtime.go:79] Observed a panic: runtime error: invalid memory address or nil pointer dereference\npanic: runtime error: invalid memory address or nil pointer dereference [recovered]\n\tpanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x2c3f0a1]\n${PANIC_TRACES}`,
    'panic: runtime error: invalid memory address or nil pointer dereference',
  ],
  ['an error of Go itself', `fatal error: concurrent map writes\n${PANIC_TRACES}`, 'fatal error: concurrent map writes'],
  [
    'before logging is set up',
    `Error: unknown shorthand flag: 'z' in -z\n${USAGE}\n\nunknown shorthand flag: 'z' in -z\n`,
    "unknown shorthand flag: 'z' in -z",
  ],
  [
    'a part of kubelet that exits by itself',
    `${STARTED}\nE1122 13:44:58.970994       1 kubelet.go:1566] "Failed to start ContainerManager" err="invalid Node Allocatable configuration. Resource \\"cpu\\" has a reservation of 9"\nI1122 13:44:58.970999       1 server.go:1] "bye"\n`,
    'Failed to start ContainerManager: invalid Node Allocatable configuration. Resource "cpu" has a reservation of 9',
  ],
  ['nothing that explains: the last line', `${STARTED}\n\n`, 'Systemd watchdog is not enabled'],
  ['a line of something else', 'exec format error\n', 'exec format error'],
  ['no line', '\n \n', undefined],
]

for (const [what, output, words] of CASES) t.test(what, async (t) => t.equal(findLastWords(output), words))

t.test('the words control no terminal and stay on one line', async (t) => {
  t.equal(findLastWords('panic: \u001b[31mred\u001b[0m \u202eevil\u2066 a\tb\rc\u0007 \u2028d\n'), 'panic: red evil a b c d')
  t.equal(findLastWords(`E1122 13:44:58.970994 1 run.go:72] "command failed" err="a\\nb\\x00c"`), 'a b c')
})

t.test('the words are bounded', async (t) => {
  const words = findLastWords(`panic: ${'x'.repeat(100_000)}`)
  t.equal(words?.length, 256)
  t.match(words, /x\.\.\.$/)
  const emoji = findLastWords(`panic: ${'\u{1F600}'.repeat(1000)}`) ?? ''
  t.equal(Buffer.from(emoji).toString(), emoji, 'no half of a character')
})

t.test('no secret gets into the words', async (t) => {
  const header = 'F1122 13:43:57.278955       1 server.go:156] '
  for (const [message, words] of [
    ['get "https://admin:hunter2@10.0.0.1/x": refused', 'get "https://[removed]@10.0.0.1/x": refused'],
    ['header Authorization: Bearer abcdef.123456-x is bad', 'header Authorization: Bearer [removed] is bad'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl rejected', 'token [removed] rejected'],
    ['key -----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY----- is odd', 'key [removed] is odd'],
    ['key -----BEGIN PRIVATE KEY-----\nMIIabc', 'key [removed]'],
    ['GET /x?a=1&access_token=s3cr3t&b=2 failed', 'GET /x?a=1&access_token=[removed]&b=2 failed'],
    ['cannot use {"password":"hunter2","a":1}', 'cannot use {"password":[removed],"a":1}'],
    ['bootstrap token: abcdef.0123456789abcdef is invalid', 'bootstrap token: [removed] is invalid'],
    ['unable to parse token: unexpected EOF', 'unable to parse token: unexpected EOF'],
    [
      'decode staticPodURLHeader: v1.X.ReadString, error found in #10 byte of ...|eader":"s3cr3t"|...',
      'decode staticPodURLHeader: v1.X.ReadString',
    ],
  ] as const)
    t.equal(findLastWords(`${header}${message}`), words)
})
