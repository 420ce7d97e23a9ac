/** As kubectl's AGE: `45s`, `12m`, `5h`, `3d`. Pure. */
export function showAge(since: string, wallMs: number): string {
  const ms = wallMs - Date.parse(since)
  if (!Number.isFinite(ms)) return '-'
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}
