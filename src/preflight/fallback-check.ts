/**
 * The check of a config that kubelet falls back to. It has run before, so it is refused only for
 * what no kubelet accepts. The candidate may have left something behind that keeps kubelet from
 * starting with it (kubernetes issue 95041): then the fallback goes on, and a remark says what to
 * do.
 */
import type { PreflightResult } from '../decision/verdict.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { PreflightRequest } from '../ports/preflight.ts'
import { decodeAndCheck } from './quick-check.ts'

/** @param remark takes no time; a fallback goes on without it */
export async function checkFallback(
  fallback: PreflightRequest,
  yaml: YamlReader,
  remark: (fallback: PreflightRequest) => Promise<readonly string[]>,
): Promise<PreflightResult> {
  const result = await decodeAndCheck(fallback, yaml)
  if (result.kind !== 'accepted') return result
  const remarks = await remark(fallback).catch(() => [])
  return { ...result, remarks: [...result.remarks, ...remarks] }
}
