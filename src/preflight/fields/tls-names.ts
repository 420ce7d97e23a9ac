/**
 * Names of TLS versions and cipher suites that kubelet accepts. Data only. Source:
 * k8s.io/component-base/cli/flag/ciphersuites_flag.go, crypto/tls of Go.
 */

export const TLS_VERSIONS = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13']

/** `insecure`: kubelet accepts it, but it should not be used. */
export const CIPHER_SUITES: Readonly<Record<string, 'secure' | 'insecure'>> = {
  TLS_AES_128_GCM_SHA256: 'secure',
  TLS_AES_256_GCM_SHA384: 'secure',
  TLS_CHACHA20_POLY1305_SHA256: 'secure',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'secure',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'insecure',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'secure',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'secure',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'secure',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'secure',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'secure',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'insecure',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'insecure',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'secure',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'insecure',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'secure',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'secure',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'secure',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'secure',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'secure',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'insecure',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'insecure',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'secure',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'insecure',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'secure',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'secure',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'secure',
  TLS_RSA_WITH_RC4_128_SHA: 'insecure',
}
