/**
 * A quantity as Kubernetes writes it: `100Mi`, `0.5`, `1e3`, `250m`. Pure. Rule: `ParseQuantity`, k8s.io/apimachinery/pkg/api/resource. Its value is read to
 * a number's precision, for comparing with limits.
 */

const QUANTITY = /^([-+]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][-+]?\d+)?$/
const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** undefined: it is none. */
export function parseQuantity(text: string): number | undefined {
  const [, amount, suffix = ''] = QUANTITY.exec(text) ?? []
  if (amount === undefined) return undefined
  const factor = FACTORS[suffix]
  return factor === undefined ? Number(`${amount}${suffix}`) : Number(amount) * factor
}
