/** The port to kubelet's program file. Adapter: `src/systemd/binary-identity.ts`. */

export interface KubeletBinary {
  /** Never rejects. */
  identify(path: string): Promise<BinaryIdentity>
}

export type BinaryIdentity =
  | {
      readonly kind: 'known'
      /** Changes with the content of the file and with nothing else. */
      readonly identity: string
      /** What earlier agents called the same file: its inode and its times. */
      readonly former: string
      /** The disk does not return the file: `identity` stands in for that of its content. */
      readonly unread?: true | undefined
    }
  | { readonly kind: 'missing' }
  /** It is being read, or was replaced meanwhile: it is known a little later. */
  | { readonly kind: 'reading' }
