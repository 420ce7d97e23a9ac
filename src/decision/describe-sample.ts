/** One look at kubelet, in words. Pure. */
import type { HealthAnswer, HealthSample } from './health.ts'

export function describeSample(sample: HealthSample): string {
  const unit = sample.unit.kind === 'known' ? sample.unit.summary : sample.unit.detail
  const taken = sample.portTaken === undefined ? '' : `, ${sample.portTaken}`
  const runtime = sample.runtimeUp === false ? ', container runtime does not answer' : ''
  return `${unit}${describeAnswer(sample.healthz)}${runtime}${taken}`
}

function describeAnswer(healthz: HealthAnswer): string {
  if (healthz === undefined) return ''
  return healthz.ok === 'unknown' ? `, ${healthz.detail}` : `, healthz ${healthz.detail}`
}
