/**
 * The syntax of label keys and values: `IsQualifiedName` and `IsValidLabelValue` of
 * k8s.io/apimachinery `pkg/util/validation`. Pure.
 */
import { isObjectName } from '../../values/kubernetes-names.ts'

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

export function isLabelKey(text: string): boolean {
  const [name = '', prefix, ...rest] = text.split('/').reverse()
  return rest.length === 0 && (prefix === undefined || isObjectName(prefix)) && NAME.test(name)
}

export function isLabelValue(text: string): boolean {
  return text === '' || NAME.test(text)
}
