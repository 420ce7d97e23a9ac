// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { compareConfigs } from '../../../src/preflight/change/compare.ts'
import { findEffects } from '../../../src/preflight/change/effects.ts'
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { NOWHERE } from '../node/node-options.ts'
import { v } from './configs.ts'

/** `RULE FIELD`, and the advice. */
function effects(before: object, after: object, args: readonly string[] = [], minor = 34): readonly string[] {
  const changes = compareConfigs({ ...before }, { ...after }, v(minor))
  return findEffects(changes, { ...after }, collectFlags(args), NOWHERE).map(
    ({ rule, path, advice }) => `${rule} ${path.join('.')}: ${advice}`,
  )
}

const taint = (key: string, value?: unknown, effect = 'NoSchedule') => ({ key, value, effect })
const taints = (...list: readonly object[]) => ({ registerWithTaints: list })

t.test('fields that count at registration alone', async (t) => {
  for (const [before, after, expected] of [
    [{}, { maxPods: 64 }, []],
    [{}, { providerID: 'x://1' }, [/^change\/registration providerID: the Node keeps its spec\.providerID/]],
    [{ registerNode: false }, {}, [/^change\/registration registerNode: leave it as it is/]],
    [{}, taints(taint('gpu', 'a')), [/: kubectl taint nodes NODE gpu=a:NoSchedule --overwrite; or drain/]],
    [taints(taint('gpu', 'a')), {}, [/: kubectl taint nodes NODE gpu:NoSchedule- --overwrite/]],
    [taints(taint('gpu', 'a')), taints(taint('gpu', 'b')), [/: kubectl taint nodes NODE gpu=b:NoSchedule --overwrite/]],
    [taints(taint('a')), taints(taint('a', '', 'NoExecute')), [/: kubectl taint nodes NODE a:NoSchedule- a:NoExecute --overwrite/]],
    [{}, taints(taint('x; reboot')), [/: kubectl taint nodes NODE KEY=VALUE:EFFECT --overwrite/]],
  ] as const)
    t.match(effects(before, after), expected, JSON.stringify(after))
  t.same(effects({}, taints(taint('gpu')), ['--register-with-taints=a:NoSchedule']), [], 'the flag wins, which is another finding')
  t.same(effects({}, taints(taint('gpu')), [], 22), [], 'this kubelet does not know the field')
  t.same(effects({}, { registerNode: true }), [], 'the default')
})

t.test('an annotation that a kubelet which does not register leaves as it is', async (t) => {
  const alone = { registerNode: false }
  const off = { enableControllerAttachDetach: false }
  t.match(effects(alone, { ...alone, ...off }), [/^change\/registration .*kubectl annotate node NODE volumes\.\S+attach-detach-$/])
  t.match(effects({ ...alone, ...off }, alone), [/attach-detach=true$/])
  t.same(effects({}, off), [], 'kubelet reconciles it')
})

t.test('a serving certificate that somebody has to approve', async (t) => {
  const found = [/^change\/serving-certificate serverTLSBootstrap: approve the request/]
  t.match(effects({}, { serverTLSBootstrap: true }), found)
  t.same(effects({ serverTLSBootstrap: true }, { serverTLSBootstrap: true, maxPods: 1 }), [])
  t.same(effects({ serverTLSBootstrap: true }, {}), [])
  t.same(effects({}, { serverTLSBootstrap: true, tlsCertFile: '/c', tlsPrivateKeyFile: '/k' }), [], 'it serves with that meanwhile')
})

t.test('CPUs that containers keep after static', async (t) => {
  const found = [/^change\/kept-cpus cpuManagerPolicy: make containers anew/]
  const pinned = { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' }
  t.match(effects(pinned, {}), found)
  t.same(effects({}, pinned), [])
  t.same(effects(pinned, { ...pinned, maxPods: 20 }), [])
})
