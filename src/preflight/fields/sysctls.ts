/**
 * The sysctls that pods may set, and those that kubelet sets for them: kubelet starts only if the
 * kernel is known to keep each of them in a namespace. Pure. Sources: `NewAllowlist`,
 * pkg/kubelet/sysctl/allowlist.go (`NewWhitelist` in 1.20), `IsValidSysctlPattern`,
 * pkg/apis/policy/validation, and pkg/kubelet/apis/config/validation for `defaultPodSysctls`; the
 * namespaces are those of pkg/kubelet/sysctl/namespace.go up to 1.28, and since then of
 * k8s.io/component-helpers/node/util/sysctl, which has fewer, and more again from 1.37 on.
 */

import { isObject } from '../../values/is-object.ts'

import { type FieldProblem, type FieldRuleInput, quote } from './complaint.ts'
import { firstPlaces, textsOf } from './values.ts'

const LONGEST = 253
const SEGMENT = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?'
const LAST_SEGMENT = '(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]'
const WITH_DOTS = new RegExp(`^(?:${SEGMENT}\\.)*${LAST_SEGMENT}$`)
const WITH_SLASHES = new RegExp(`^(?:${SEGMENT}[./])*${LAST_SEGMENT}$`)

/** The first minor that accepts slashes, with the shorter list of names, and with more again. */
const SLASHES_SINCE = 23
const NAMED_SINCE = 29
const MORE_SINCE = 37
const NAMESPACED = ['net.', 'fs.mqueue.']
const NAMESPACED_EARLIER = ['kernel.shm', 'kernel.msg']
const NAMESPACED_LATER = /^(user\.|kernel\.domainname$)/
const NAMES = [
  ...['kernel.sem', 'kernel.shm', 'kernel.shmall', 'kernel.shmmax', 'kernel.shmmni', 'kernel.shm_rmid_forced'],
  ...['kernel.msg', 'kernel.msgmax', 'kernel.msgmnb', 'kernel.msgmni'],
]

export function checkSysctls(subject: FieldRuleInput): FieldProblem[] {
  return [...checkAllowed(subject), ...checkDefaults(subject)]
}

function checkAllowed({ config, gate }: FieldRuleInput): FieldProblem[] {
  // The gate is on since 1.11, and went with 1.23.
  if (gate('Sysctls') === false) return []
  return (textsOf(config.allowedUnsafeSysctls) ?? []).flatMap((sysctl, index) => checkSysctl(sysctl, ['allowedUnsafeSysctls', index]))
}

function checkSysctl(sysctl: string, path: FieldProblem['path']): FieldProblem[] {
  const complain = (problem: string, advice: string, range: Pick<FieldProblem, 'from' | 'to' | 'byList'> = {}): FieldProblem[] => [
    { rule: 'value', path, problem, advice, ...range },
  ]
  if (sysctl.length > LONGEST || !WITH_SLASHES.test(sysctl))
    return complain(
      `sysctl ${quote(sysctl)} is neither the name of a sysctl nor a pattern that ends in *`,
      'write it as in net.core.somaxconn',
    )
  const slashes = WITH_DOTS.test(sysctl) ? [] : complain(`sysctl ${quote(sysctl)} has slashes`, 'write dots', { to: SLASHES_SINCE - 1 })
  const isPattern = sysctl.endsWith('*')
  const name = withDots(isPattern ? sysctl.slice(0, -1) : sysctl)
  if (isNamespaced(name)) return slashes
  const range = NAMESPACED_LATER.test(name)
    ? { to: MORE_SINCE - 1 }
    : NAMESPACED_EARLIER.some((prefix) => name.startsWith(prefix))
      ? { from: NAMED_SINCE }
      : {}
  const problem = `the ${isPattern ? 'sysctls' : 'sysctl'} ${quote(sysctl)} are not known to be namespaced`
  return [
    ...slashes,
    ...complain(problem, 'set it on the node, in sysctl.d(5): pods can set only what is namespaced', { ...range, byList: true }),
  ]
}

function checkDefaults({ config: { defaultPodSysctls }, gate }: FieldRuleInput): FieldProblem[] {
  const names = isObject(defaultPodSysctls) ? Object.keys(defaultPodSysctls) : []
  const complain = (problem: string, advice: string, ...rest: string[]): FieldProblem => ({
    rule: rest.length === 0 ? 'cross' : 'value',
    path: ['defaultPodSysctls', ...rest],
    problem,
    advice,
    from: MORE_SINCE,
  })
  if (names.length === 0) return []
  if (gate('DefaultPodSysctls') === false)
    return [complain('defaultPodSysctls requires feature gate DefaultPodSysctls', 'remove it, or enable the feature gate')]
  const firsts = firstPlaces(names.map(withDots))
  return names.flatMap((name, index): FieldProblem[] => {
    const plain = withDots(name)
    if (name.length > LONGEST || name.endsWith('*') || !WITH_SLASHES.test(name))
      return [complain(`${quote(name)} is not the name of a sysctl`, 'write it as in net.core.somaxconn', name)]
    return [
      ...(isNamespaced(plain) || NAMESPACED_LATER.test(plain)
        ? []
        : [
            {
              ...complain(`the sysctl ${quote(name)} is not known to be namespaced`, 'set it on the node, in sysctl.d(5)', name),
              byList: true,
            },
          ]),
      ...(firsts.get(plain) === index ? [] : [complain(`the sysctl ${quote(name)} is set twice`, 'remove one of them', name)]),
    ]
  })
}

/** For every kubelet. */
function isNamespaced(name: string): boolean {
  return NAMES.includes(name) || NAMESPACED.some((prefix) => name.startsWith(prefix))
}

/** sysctl.d(5): if the first separator is a slash, slashes and dots are swapped. */
function withDots(name: string): string {
  return /^[^./]*\//.test(name) ? name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/')) : name
}
