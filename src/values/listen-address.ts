/** `host:port` of a listening address, as Go programs take it (`net.SplitHostPort`): `127.0.0.1:10270`, `[::1]:10270`, `:10270`. Pure. */
export interface ListenAddress {
  /** Empty: all addresses of the machine. */
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}
export type ListenAddressResult = { readonly ok: true; readonly address: ListenAddress } | { readonly ok: false; readonly detail: string }

export function parseListenAddress(text: string): ListenAddressResult {
  const match = /^(?:\[([^[\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text.trim())
  if (match === null)
    return refuse(text, text.includes(':') ? 'an IPv6 address stands in brackets, as in [::1]:10270' : 'the port is missing')
  const [, bracketed, plain, digits] = match
  const port = Number(digits)
  if (port > 65_535) return refuse(text, 'a port is at most 65535')
  const host = bracketed ?? plain ?? ''
  if (/\s/.test(host)) return refuse(text, 'a host has no white space')
  return { ok: true, address: { host, port } }
}

export function formatListenAddress({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function refuse(text: string, why: string): ListenAddressResult {
  return { ok: false, detail: `"${text}" is no host:port: ${why}` }
}
