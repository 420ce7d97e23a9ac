/**
 * The images that need no credentials, in `preloadedImagesVerificationAllowlist`: names without tag
 * and digest, or everything below a prefix. Pure. Sources, 1.33 to 1.37:
 * `getAllowlistImagePattern`, pkg/kubelet/images/pullmanager; the grammar and `splitDockerDomain`
 * of github.com/distribution/reference.
 */
import { type FieldProblem, quote } from './complaint.ts'

const HOST_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const REGISTRY = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const PATH_PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const NAME = new RegExp(`^(?:${REGISTRY}/)?(?<path>${PATH_PART}(?:/${PATH_PART})*)$`)
const LONGEST_PATH = 255

/** The last minor that wants the name of the registry, too. */
const WITH_REGISTRY_UNTIL = 35

export function checkImagePatterns(patterns: readonly string[]): FieldProblem[] {
  return patterns.flatMap((pattern, index): FieldProblem[] => {
    const path = ['preloadedImagesVerificationAllowlist', index]
    const complain = (problem: string, range: Pick<FieldProblem, 'from' | 'to'>): FieldProblem[] => [
      { rule: 'value', path, problem: `${quote(pattern)} ${problem}`, ...range },
    ]
    if (!isPrefix(pattern) && !isName(pattern))
      return complain('is neither the name of an image without tag and digest nor a pattern that ends in /*', { from: 33 })
    if (isPrefix(pattern) || namesRegistry(pattern)) return []
    return complain('must begin with the name of a registry, as in docker.io/library/busybox', { from: 33, to: WITH_REGISTRY_UNTIL })
  })
}

function isPrefix(pattern: string): boolean {
  const prefix = pattern.slice(0, -1)
  return pattern.endsWith('/*') && prefix !== '/' && !prefix.includes('*') && pattern === pattern.trim()
}

function isName(pattern: string): boolean {
  const path = NAME.exec(pattern)?.groups?.path
  return path !== undefined && path.length <= LONGEST_PATH
}

/** Whether Docker's way to read a name would leave it as it is. */
function namesRegistry(name: string): boolean {
  const [registry = '', ...path] = name.split('/')
  if (path.length === 0 || registry === 'index.docker.io') return false
  if (registry === 'docker.io') return path.length > 1
  return registry === 'localhost' || /[.:A-Z]/.test(registry)
}
