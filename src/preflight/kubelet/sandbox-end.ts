/**
 * Reads how a sandbox ended from the messages of systemd-run(1) `--wait`, which stand between the
 * messages of its command. Pure. Lines and results are those of `run_context_update()`. A status of
 * 200 or more is systemd's own and means that it could not start the command; see systemd.exec(5),
 * "Process Exit Codes".
 */

export type SandboxEnd =
  /** The command exited by itself: its output counts. */
  | { readonly kind: 'ended' }
  /** systemd-run did not start the unit. */
  | { readonly kind: 'not-started'; readonly detail: string }
  | { readonly kind: 'interrupted'; readonly detail: string }

/** Without 255, with which Go programs exit, as with 1 and 2. */
const SYSTEMD_STATUS = { from: 200, to: 254 }

export function readSandboxEnd(stderr: string): SandboxEnd {
  if (!/^Running as unit: /m.test(stderr))
    return { kind: 'not-started', detail: stderr.trim().split('\n').at(-1)?.trim().slice(0, 300) || 'it printed nothing' }
  // The command may print such lines too; those of systemd-run come last.
  const result = [...stderr.matchAll(/^Finished with result: ([\w-]+)$/gm)].at(-1)?.[1]
  const status = Number([...stderr.matchAll(/^Main processes terminated with: code=exited\/?,? ?status=(\d+)/gm)].at(-1)?.[1])
  switch (result) {
    case undefined:
      return { kind: 'interrupted', detail: 'systemd-run did not report how it ended' }
    case 'timeout':
      return { kind: 'interrupted', detail: 'it exceeded its time limit' }
    case 'oom-kill':
      return { kind: 'interrupted', detail: 'it exceeded its memory limit' }
    case 'success':
      return { kind: 'ended' }
    case 'exit-code':
      if (status >= SYSTEMD_STATUS.from && status <= SYSTEMD_STATUS.to)
        return { kind: 'interrupted', detail: `systemd could not start it in the sandbox (status ${status})` }
      return { kind: 'ended' }
    default:
      return { kind: 'interrupted', detail: `systemd reported the result ${result}` }
  }
}
