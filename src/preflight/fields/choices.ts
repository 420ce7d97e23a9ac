/**
 * Fields that accept only certain words. Kubelet checks some of them in its validation, others when
 * it starts the component they configure. Pure. Sources: `ValidateKubeletConfiguration`,
 * pkg/kubelet/apis/config/validation/validation.go; at start, `NewMainKubelet`
 * (pkg/kubelet/kubelet.go), `BuildAuthz` (cmd/kubelet/app), the managers' `NewManager`
 * (pkg/kubelet/cm), `TLSVersion` and `TLSCipherSuites` (k8s.io/component-base/cli/flag).
 */
import { type FieldPath, valueAt } from '../../kubelet/field-path.ts'
import { type FieldProblem, type FieldRuleInput, quote } from './complaint.ts'
import { CIPHER_SUITES, TLS_VERSIONS } from './tls-names.ts'
import { textOf, textsOf } from './values.ts'

interface Choice {
  readonly path: readonly string[]
  readonly flag?: string
  readonly words: readonly string[]
  readonly from?: number
  /** A gate that enables the field; if it is off, kubelet ignores the field. */
  readonly gate?: string
}

const SUITES = Object.keys(CIPHER_SUITES)

/** An empty word always means the default. */
const CHOICES: readonly Choice[] = [
  { path: ['hairpinMode'], flag: '--hairpin-mode', words: ['promiscuous-bridge', 'hairpin-veth', 'none'] },
  { path: ['topologyManagerPolicy'], flag: '--topology-manager-policy', words: ['none', 'best-effort', 'restricted', 'single-numa-node'] },
  { path: ['topologyManagerScope'], flag: '--topology-manager-scope', words: ['container', 'pod'] },
  { path: ['tlsMinVersion'], flag: '--tls-min-version', words: TLS_VERSIONS },
  { path: ['authorization', 'mode'], flag: '--authorization-mode', words: ['AlwaysAllow', 'Webhook'] },
  { path: ['configMapAndSecretChangeDetectionStrategy'], words: ['Watch', 'Cache', 'Get'] },
  { path: ['cpuManagerPolicy'], flag: '--cpu-manager-policy', words: ['none', 'static'], gate: 'CPUManager' },
  { path: ['memoryManagerPolicy'], flag: '--memory-manager-policy', words: ['None', 'Static'], gate: 'MemoryManager', from: 21 },
  { path: ['logging', 'format'], flag: '--logging-format', words: ['text', 'json'] },
  { path: ['memoryReservationPolicy'], words: ['None', 'TieredReservation'], from: 36 },
]

export function checkChoices({ config, gate, version }: FieldRuleInput): FieldProblem[] {
  const complaints = CHOICES.flatMap((choice): FieldProblem[] => {
    const word = textOf(valueAt(config, choice.path))
    if (word === '' || choice.words.includes(word)) return []
    const isOn = choice.gate === undefined ? true : gate(choice.gate)
    if (isOn === false) return []
    const label = choice.flag === undefined ? choice.path.join('.') : `${choice.path.join('.')} (${choice.flag})`
    return [
      complain(
        choice.path,
        `${label} ${quote(word)} must be one of: ${choice.words.map(quote).join(', ')}`,
        word,
        choice,
        isOn === undefined,
      ),
    ]
  })
  return [...complaints, ...checkCipherSuites(textsOf(config.tlsCipherSuites) ?? [], version)]
}

function complain(path: FieldPath, problem: string, word: string, { words, from }: Choice, unsure: boolean): FieldProblem {
  const mistyped = { name: word, known: words }
  return { rule: 'value', path, problem, mistyped, unsure, ...(from === undefined ? {} : { from }) }
}

function checkCipherSuites(suites: readonly string[], version: FieldRuleInput['version']): FieldProblem[] {
  return suites.flatMap((suite, index): FieldProblem[] => {
    if (Object.hasOwn(CIPHER_SUITES, suite)) return []
    const mistyped = { name: suite, known: SUITES }
    // A newer Go may support more suites.
    const byList = /^TLS_[A-Z0-9_]{3,80}$/.test(suite)
    return [
      {
        rule: 'value',
        path: ['tlsCipherSuites', index],
        problem: `Cipher suite ${quote(suite)} not supported or doesn't exist`,
        mistyped,
        unsure: byList && version === undefined,
        byList,
      },
    ]
  })
}
