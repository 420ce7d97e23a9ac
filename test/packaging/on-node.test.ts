// SPDX-License-Identifier: Apache-2.0
/**
 * The script of the image that works on a node, in a directory that stands for the node, with
 * programs that only say how they were called. test/real runs it on nodes.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'

const SETTINGS = 'etc/kubelet-cfg-agent/config.yaml'
const CACHE = 'var/cache/kubelet-cfg-agent'
const INSTALLED = 'echo "installed 2"'
const LOCAL = `echo '{ "active": { "kind": "local" }, "nextStart": { "kind": "local" } }'`

interface Call {
  readonly verb: readonly string[]
  /** What the node's programs do after they have said how they were called. */
  readonly programs: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  readonly system?: string
}

function onNode(t: Test, { verb, programs, files = {}, system = 'debian' }: Call) {
  const root = t.testdir({})
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode })
  }
  const all = { 'apt-get': '', dpkg: '', 'dpkg-query': '', rpm: '', systemctl: '', 'kubelet-cfg-agent': LOCAL, ...programs }
  for (const [name, does] of Object.entries(all)) put(`usr/bin/${name}`, `#!/bin/sh\necho "called ${name} $*" >>"$LOG"\n${does}\n`, 0o755)
  const own = {
    'etc/os-release': `ID=${system}\n`,
    'usr/lib/x': '',
    'run/x': '',
    given: 'trialDuration: 30m\n',
    message: '',
    log: '',
    ...files,
  }
  for (const [path, text] of Object.entries(own)) put(path, text)
  const script = readFileSync('packaging/image/on-node', 'utf8').replace(/\/(?=(?:etc|run|usr|var)\/)/g, `${root}/`)
  const at = (path: string) => join(root, path)
  const run = spawnSync(
    'sh',
    ['-c', `sh -c "$0" on-node 2 2 ${verb.join(' ')} 3</dev/null 4</dev/null 5<"${at('given')}" 6>"${at('message')}"`, script],
    { encoding: 'utf8', env: { PATH: `${at('usr/bin')}:${process.env.PATH}`, LOG: at('log') } },
  )
  const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : undefined)
  return { status: run.status, output: run.stdout + run.stderr, message: read('message'), log: read('log') ?? '', read }
}

t.test('other settings: the file is replaced, the agent restarted, and the log has what was there', async (t) => {
  const ran = onNode(t, { verb: ['install'], programs: { 'dpkg-query': INSTALLED }, files: { [SETTINGS]: 'spread: 1h\n' } })
  t.match(ran, { status: 0, message: 'kubelet-cfg-agent: 2 is installed already; it has new settings\n' }, ran.output)
  t.equal(ran.read(SETTINGS), 'trialDuration: 30m\n')
  t.match(ran.output, '< spread: 1h\n')
  t.match(ran.log, 'called systemctl try-restart kubelet-cfg-agent\n')
})

t.test('an attempt that was cut off before the restart is made good', async (t) => {
  const files = { [SETTINGS]: 'trialDuration: 30m\n' }
  const cutOff = onNode(t, { verb: ['install'], programs: { 'dpkg-query': INSTALLED, systemctl: 'exit 1' }, files: { [SETTINGS]: '' } })
  t.equal(cutOff.status, 1)
  t.equal(cutOff.read(SETTINGS), files[SETTINGS])
  const marker = `${CACHE}/to-restart`
  t.not(cutOff.read(marker), undefined)
  const next = onNode(t, { verb: ['install'], programs: { 'dpkg-query': INSTALLED }, files: { ...files, [marker]: '' } })
  t.match(next.log, 'called systemctl try-restart kubelet-cfg-agent\n')
  t.equal(next.read(marker), undefined)
})

t.test('the agent is asked with the settings that its service has as variables', async (t) => {
  const ran = onNode(t, {
    verb: ['install'],
    programs: { 'dpkg-query': INSTALLED, 'kubelet-cfg-agent': '[ "$KUBELET_CFG_AGENT_NODE_NAME" = n ]' },
    files: { 'etc/default/kubelet-cfg-agent': 'KUBELET_CFG_AGENT_NODE_NAME=n\n' },
  })
  t.equal(ran.status, 0, ran.output)
})

t.test('the agent is removed only where kubelet runs its local config, and starts with it next', async (t) => {
  for (const [active, nextStart, removes] of [
    ['local', 'local', true],
    ['none', 'local', true],
    ['none', 'configMap', false],
    ['local', 'configMap', false],
    ['configMap', 'configMap', false],
    ['unknown', 'unknown', false],
  ] as const) {
    const says = `echo '{ "active": { "kind": "${active}" }, "nextStart": { "kind": "${nextStart}" } }'`
    const ran = onNode(t, { verb: ['remove'], programs: { 'kubelet-cfg-agent': says } })
    t.equal(ran.status, removes ? 0 : 1, `${active}, ${nextStart}: ${ran.output}`)
    t.equal(ran.log.includes('apt-get'), removes, `${active}, ${nextStart}`)
  }
})

t.test('a package that apt refuses to touch, as it is there in part, is removed by dpkg', async (t) => {
  const ran = onNode(t, { verb: ['remove'], programs: { 'apt-get': 'exit 100' } })
  t.equal(ran.status, 0, ran.output)
  t.match(ran.log, 'called dpkg --purge --force-remove-reinstreq kubelet-cfg-agent\n')
})

t.test('a removal that was cut off after the package was gone is completed', async (t) => {
  const state = 'var/lib/kubelet-cfg-agent/history'
  const call = { verb: ['remove'], programs: { rpm: 'exit 1' }, system: 'fedora' }
  const cutOff = onNode(t, { ...call, files: { [state]: '', [`${CACHE}/to-remove`]: '' } })
  t.match(cutOff, { status: 0, message: 'kubelet-cfg-agent: it was removed. kubelet was not restarted\n' }, cutOff.output)
  for (const path of [state, CACHE]) t.equal(cutOff.read(path), undefined, path)
  const byHand = onNode(t, { ...call, files: { [state]: '' } })
  t.match(byHand.message, /is not installed, so there is nothing to remove\n$/)
  t.equal(byHand.read(state), '')
})

t.test('an rpm that is there twice, as an upgrade was cut off, is installed and removed as one', async (t) => {
  const rpm = 'case "$*" in *--queryformat*) echo 1-12-1 ;; esac'
  const calls = (verb: string) => onNode(t, { verb: [verb], programs: { rpm }, system: 'fedora' }).log
  // Without these, rpm says "is already installed" and "specifies multiple packages".
  t.match(calls('install'), 'called rpm --upgrade --oldpackage --replacepkgs ')
  t.match(calls('remove'), 'called rpm --erase --allmatches kubelet-cfg-agent\n')
})
