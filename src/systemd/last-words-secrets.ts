/**
 * Removes what looks like a secret from a message of kubelet that the agent publishes. Pure. It
 * removes too much rather than too little: the journal keeps the whole message.
 */

const REMOVED = '[removed]'

/**
 * After these follows a part of the config's text, or the whole config as Go prints a struct; its
 * `staticPodURLHeader` may hold credentials (github.com/json-iterator/go, `ReportError`;
 * cmd/kubelet/app/server.go).
 */
const CONFIG_FOLLOWS = /(?<= is missing) in '|, error found in #\d+ byte of \.\.\.|, path: &/

const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs, REMOVED],
  // RFC 7519: a JSON object in base64url begins with `eyJ`.
  [/\beyJ[\w-]{5,}\.[\w-]*(?:\.[\w-]*)*/g, REMOVED],
  [/\b(Bearer|Basic) +[\w.~+/=-]{6,}/gi, `$1 ${REMOVED}`],
  // RFC 3986: the user information of a URL ends at the last `@` before the path.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*@/gi, `$1${REMOVED}@`],
  // As `password=...`, `"token":"..."` or `secret: ...`.
  [/\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)["'\\]*)=(?:"[^"]*"|'[^']*'|[^\s&,;]+)/gi, `$1=${REMOVED}`],
  [/(["'](?:[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key))\\?["']\s*:\s*)\\?["'][^"']*["']?/gi, `$1${REMOVED}`],
  [/\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key):\s+)[^\s"']{16,}/gi, `$1${REMOVED}`],
]

export function withoutSecrets(message: string): string {
  const [before = ''] = message.split(CONFIG_FOLLOWS, 1)
  return SECRETS.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), before)
}
