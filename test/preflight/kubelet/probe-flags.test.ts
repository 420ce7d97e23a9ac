// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { placesIn } from '../../../src/preflight/kubelet/judgement.ts'
import { probeFlags } from '../../../src/preflight/kubelet/probe-flags.ts'

const LOAD = placesIn('/run/d', 'kubelet', 'load')
const DEEP = placesIn('/run/d', 'kubelet', 'deep')
const load = (...flags: string[]) => probeFlags(flags, 'load', LOAD, { minor: 20 })
const OURS_LOAD = [
  '--config=/run/d/candidate/kubelet',
  '--kubeconfig=/run/d/scratch/no-kubeconfig',
  '--root-dir=/run/d/scratch/root',
  '--cert-dir=/run/d/certificates',
  '--v=0',
]

t.test("kubeadm's flags", async (t) => {
  const flags = [
    '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
    '--kubeconfig=/etc/kubernetes/kubelet.conf',
    '--config=/var/lib/kubelet/config.yaml',
    '--container-runtime=remote',
    '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
    '--hostname-override=node',
  ]
  t.strictSame(load(...flags), [
    '--container-runtime=remote',
    '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
    '--hostname-override=node',
    ...OURS_LOAD,
  ])
  t.strictSame(probeFlags(flags, 'deep', DEEP, { minor: 20 }), [
    '--hostname-override=node',
    '--config=/run/d/candidate/kubelet',
    '--kubeconfig=/run/d/kubeconfig',
    '--root-dir=/run/d/scratch/root',
    '--cert-dir=/run/d/certificates',
    '--v=0',
    '--container-runtime-endpoint=unix:///run/d/scratch/runtime.sock',
    '--oom-score-adj=1000',
    '--container-runtime=remote',
  ])
  t.notOk(
    probeFlags([], 'deep', DEEP, { minor: 27 }).some((flag) => flag.startsWith('--container-runtime=')),
    '1.27 does not know the flag',
  )
})

t.test('1.26 has no default for the socket of its runtime, and asks for none while it loads a config', async (t) => {
  const named = (flags: readonly string[], minor: number) =>
    probeFlags(flags, 'load', LOAD, { minor }).filter((flag) => flag.startsWith('--container-runtime-endpoint='))
  t.strictSame(named([], 26), ['--container-runtime-endpoint=unix:///run/d/scratch/runtime.sock'])
  t.strictSame(named([], 25), [])
  t.strictSame(named([], 27), [])
  t.strictSame(named(['--hostname-override=node'], 26), [], 'a node that lacks it would not start')
  t.strictSame(named(['--container-runtime-endpoint=unix:///x'], 26), ['--container-runtime-endpoint=unix:///x'])
})

t.test('one that serves gets the stand-in for its runtime and its images, and makes its certificate', async (t) => {
  const made = (minor: number) => probeFlags(['--image-service-endpoint=unix:///x'], 'deep', DEEP, { minor })
  t.strictSame(made(30), [
    '--config=/run/d/candidate/kubelet',
    '--kubeconfig=/run/d/kubeconfig',
    '--root-dir=/run/d/scratch/root',
    '--cert-dir=/run/d/scratch/certificates',
    '--v=0',
    '--container-runtime-endpoint=unix:///run/d/scratch/runtime.sock',
    '--image-service-endpoint=unix:///run/d/scratch/runtime.sock',
    '--oom-score-adj=1000',
  ])
  t.strictSame(made(29), [
    '--config=/run/d/candidate/kubelet',
    '--kubeconfig=/run/d/kubeconfig',
    '--root-dir=/run/d/scratch/root',
    '--cert-dir=/run/d/certificates',
    '--v=0',
    '--container-runtime-endpoint=unix:///run/d/scratch/runtime.sock',
    '--oom-score-adj=1000',
  ])
})

