// SPDX-License-Identifier: Apache-2.0
/**
 * A stand-in for the instance metadata service of EC2 (version 2), as far as nodeadm asks it: a
 * token, the identity of the instance, its address and its user data.
 */
import { strict as assert } from 'node:assert'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'

interface InstanceMetadata {
  readonly url: string
  /** What nodeadm reads the next time. */
  userData: string
  close(): void
}

export const REGION = 'us-west-2'

/** The instance has the network of this machine. */
export async function serveInstanceMetadata(): Promise<InstanceMetadata> {
  const identity = { instanceId: 'i-0123456789abcdef0', instanceType: 'm5.large', region: REGION, availabilityZone: `${REGION}a` }
  const fixed: Readonly<Record<string, string>> = {
    'api/token': 'a token',
    'dynamic/instance-identity/document': JSON.stringify(identity),
    'meta-data/mac': '02:00:00:00:00:01',
    'meta-data/services/domain': 'amazonaws.com',
    'meta-data/local-ipv4': findAddress(),
  }
  const server = createServer(({ url = '' }, response) => {
    const path = url.replace(/^\/latest\//, '')
    const answer = path === 'user-data' ? metadata.userData : fixed[path]
    // A token has a life, in seconds.
    response.writeHead(answer === undefined ? 404 : 200, { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }).end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const metadata: InstanceMetadata = {
    url: `http://127.0.0.1:${port}`,
    userData: '',
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return metadata
}

/** kubelet takes no loopback address for that of its node. */
function findAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const found = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)
  assert(found !== undefined, 'this machine has no address but those of loopback')
  return found.address
}
