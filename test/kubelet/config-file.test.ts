// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { toSocketPath } from '../../src/kubelet/config-file.ts'

t.test('one socket has one path, however its endpoint is spelled', async (t) => {
  for (const endpoint of [
    'unix:///run/x.sock',
    'unix:/run/x.sock',
    '/run/x.sock',
    'unix:////run/x.sock',
    'unix:///run//x.sock',
    'unix:///run/./x.sock',
    'unix:///./run/.//./x.sock',
    'unix:///var/run/x.sock',
    'unix:////var/./run//x.sock',
  ])
    t.equal(toSocketPath(endpoint), '/run/x.sock', endpoint)
})

t.test('other sockets have other paths', async (t) => {
  for (const path of ['/run/y.sock', '/run/.x.sock', '/run/x./x.sock', '/srv/var/run/x.sock', '/run/a/../x.sock', 'tcp://127.0.0.1:1'])
    t.not(toSocketPath(path), '/run/x.sock', path)
  t.equal(toSocketPath('unix:///run/.x/y.sock'), '/run/.x/y.sock')
})
