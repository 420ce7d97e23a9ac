/**
 * The rotation of container logs. Pure. Rule: `NewContainerLogManager`, pkg/kubelet/logs, 1.20 to
 * 1.37: kubelet exits if it cannot use these values. Kubelets before 1.24 rotate only the logs of a
 * remote container runtime: with dockershim they start.
 */
import { parseQuantity } from '../../kubelet/quantity.ts'
import { type FieldProblem, type FieldRuleInput, quote } from './complaint.ts'
import { textOf } from './values.ts'

const FIRST_WITHOUT_DOCKERSHIM = 24

export function checkLogRotation({ config, version }: FieldRuleInput): FieldProblem[] {
  const complain = (rule: string, field: string, problem: string, advice: string): FieldProblem =>
    version !== undefined && version.minor >= FIRST_WITHOUT_DOCKERSHIM
      ? { rule, path: [field], problem, advice }
      : { rule, path: [field], problem: `${problem} (kubelet up to 1.23 starts with it only if it uses Docker)`, advice, severity: 'warn' }
  const complaints: FieldProblem[] = []
  const { containerLogMaxFiles: files } = config
  if (typeof files === 'number' && files < 2)
    complaints.push(complain('range', 'containerLogMaxFiles', `containerLogMaxFiles ${files} must be 2 or greater`, 'set it to 2 or more'))
  const size = textOf(config.containerLogMaxSize)
  const fault = size === '' ? undefined : describeFault(size)
  if (fault !== undefined)
    complaints.push(complain('value', 'containerLogMaxSize', `containerLogMaxSize ${quote(size)} ${fault}`, 'write it like 10Mi'))
  return complaints
}

/** A size below zero turns rotation off. */
function describeFault(size: string): string | undefined {
  if (parseQuantity(size) === undefined) return 'is not a quantity'
  return isWhole(size) ? undefined : 'is not a whole number of bytes, as kubelet reads it'
}

const EXPONENTS: ReadonlyMap<string, number> = new Map([
  ...['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, 3 * index - 9] as const),
])

const BINARY: readonly string[] = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/**
 * `Quantity.AsInt64`, k8s.io/apimachinery/pkg/api/resource: digits behind the point count even if
 * they are zeros, and a binary suffix takes none at all. It has no answer for a quantity that
 * `ParseQuantity` keeps as a big number, by its digits and its suffix.
 */
function isWhole(size: string): boolean {
  const [, whole = '', fraction = '', suffix = ''] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/.exec(size) ?? []
  const binary = BINARY.indexOf(suffix)
  if (binary >= 0) return fraction === '' && whole.length + 3 * (binary + 1) <= 14
  const exponent = EXPONENTS.get(suffix) ?? Number(suffix.slice(1))
  return fraction.length <= exponent && whole.length + fraction.length <= 18 && (whole === '' || whole.length + exponent <= 19)
}
