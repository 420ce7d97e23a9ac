// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { formatPath } from '../../../src/kubelet/field-path.ts'
import { NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import { checkSame, findMisread } from '../../../src/preflight/change/check-same.ts'
import { collectFlags, overlayFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { anyConfig, anyVersion, v } from './configs.ts'
import { withDefaults } from './with-defaults.ts'

function differences(configured: object, running: object, args: readonly string[] = [], minor = 20): string[] {
  const same = checkSame({ ...configured }, { kubeletconfig: running }, v(minor), collectFlags(args))
  return same.ok
    ? same.differences.map(({ path, because }) => `${formatPath(path)}${because === undefined ? '' : ` (${because})`}`)
    : [same.detail]
}

t.test('what kubelet logs of the items of a list, as its decoder reads them', async (t) => {
  const misread = (config: object, logged: object) => findMisread({ ...config }, { ...logged }, v(37), collectFlags([])).length
  t.equal(misread({ clusterDNS: [null, '10.0.0.1'] }, { clusterDNS: ['', '10.0.0.1'] }), 0)
  const vmodule = (item: object) => ({ logging: { vmodule: [{ filePattern: 'a', ...item }] } })
  t.equal(misread(vmodule({}), vmodule({ verbosity: 0 })), 0)
  t.equal(misread(vmodule({ verbosity: 1 }), vmodule({ verbosity: 0 })), 1)
  t.equal(misread({ clusterDNS: [] }, { clusterDNS: ['10.0.0.1'] }), 1)
})

t.test('headers that kubelet masks in its log are not differences', async (t) => {
  const config = { staticPodURLHeader: { A: ['1'], B: ['2'] } }
  t.same(differences(config, { staticPodURLHeader: { A: ['<masked>'], B: ['<masked>'] } }), [])
  t.same(differences(config, { staticPodURLHeader: { A: ['<masked>'], B: ['3'] } }), ['staticPodURLHeader.B'])
})

t.test('values that kubelet replaces are not differences', async (t) => {
  t.same(differences({ maxPods: 5, syncFrequency: '60s' }, { maxPods: 5, syncFrequency: '1m0s' }), [])
  t.same(
    differences({ authentication: { x509: { clientCAFile: 'ca.crt' } } }, { authentication: { x509: { clientCAFile: '/v/c/ca.crt' } } }),
    [],
  )
  t.same(differences({ resolvConf: '../../r.conf' }, { resolvConf: '/v/r.conf' }), [])
  t.same(differences({ podLogsDir: './relative/' }, { podLogsDir: '/v/c/relative' }, [], 37), [])
  t.same(
    differences({ reservedSystemCPUs: '0', kubeReserved: { cpu: '1' } }, { reservedSystemCPUs: '0', systemReserved: { cpu: '1' } }),
    [],
  )
})

t.test('a field that only a newer kubelet knows is no difference: it reports its default', async (t) => {
  t.same(differences({}, { foo: 1 }, [], NEWEST_MINOR + 1), [])
})

t.test('differences, with their causes', async (t) => {
  t.same(differences({ maxPods: 5, port: 1 }, { maxPods: 7, port: 2 }, ['--max-pods=7']), ['port', 'maxPods (--max-pods)'])
  t.same(differences({ cgroupDriver: 'cgroupfs' }, { cgroupDriver: 'systemd' }, [], 31), [
    'cgroupDriver (kubelet gets its cgroup driver from the container runtime)',
  ])
  t.same(differences({ maxPods: 5 }, {}, ['--config-dir=/x'], 30), ['maxPods (--config-dir)'])
  t.same(differences({ tlsCertFile: '/a' }, { tlsCertFile: '/b/a' }), ['tlsCertFile'], 'an absolute path must be the same')
})

/** A response of a real kubelet, recorded with the config and flags below. */
function recorded(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'))
}
const configured = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failSwapOn: false,
  makeIPTablesUtilChains: false,
}

t.test('the response of a real kubelet 1.20.2', async (t) => {
  const configz = recorded('configz-1.20.2.json')
  t.same(checkSame(configured, configz, v(20)), { ok: true, differences: [] }, 'every default is as in the table')
  const other = checkSame({ ...configured, maxPods: 5 }, configz, v(20))
  t.same(other.ok && other.differences.map(({ path }) => path), [['maxPods']])
})

t.test('its flags override the config as in overlayFlags', async (t) => {
  const flags = collectFlags([
    '--max-pods=7',
    '--eviction-hard=memory.available<5%,nodefs.available<1Gi',
    '--feature-gates=RotateKubeletServerCertificate=true',
    '--kube-reserved=cpu=200m',
    ...['--kube-reserved', 'cpu=300m,pid=10'],
    '--cluster-dns=1.1.1.1,8.8.8.8',
    '--client-ca-file=',
    ...['--healthz_port', '10299'],
    '--sync-frequency=90s',
    ...['--allowed-unsafe-sysctls', 'net.core.somaxconn'],
    '--cpu-cfs-quota=false',
    ...['--event-qps', '9'],
    '--authorization-webhook-cache-authorized-ttl=7m',
    '--provider-id=a://b',
    ...['--oom-score-adj', '-998'],
    '--register-node=true',
    '--enforce-node-allocatable=',
    '--minimum-image-ttl-duration=3m',
    '--rotate-server-certificates=f',
    ...['-v', '2'],
  ])
  const gates = { RotateKubeletServerCertificate: false, CPUManager: true }
  const config = { ...configured, kubeReserved: { memory: '1Gi', cpu: '100m' }, featureGates: gates, maxPods: 5 }
  const configz = recorded('configz-1.20.2-flags.json')
  const { config: overlaid, unknown } = overlayFlags(config, flags, v(20))
  t.equal(unknown.size, 0)
  t.same(checkSame(overlaid, configz, v(20)), { ok: true, differences: [] })
  const without = checkSame(config, configz, v(20), flags)
  t.ok(without.ok && without.differences.length === 19 && without.differences.every(({ because }) => because?.startsWith('--')))
})

t.test('a response without kubeletconfig', async (t) => {
  for (const configz of [undefined, null, [], {}, { kubeletconfig: 1 }, 'x']) t.equal(checkSame({}, configz, v(20)).ok, false)
})

t.test('defaults are not differences, for any config', async () => {
  fc.assert(
    fc.property(anyConfig, anyVersion, (config, version) => {
      const same = checkSame(config, { kubeletconfig: withDefaults(config, version) }, version)
      return same.ok && same.differences.length === 0
    }),
  )
})
