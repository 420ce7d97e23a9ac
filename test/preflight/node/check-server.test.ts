// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { optionsOf, verdicts } from './node-options.ts'

const runs = (running: object, args: readonly string[] = []) => optionsOf(30, args, { running: { ...running } })

t.test("a config that turns kubelet's server off gets a warning, since nothing else shows what is lost", async (t) => {
  const warned = ['warn node/server-off enableServer']
  t.same(verdicts({ enableServer: false }, {}, runs({})), warned)
  t.same(verdicts({ enableServer: false }, {}, runs({ enableServer: true })), warned)
  t.same(verdicts({}, {}, runs({ enableServer: true })), [])
  t.same(verdicts({ enableServer: false }, {}, runs({ enableServer: false })), [], 'as before')
  t.same(verdicts({ enableServer: false }, {}), [], 'what runs is unknown')
  t.same(verdicts({ enableServer: false }, {}, runs({}, ['--enable-server=true'])), [], 'a flag keeps it on')
})