t.test('removes a flag in every spelling', async (t) => {
  for (const written of [
    ['--root-dir=/x'],
    ['--root-dir', '/x'],
    ['--root_dir=/x'],
    ['--root_dir', '/x'],
    ['--root-dir='],
    ['-v=9'],
    ['-v9'],
    ['-v', '9'],
    ['--v', '9'],
    ['--logtostderr'],
    ['--logtostderr=false'],
    ['--exit-on-lock-contention', '--lock-file', '/l'],
    ['--dynamic-config-dir=/d'],
    ['--cloud_provider', 'aws', '--cloud-config=/c'],
  ])
    t.strictSame(
      load('--max-pods=3', ...written, '--node-labels', 'a=b'),
      ['--max-pods=3', '--node-labels', 'a=b', ...OURS_LOAD],
      written.join(' '),
    )
})

t.test('keeps a flag that this kubelet does not know any more: it would not start with it', async (t) => {
  const klog = [
    ...['--logtostderr', '--alsologtostderr=true', '--one-output', '--skip-headers', '--skip_log_headers', '--add-dir-header'],
    ...['--log-file=/l', '--log-dir', '/l', '--log-file-max-size=1', '--log-backtrace-at=a.go:1', '--stderrthreshold', '2'],
  ]
  const cases: [flags: string[], gone: number, stage?: 'deep'][] = [
    [klog, 26],
    [['--dynamic-config-dir', '/d'], 24],
    [['--runonce'], 32],
    [['--cloud-config=/c'], 34],
    [['--docker-endpoint=unix:///d'], 24, 'deep'],
    [['--container-runtime=remote'], 27, 'deep'],
  ]
  for (const [flags, gone, stage = 'load'] of cases) {
    const made = (minor: number, given: string[]) => probeFlags([...given, '-v', '4', '--vmodule=a=1'], stage, LOAD, { minor })
    t.strictSame(made(gone - 1, flags), made(gone - 1, []), `1.${gone - 1}: ${flags[0]}`)
    t.strictSame(made(gone, flags), [...flags, ...made(gone, [])], `1.${gone}: ${flags[0]}`)
  }
})

t.test('keeps flags that affect the result', async (t) => {
  const kept = [
    '--feature-gates=A=true',
    '--hostname-override',
    'x',
    '--register-node=true',
    '--cloud-provider=external',
    '--fail-swap-on',
    '--version=false',
    '--vmodul=x',
    '-h',
  ]
  t.strictSame(load(...kept), [...kept, ...OURS_LOAD])
  t.strictSame(load('--cloud-provider', 'external'), ['--cloud-provider=external', ...OURS_LOAD])
})

t.test('up to 1.29 kubelet refuses --config-dir without a variable that a probe does not have', async (t) => {
  for (const minor of [29, 30])
    t.equal(probeFlags(['--config-dir', '/d', '--x=1'], 'load', LOAD, { minor }).includes('--config-dir'), minor === 30)
})

t.test('whatever the flags, ours come last and no reachable server is named', async (t) => {
  const flag = fc.oneof(
    fc
      .constantFrom('--config', '--kubeconfig', '--bootstrap-kubeconfig', '--root-dir', '--container-runtime-endpoint', '--cert_dir')
      .chain((name) =>
        fc.oneof(
          fc.string().map((value) => [`${name}=${value}`]),
          fc.stringMatching(/^[a-z/.]+$/).map((value) => [name, value]),
        ),
      ),
    fc.stringMatching(/^--x[a-z-]*=[a-z]*$/).map((text) => [text]),
  )
  fc.assert(
    fc.property(fc.array(flag), (flags) => {
      const made = probeFlags(flags.flat(), 'deep', DEEP, { minor: 30 })
      const ours = probeFlags([], 'deep', DEEP, { minor: 30 })
      const others = flags.flat().filter((text) => text.startsWith('--x'))
      t.strictSame(made, [...others, ...ours])
    }),
  )
})
