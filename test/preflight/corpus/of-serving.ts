// SPDX-License-Identifier: Apache-2.0
/**
 * Configs that kubelet loads and validates, and exits with when it makes its parts and begins to
 * serve; each beside one that is nearly the same and fine.
 */
import { below, type Candidate } from './candidate.ts'

const LISTENERS = [
  ...['localhost', '10.0.0.5/24', '"10.0.0.4,"', '"10.0.0.5:10250"', '"fe80::1%eth0"', '"::1"', '"[::1]"', '"::ffff:127.0.0.1"'].map(
    (address) => `address: ${address}`,
  ),
  'address: 0127.0.0.1',
  'address: localhost\nenableServer: false',
  'address: localhost\nenableServer: false\nreadOnlyPort: 10255',
  'port: 10250\nreadOnlyPort: 10250',
  'port: 10250\nreadOnlyPort: 10250\nenableServer: false',
  'port: 10248',
  'healthzPort: 10250',
  'healthzPort: 10250\naddress: 127.0.0.2',
  'healthzPort: 10250\naddress: "::"',
  'readOnlyPort: 10255\nhealthzPort: 10255\nhealthzBindAddress: 0.0.0.0',
  'readOnlyPort: 10248\nhealthzPort: 0',
  'healthzBindAddress: 10.0.0.1/24',
]

const SUITES = [
  'tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]',
  'tlsCipherSuites: [TLS_AES_128_GCM_SHA256]',
  'tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]\nenableServer: false',
  'tlsCipherSuites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]',
  'tlsCipherSuites: [TLS_RSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]',
  'tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]\ntlsMinVersion: VersionTLS13',
  'tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]\ntlsMinVersion: VersionTLS12',
]

const PARTS = [
  'iptablesMasqueradeBit: 15',
  'iptablesDropBit: 14',
  'iptablesDropBit: 14\niptablesMasqueradeBit: 15',
  'iptablesMasqueradeBit: 15\nmakeIPTablesUtilChains: false',
  'runtimeRequestTimeout: -1s',
  'runtimeRequestTimeout: 0s',
  'fileCheckFrequency: -1s',
  'fileCheckFrequency: -1s\nstaticPodPath: /nonexistent',
  'maxPods: 65535',
  'maxPods: 65536',
  'maxPods: 30000\nuserNamespaces: {idsPerPod: 131072}',
  'maxPods: 40000\nuserNamespaces: {idsPerPod: 131072}',
  'userNamespaces: {idsPerPod: 131072}',
  'userNamespaces: {idsPerPod: 67108864}',
  'systemCgroups: /\ncgroupRoot: /',
  'systemCgroups: /system\ncgroupRoot: /',
  'seccompDefault: true',
  'seccompDefault: true\nfeatureGates: {SeccompDefault: true}',
  'cgroupDriver: Systemd',
]

export function listServingCandidates(): Candidate[] {
  return [...LISTENERS, ...SUITES, ...PARTS].map(below)
}
