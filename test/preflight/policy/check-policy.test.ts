// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { formatPath } from '../../../src/kubelet/field-path.ts'
import type { Change } from '../../../src/preflight/change/change.ts'
import { compareConfigs } from '../../../src/preflight/change/compare.ts'
import { FIELD_ROWS, ROWS } from '../../../src/preflight/change/field-rows.ts'
import type { KubeletVersion } from '../../../src/preflight/kubelet-version.ts'
import { type ChangePolicy, checkPolicy, decideChange, HARMLESS_FIELDS } from '../../../src/preflight/policy/check-policy.ts'
import { checkPattern, matchesPattern } from '../../../src/preflight/policy/patterns.ts'
import { v } from '../change/configs.ts'

const OPEN: ChangePolicy = { base: 'open', allow: [], deny: [], requireDrain: [] }
const GUARD: ChangePolicy = { ...OPEN, base: 'guarded' }

function denied(after: object, policy: Partial<ChangePolicy>, before: object = {}): string[] {
  const { findings } = checkPolicy(compareConfigs({ ...before }, { ...after }, v(20)), { ...OPEN, ...policy })
  return findings.map(({ rule, path }) => `${rule} ${formatPath(path)}`)
}

function judge(after: object, policy: ChangePolicy, version: KubeletVersion | undefined): string[] {
  const { findings } = checkPolicy(compareConfigs({}, { ...after }, version), policy)
  return findings.map(({ rule, path }) => `${rule} ${formatPath(path)}`)
}

t.test('guarded denies what can give others control of the node, or cut it off', async (t) => {
  const changes: Record<string, unknown> = {
    staticPodPath: '/tmp/pods',
    staticPodURL: 'http://elsewhere/',
    staticPodURLHeader: { a: ['b'] },
    authentication: { anonymous: { enabled: true } },
    authorization: { mode: 'AlwaysAllow' },
    tlsCertFile: '/x',
    tlsMinVersion: 'VersionTLS10',
    address: '127.0.0.1',
    port: 10251,
    readOnlyPort: 10255,
    healthzBindAddress: '::',
    rotateCertificates: true,
    serverTLSBootstrap: true,
    registerNode: false,
    registerWithTaints: [{ key: 'x', effect: 'NoSchedule' }],
    providerID: 'x://y',
    cgroupRoot: '/x',
    cgroupDriver: 'systemd',
    contentType: 'application/json',
    clusterDNS: ['10.0.0.1'],
    clusterDomain: 'x',
    resolvConf: '/x',
    volumePluginDir: '/x',
    podLogsDir: '/x',
    containerRuntimeEndpoint: 'unix:///x',
    imageServiceEndpoint: 'unix:///x',
    allowedUnsafeSysctls: ['kernel.*'],
    seccompDefault: true,
    memoryThrottlingFactor: 0.5,
    featureGates: { AllAlpha: true },
    imagePullCredentialsVerificationPolicy: 'NeverVerify',
    preloadedImagesVerificationAllowlist: ['x'],
    enableSystemLogHandler: false,
    enableSystemLogQuery: true,
    enableDebuggingHandlers: false,
    // At 8 and more, kubelet logs the Secrets that it reads.
    logging: { verbosity: 10 },
    tracing: { endpoint: 'elsewhere:4317' },
    userNamespaces: { idsPerPod: 131072 },
    // With swap, the Secrets of pods get to a disk.
    failSwapOn: false,
    memorySwap: { swapBehavior: 'LimitedSwap' },
    makeIPTablesUtilChains: false,
  }
  for (const [field, value] of Object.entries(changes)) {
    const minors = [v(20), v(36)].map((version) => judge({ [field]: value }, GUARD, version))
    // A version that does not know the field may be replaced with one that does.
    for (const found of minors.filter((each) => each.length > 0)) t.match(found, [/^policy\/guarded /], field)
    t.ok(minors.flat().length > 0, field)
    t.same(denied({ [field]: value }, {}), [], `${field}: open allows it`)
  }
  const fine = { maxPods: 50, port: 10250, evictionHard: { 'memory.available': '200Mi' }, kubeReserved: { cpu: '100m' } }
  t.same(denied(fine, { base: 'guarded' }), [], 'harmless fields and unchanged values are allowed')
})

t.test('guarded allows rows of real fields, each with a reason, and none that needs a reboot', async (t) => {
  for (const [name, reason] of Object.entries(HARMLESS_FIELDS)) {
    t.ok(ROWS.has(name), name)
    t.match(reason, /^[a-z].*[^. ]$/, name)
    const same = /^as (\S+)$/.exec(reason)?.[1]
    if (same !== undefined) t.ok(Object.hasOwn(HARMLESS_FIELDS, same), `${name}: ${reason}`)
    t.notMatch(ROWS.get(name)?.risk, /^(reboot|can-cut-api|static-pods)$/, name)
  }
})

