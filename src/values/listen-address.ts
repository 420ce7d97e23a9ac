/**
 * `host:port` of a listening address, in the syntax of Go programs (`net.SplitHostPort`):
 * `127.0.0.1:10270`, `[::1]:10270`, `:10270`. Pure.
 */
export interface ListenAddress {
  /** Empty: all addresses of the machine. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}
export type ListenAddressResult = { readonly ok: true; readonly address: ListenAddress } | { readonly ok: false; readonly detail: string }

export function parseListenAddress(text: string): ListenAddressResult {
  const match = /^(?:\[([^[\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text.trim())
  if (match === null) return refuse(text, text.includes(':') ? 'put an IPv6 address in brackets, as in [::1]:10270' : 'the port is missing')
  const [, bracketed, plain, digits] = match
  const port = Number(digits)
  if (port > 65_535) return refuse(text, 'the highest port is 65535')
  const host = bracketed ?? plain ?? ''
  if (/\s/.test(host)) return refuse(text, 'the host contains white space')
  return { ok: true, address: { host, port } }
}

export function formatListenAddress({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function refuse(text: string, why: string): ListenAddressResult {
  return { ok: false, detail: `"${text}" is not host:port: ${why}` }
}
