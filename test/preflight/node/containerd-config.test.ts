// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findCgroupDriver, readContainerdFile } from '../../../src/preflight/node/read-runtime.ts'

const V2 = 'plugins."io.containerd.grpc.v1.cri"'
const V3 = "plugins.'io.containerd.cri.v1.runtime'"
const systemd = (value: unknown, table = V2, runtime = 'runc') =>
  `[${table}.containerd.runtimes.${runtime}.options]\n  SystemdCgroup = ${value}\n`
const driverOf = (...texts: readonly string[]) => findCgroupDriver(texts.map(readContainerdFile))

t.test('the cgroup driver of the default runtime', async (t) => {
  const cases: [text: string, driver: string | undefined][] = [
    [`version = 2\n${systemd(true)}`, 'systemd'],
    [`version = 2\n${systemd(false)}`, 'cgroupfs'],
    [`version = 3\n${systemd(true, V3)}`, 'systemd'],
    // Debian's containerd 1.6.
    [`version = 2\n[plugins]\n  [${V2}]\n    [${V2}.cni]\n      bin_dir = "/usr/lib/cni"\n`, 'cgroupfs'],
    ['version = 2\n', 'cgroupfs'],
    [`version = 2\n${systemd(true)}[${V2}.containerd]\ndefault_runtime_name = "nvidia"\n`, undefined],
    [
      `version = 2\n${systemd(false)}[${V2}.containerd]\ndefault_runtime_name = "nvidia"\n[${V2}.containerd.runtimes.nvidia]\nruntime_type = "io.containerd.runc.v2"\n${systemd(true, V2, 'nvidia')}`,
      'systemd',
    ],
    [`version = 2\n[${V2}.containerd.runtimes.runc]\nruntime_type = "io.containerd.kata.v2"\n`, undefined],
    [`version = 2\n${systemd(true)}[${V2}]\nsystemd_cgroup = true\n`, undefined],
    [`version = 2\n${systemd(true)}[${V2}]\nsystemd_cgroup = false\n`, 'systemd'],
    [`version = 2\n${systemd(true)}[${V2}.containerd.default_runtime]\nruntime_type = "x"\n`, undefined],
    [`version = 2\n[${V2}.containerd.runtimes.runc.options]\nConfigPath = "/x"\n`, undefined],
    [`version = 2\n${systemd('"yes"')}`, undefined],
    // Tables of another version.
    [`version = 3\n${systemd(true)}`, undefined],
    [systemd(true), undefined],
    ['', undefined],
    ['version = 4\n', undefined],
    ['nonsense', undefined],
  ]
  for (const [text, driver] of cases) t.equal(driverOf(text), driver, text)
})

t.test('imported files', async (t) => {
  const main = 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n'
  t.match(readContainerdFile(main), { imports: ['/etc/containerd/conf.d/*.toml'], address: undefined, hasPlugin: false })
  t.equal(driverOf(main, `version = 2\n${systemd(true)}`), 'systemd', 'one file has the plugin')
  t.equal(driverOf(main, 'version = 2\n[debug]\nlevel = "info"\n'), 'cgroupfs')
  t.equal(driverOf(main + systemd(true), `version = 2\n${systemd(true)}`), 'systemd', 'they agree')
  t.equal(driverOf(main + systemd(true), `version = 2\n[${V2}]\nsandbox_image = "x"\n`), undefined, 'merged or replaced, which differs')
  t.equal(driverOf(main + systemd(true), 'nonsense'), undefined)
  t.equal(driverOf(main, systemd(true)), undefined, 'a file without a version')
})

t.test('the address', async (t) => {
  t.equal(readContainerdFile('[grpc]\naddress = "/run/other.sock"\n')?.address, '/run/other.sock')
  t.equal(readContainerdFile('[grpc]\naddress = ""\n')?.address, undefined)
  t.equal(readContainerdFile('[grpc]\naddress = 7\n'), undefined)
})
