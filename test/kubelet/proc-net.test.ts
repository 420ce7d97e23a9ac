// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { parseListeners } from '../../src/kubelet/port-holder.ts'

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'

t.test('listening sockets in the format of the kernel', async (t) => {
  const tcp = `${HEAD}   0: 0100007F:2808 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0000000000000000 100 0 0 10 0
   1: 00000000:280A 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65534        0 4243 1 0
   2: 0100007F:C350 0100007F:2808 01 00000000:00000000 00:00000000 00000000     0        0 4244 1 0
`
  t.same(parseListeners(tcp), [
    { address: '127.0.0.1', port: 10248, uid: 0, inode: '4242' },
    { address: '0.0.0.0', port: 10250, uid: 65534, inode: '4243' },
  ])
  const line = (address: string) => `0: ${address}:280A 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 7 1 0`
  const read = (address: string) => parseListeners(line(address))[0]?.address
  t.equal(read('00000000000000000000000000000000'), '::')
  t.equal(read('00000000000000000000000001000000'), '::1')
  t.equal(read('0000000000000000FFFF00000100007F'), '127.0.0.1')
  t.equal(read('B80D0120000000000000000001000000'), '2001:db8::1')
  t.same(parseListeners(''), [])
  t.same(parseListeners('nonsense\n0: x:y'), [])
})
