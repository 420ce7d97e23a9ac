/**
 * The check of a config that kubelet falls back to. It has run before, with kubelet's flags and
 * drop-ins, so no rule judges it anew: its text alone may contradict itself where a flag or a
 * drop-in completes it. It is refused only where it cannot be decoded, as a damaged text cannot.
 * The candidate may have left something behind that keeps kubelet from starting with the fallback
 * (kubernetes issue 95041): then the fallback goes on, and a remark says what to do.
 */
import type { PreflightResult } from '../decision/verdict.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { PreflightRequest } from '../ports/preflight.ts'
import { decodeCandidate } from './decode-candidate.ts'

/** @param remark takes no time; a fallback goes on without it */
export async function checkFallback(
  fallback: PreflightRequest,
  yaml: YamlReader,
  remark: (fallback: PreflightRequest) => Promise<readonly string[]>,
): Promise<PreflightResult> {
  const result = await decodeCandidate(fallback, yaml)
  if (result.kind !== 'accepted') return result
  const remarks = await remark(fallback).catch(() => [])
  return { ...result, remarks: [...result.remarks, ...remarks] }
}
