/**
 * How a sandbox ended, from what systemd-run(1) says under `--wait`, beside what its command said. Pure. Lines and results are those of
 * `run_context_update()` and systemd.exec(5), "Process Exit Codes": a status from 200 on is systemd's own, which could not start the command as it was told.
 */

export type SandboxEnd =
  /** The command ended by itself; what it said counts. */
  | { readonly kind: 'ended' }
  /** systemd has not even begun. */
  | { readonly kind: 'not-started'; readonly detail: string }
  | { readonly kind: 'interrupted'; readonly detail: string }

/** Go exits with 1, 2 or 255. */
const OWN_STATUS = { from: 200, to: 254 }

export function readSandboxEnd(said: string): SandboxEnd {
  if (!/^Running as unit: /m.test(said))
    return { kind: 'not-started', detail: said.trim().split('\n').at(-1)?.trim().slice(0, 300) || 'it said nothing' }
  // A command may say such lines, too; systemd-run comes last.
  const result = [...said.matchAll(/^Finished with result: ([\w-]+)$/gm)].at(-1)?.[1]
  const status = Number([...said.matchAll(/^Main processes terminated with: code=exited\/?,? ?status=(\d+)/gm)].at(-1)?.[1])
  switch (result) {
    case undefined:
      return { kind: 'interrupted', detail: 'systemd-run did not see it end' }
    case 'timeout':
      return { kind: 'interrupted', detail: 'it did not end in time' }
    case 'oom-kill':
      return { kind: 'interrupted', detail: 'it took more memory than it may' }
    case 'success':
      return { kind: 'ended' }
    case 'exit-code':
      if (status >= OWN_STATUS.from && status <= OWN_STATUS.to)
        return { kind: 'interrupted', detail: `systemd could not start it in its sandbox (status ${status})` }
      return { kind: 'ended' }
    default:
      return { kind: 'interrupted', detail: `it was ended (${result})` }
  }
}
