// SPDX-License-Identifier: Apache-2.0
/**
 * Joins a question to an earlier one that is not answered yet. The kernel may never answer about a
 * path on a mount whose server is gone, and each question about it holds one of the few threads
 * that Node.js has for files. Pure.
 */
export function joinPending<Answer>(ask: (path: string) => Promise<Answer>): (path: string) => Promise<Answer> {
  const pending = new Map<string, Promise<Answer>>()
  return (path) => {
    const earlier = pending.get(path)
    if (earlier !== undefined) return earlier
    const answer = ask(path).finally(() => pending.delete(path))
    pending.set(path, answer)
    return answer
  }
}