t.test('a field that no table has is refused under each policy that denies something', async (t) => {
  const hidden: Record<string, object> = {
    '?authorization': { '?authorization': { mode: 'AlwaysAllow' } },
    'authentication.x509.x': { authentication: { x509: { x: 1 } } },
    '["crashLoopBackOff.maxContainerRestartPeriod"]': { 'crashLoopBackOff.maxContainerRestartPeriod': '1m' },
    'shutdownGracePeriodByPodPriority[0]["?x"]': { shutdownGracePeriodByPodPriority: [{ priority: 1, '?x': 1 }] },
  }
  for (const [name, after] of Object.entries(hidden)) {
    const path = name === '?authorization' ? '["?authorization"]' : name
    for (const version of [v(20), v(36), v(40), undefined]) {
      t.same(judge(after, GUARD, version), [`policy/guarded ${path}`], name)
      t.same(judge(after, { ...OPEN, deny: ['authorization'] }, version), [`policy/deny[0] ${path}`], `${name}: denyChanges`)
      t.same(judge(after, { ...OPEN, deny: ['authorization'], allow: ['class:unknown'] }, version), [], `${name}: class:unknown`)
      t.same(judge(after, { ...GUARD, allow: ['class:unknown'] }, version), [], `${name}: guarded, class:unknown`)
      t.same(judge(after, OPEN, version), [], `${name}: open`)
    }
    const changes = compareConfigs({}, { ...after }, v(24))
    t.ok(checkPolicy(changes, { ...OPEN, requireDrain: ['authorization'] }).requiresDrain.length > 0, `${name}: requireDrain`)
  }
})

t.test('deny overrides allow, and allow overrides the base policy', async (t) => {
  const after = { port: 1, address: '::', maxPods: 1 }
  t.same(denied(after, { base: 'guarded' }), ['policy/guarded address', 'policy/guarded port'])
  t.same(denied(after, { base: 'guarded', allow: ['port'] }), ['policy/guarded address'])
  t.same(denied(after, { base: 'guarded', allow: ['port', 'address'], deny: ['x*', 'p*'] }), ['policy/deny[1] port'])
  t.same(denied(after, { deny: ['class:pod-admission'] }), ['policy/deny[0] maxPods'])
})

t.test('changes that require a drained node', async (t) => {
  const changes = compareConfigs({}, { clusterDNS: ['1.1.1.1'], maxPods: 1, featureGates: { A: true } }, v(20))
  const { requiresDrain } = checkPolicy(changes, { ...OPEN, requireDrain: ['class:drain', 'featureGates'], deny: [] })
  t.same(requiresDrain, [['clusterDNS'], ['featureGates', 'A']])
  t.same(checkPolicy(changes, { ...OPEN, requireDrain: ['*'], deny: ['clusterDNS'] }).requiresDrain.length, 2, 'not for denied changes')
})

t.test('decisions on single changes', async (t) => {
  const policy = { ...GUARD, allow: ['clusterDNS'], deny: ['maxPods'], requireDrain: ['tls*', 'class:drain'] }
  t.match(decideChange({ path: ['maxPods'], risk: 'pod-admission' }, policy), {
    outcome: 'denied',
    rule: 'policy/deny[0]',
    pattern: 'maxPods',
  })
  t.match(decideChange({ path: ['port'], risk: 'server-clients' }, policy), { outcome: 'denied', rule: 'policy/guarded' })
  t.match(decideChange({ path: ['clusterDNS'], risk: 'drain' }, policy), { outcome: 'drain', rule: 'policy/requireDrain[1]' })
  t.same(decideChange({ path: ['syncFrequency'], risk: 'load' }, policy), { outcome: 'allowed', rule: undefined })
})

t.test('a finding has rule, position and problem', async (t) => {
  const [change] = compareConfigs({}, { authentication: { anonymous: { enabled: true } } }, v(20))
  if (change === undefined) return t.fail('no change')
  const document = { locate: (path: readonly unknown[]) => (path.length === 1 ? { line: 3, column: 1 } : undefined) }
  const [finding] = checkPolicy([change], GUARD, document).findings
  t.match(finding, { severity: 'refuse', reason: 'validate', position: { line: 3, column: 1 }, rule: 'policy/guarded' })
  t.match(finding?.problem, /^authentication\.anonymous\.enabled must not change on this node/)
})

t.test('what allows a change of unknown risk', async (t) => {
  const change = { path: ['foo'], risk: 'unknown', before: undefined, after: undefined } as const
  const advice = (policy: ChangePolicy) => checkPolicy([change], policy).findings.map((finding) => finding.advice)
  t.match(advice(GUARD), [/leave foo as it is, or add class:unknown to allowChanges/])
  t.match(advice({ ...OPEN, deny: ['class:reboot'] }), [/or remove class:reboot from denyChanges/])
})

