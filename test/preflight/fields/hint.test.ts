// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { FieldTable } from '../../../src/kubelet/field.ts'
import { FIELDS } from '../../../src/kubelet/fields.ts'
import { listGates } from '../../../src/kubelet/gates.ts'
import { SIGNALS } from '../../../src/preflight/fields/at-start.ts'
import { hint, listKnown } from '../../../src/preflight/fields/hint.ts'
import { MISTAKEN_NAMES } from './mistaken-names.ts'

const NAMES = Object.keys(FIELDS)
/** `SystemdCgroup`, with which containerd sets what `cgroupDriver` is in kubelet. */
const CONTAINERD_SAYS = /^systemdcgroup/i

/** `a/b` is `b` within `a`. */
function ask(place: string, minor: number | undefined = 34): string | undefined {
  const path = place.split('/')
  let fields: FieldTable = FIELDS
  for (const step of path.slice(0, -1)) fields = fields[step]?.fields ?? {}
  const known = [...listKnown(fields, minor), ...(path.length === 1 ? ['kind', 'apiVersion'] : [])]
  return hint({ name: path.at(-1) ?? '', known, key: { path, minor } })
}

/** The name in a hint, of all its words. */
function named(text = '-'): string {
  const [, meant] = /^did you mean (.*)\?$/.exec(text) ?? /^(\S+) (?:is|was) an? /.exec(text) ?? []
  return meant ?? text
}

t.test('a mistaken name is named rightly, or not at all', async (t) => {
  t.ok(MISTAKEN_NAMES.length > 700, `${MISTAKEN_NAMES.length} names`)
  for (const [name, meant] of MISTAKEN_NAMES) if (named(ask(name)) !== meant) t.equal(named(ask(name)), meant, name)
  const twice = MISTAKEN_NAMES.map(([name]) => name).filter((name, at, all) => all.indexOf(name) !== at)
  t.strictSame(twice, [])
})

t.test('no slip of a letter makes another field of one', async (t) => {
  const slips = fc.tuple(fc.constantFrom(...NAMES), fc.nat(), fc.constantFrom('', 'e', 's', 'o', 'D'), fc.nat({ max: 1 }))
  const rights = new Set<string>()
  fc.assert(
    fc.property(slips, ([name, seed, letter, gone]) => {
      const at = seed % name.length
      const slip = `${name.slice(0, at)}${letter}${name.slice(at + gone)}`
      const found = slip in FIELDS || CONTAINERD_SAYS.test(slip) ? undefined : ask(slip)
      if (found !== undefined) rights.add(slip)
      return found === undefined || found === `did you mean ${name}?`
    }),
    { numRuns: 400 },
  )
  t.ok(rights.size > 150, 'most slips are understood')
})

t.test('a flag is told by what this kubelet makes of it', async (t) => {
  const texts = (name: string) => [20, 24, 34, undefined].map((minor) => ask(name, minor))
  const isFlag = (flag: string) => `${flag} is a flag of kubelet, and no field: set it on kubelet's command line`
  t.strictSame(texts('nodeIP'), Array(4).fill(isFlag('--node-ip')))
  const wasFlag = '--container-runtime was a flag of kubelet up to 1.26, and no field: remove it'
  t.strictSame(texts('containerRuntime'), [isFlag('--container-runtime'), isFlag('--container-runtime'), wasFlag, wasFlag])
  const later = '--config-dir is a flag of kubelet 1.28 and later, and no field'
  t.strictSame(texts('config-dir'), [later, later, isFlag('--config-dir'), isFlag('--config-dir')])
  const field = 'did you mean containerRuntimeEndpoint?'
  t.strictSame(texts('container-runtime-endpoint'), [...Array(2).fill(isFlag('--container-runtime-endpoint')), ...[field, field]])
  t.equal(ask('failCgroupv1', 30), undefined, 'neither flag nor field')
  t.equal(ask('nodefs.available'), 'nodefs.available is an eviction signal: write it under evictionHard or evictionSoft')
})

t.test('values of a list are named by the same measure', async (t) => {
  const suites = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA']
  const versions = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13']
  const policies = ['none', 'best-effort', 'restricted', 'single-numa-node']
  const cases: readonly (readonly [known: readonly string[], name: string, meant: string])[] = [
    ...[
      ['CPUManger', 'CPUManager'],
      ['gracefulNodeShutdown', 'GracefulNodeShutdown'],
      ['InPlacePodVertical', 'InPlacePodVerticalScaling'],
      ['UserNamespaces', 'UserNamespacesSupport'],
      ['NodeSwapSupport', '-'],
      ['CSIMigrationAzureBlob', '-'],
      ['CPUManagerPolicyGammaOptions', '-'],
      ['PodSecurityPolicy', '-'],
      ['Swap', '-'],
    ].map(([name = '', meant = '']) => [listGates(), name, meant] as const),
    ...[
      ['memoryAvailable', 'memory.available'],
      ['nodefs.inodes', 'nodefs.inodesFree'],
      ['pids.available', 'pid.available'],
      ['memory.free', '-'],
      ['disk.available', '-'],
      ['rootfs.available', '-'],
    ].map(([name = '', meant = '']) => [SIGNALS, name, meant] as const),
    [suites, 'ECDHE-RSA-AES128-GCM-SHA256', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
    [suites, 'AES128-GCM-SHA256', 'TLS_AES_128_GCM_SHA256'],
    [suites, 'TLS_ECDHE_RSA_WITH_AES_192_GCM_SHA256', '-'],
    [versions, 'VersionTLS1.2', 'VersionTLS12'],
    [versions, 'VersionTLS14', '-'],
    [policies, 'singleNumaNode', 'single-numa-node'],
    [policies, 'single-numa', 'single-numa-node'],
    [policies, 'strict', '-'],
    [['Webhook', 'AlwaysAllow'], 'AlwaysDeny', '-'],
    [['cpu', 'memory', 'ephemeral-storage', 'pid'], 'ephemeralStorage', 'ephemeral-storage'],
    [['cpu', 'memory', 'ephemeral-storage', 'pid'], 'pids', 'pid'],
  ]
  for (const [known, name, meant] of cases) t.equal(named(hint({ name, known })), meant, name)
})