t.test('patterns', async (t) => {
  const fine = [
    'maxPods',
    'tls*',
    'authentication',
    'authentication.*.enabled',
    'featureGates.Foo',
    'evictionHard.memory.available',
    'class:reboot',
    '*',
  ]
  for (const text of fine) t.same(checkPattern(text), { ok: true }, text)
  t.same(checkPattern('maxPod'), { ok: false, detail: '"maxPod" is not a field of kubelet\'s config; the nearest one is maxPods' })
  t.same(checkPattern('class:rebot'), {
    ok: false,
    detail: '"class:rebot" is not a risk class of kubelet\'s config; the nearest one is class:reboot',
  })
  for (const bad of ['', 'maxPods.x', 'authentication.x', 'ssl*', 'max pods', 'featureGates.', 'class:', 'a\u001b', 'a'.repeat(300)])
    t.equal(checkPattern(bad).ok, false, bad)
  t.ok(matchesPattern('evictionHard.memory.available', { path: ['evictionHard', 'memory.available'], risk: 'evictions' }))
  t.ok(matchesPattern('auth*', { path: ['authentication', 'x509', 'clientCAFile'], risk: 'server-clients' }), 'and everything within it')
  t.notOk(matchesPattern('port', { path: ['readOnlyPort'], risk: 'server-clients' }), 'only the whole name')
  t.notOk(matchesPattern('a.b', { path: ['axb'], risk: 'none' }), 'a dot matches only a dot')
})

t.test('a star matches any characters', async () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 4 })
  const like = (pattern: string, text: string) => matchesPattern(pattern, { path: [text], risk: 'none' })
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 5 }),
      fc.array(part, { minLength: 4, maxLength: 4 }),
      part,
      (parts, filling, other) => {
        const text = parts.map((one, at) => (at === 0 ? one : `${filling[at - 1] ?? ''}${one}`)).join('')
        const expression = new RegExp(`^${parts.map((one) => one.replaceAll('.', '\\.')).join('.*')}$`)
        return like(parts.join('*'), text) && like(parts.join('*'), other) === expression.test(other)
      },
    ),
  )
})

const pattern = fc.oneof(
  fc.constantFrom(...Object.keys(FIELD_ROWS)),
  fc.constantFrom('*', 'tls*', 'authentication', '*Port', 'class:reboot', 'class:drain', 'class:server-clients', 'a*'),
)
const patterns = fc.array(pattern, { maxLength: 4 })
const policy: fc.Arbitrary<ChangePolicy> = fc.record({
  base: fc.constantFrom('open' as const, 'guarded' as const),
  allow: patterns,
  deny: patterns,
  requireDrain: patterns,
})
const change: fc.Arbitrary<Change> = fc.constantFrom(...Object.entries(FIELD_ROWS)).map(([name, { risk }]) => ({
  path: name.split('.'),
  before: undefined,
  after: undefined,
  risk,
}))
const isDenied = (one: Change, by: ChangePolicy) => checkPolicy([one], by).findings.length > 0

t.test('precedence, for any policy', async () => {
  const hits = (list: readonly string[], one: Change) => list.some((text) => matchesPattern(text, one))
  fc.assert(
    fc.property(change, policy, (one, by) => {
      const expected =
        hits(by.deny, one) || (by.base === 'guarded' && !Object.hasOwn(HARMLESS_FIELDS, one.path.join('.')) && !hits(by.allow, one))
      return isDenied(one, by) === expected
    }),
  )
})

t.test('another deny never allows, another allow never denies, guarded never allows more than open', async () => {
  fc.assert(
    fc.property(change, policy, pattern, (one, by, more) => {
      const stricter = !isDenied(one, by) || isDenied(one, { ...by, deny: [...by.deny, more] })
      const wider = isDenied(one, by) || !isDenied(one, { ...by, allow: [...by.allow, more] })
      return stricter && wider && (!isDenied(one, { ...by, base: 'open' }) || isDenied(one, { ...by, base: 'guarded' }))
    }),
  )
})

t.test('each change is decided on its own, in any order', async (t) => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 5 }), policy, (changes, by) => {
      const whole = checkPolicy(changes, by)
      const single = changes.map((one) => checkPolicy([one], by))
      t.same(
        whole.findings,
        single.flatMap(({ findings }) => findings),
      )
      t.same(
        whole.requiresDrain,
        single.flatMap(({ requiresDrain }) => requiresDrain),
      )
      const reversed = checkPolicy(changes.toReversed(), { ...by, allow: by.allow.toReversed() })
      return reversed.findings.length === whole.findings.length
    }),
    { numRuns: 50 },
  )
})
