// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../../src/checkpoint/files.ts'
import { readDropIns } from '../../../src/preflight/drop-ins/read-drop-ins.ts'
import { FakeDisk } from '../../checkpoint/fake/fake-disk.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const DIRECTORY = '/etc/kubernetes/kubelet.conf.d'

function read(files: Readonly<Record<string, string>>, directory = DIRECTORY) {
  const disk = new FakeDisk(() => 0)
  for (const [name, text] of Object.entries(files)) disk.plant(`${DIRECTORY}/${name}`, text)
  return readDropIns(directory, new DurableFiles(disk), IN_PLACE)
}

t.test('reads the files that end in .conf, in the order of their names, also in directories below', async (t) => {
  const reading = await read({
    '20-b.conf': `${HEAD}maxPods: 20\n`,
    '10-a.conf': `${HEAD}maxPods: 10\n`,
    '15-sub/90.conf': `${HEAD}maxPods: 15\n`,
    '30.yaml': 'not read',
    '40.conf.bak': 'not read',
    '50.conf': '{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "maxPods": null, "unknown": 1}',
  })
  t.match(reading, { kind: 'read' })
  if (reading.kind !== 'read') return
  t.strictSame(
    reading.dropIns.map(({ path, config }) => [path.slice(DIRECTORY.length + 1), config.maxPods]),
    [
      ['10-a.conf', 10],
      ['15-sub/90.conf', 15],
      ['20-b.conf', 20],
      ['50.conf', null],
    ],
  )
  t.notOk(Object.hasOwn(reading.dropIns.at(-1)?.config ?? {}, 'unknown'), 'kubelet ignores fields that it does not know')
})

t.test('keeps keys that differ from a field only in upper and lower case', async (t) => {
  const reading = await read({ '10-a.conf': `${HEAD}maxpods: 10\n` })
  t.match(reading, { dropIns: [{ config: {}, otherCase: [{ path: ['maxpods'], field: 'maxPods' }] }] })
})

t.test('a file that kubelet would not load makes all of them unusable', async (t) => {
  const faults: [text: string, detail: RegExp][] = [
    ['', /empty/],
    ['maxPods: 20\n', /kind must be KubeletConfiguration/],
    [`${HEAD}maxPods: many\n`, /maxPods must be/],
    [`${HEAD}  maxPods: [\n`, /./],
    ['apiVersion: v1\nkind: ConfigMap\n', /kind must be/],
    [`${HEAD}maxPods: 5\nmaxPods: 6\n`, /^maxPods is there twice/],
    ['{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","maxPods":5,"maxPods":6}', /^repeated key maxPods/],
    [`${HEAD}maxPods: !!int 5\n`, /^kubelet may read a tag differently/],
  ]
  for (const [text, detail] of faults)
    t.match(await read({ '10.conf': `${HEAD}maxPods: 5\n`, '20.conf': text }), { kind: 'unusable', path: `${DIRECTORY}/20.conf`, detail })
})

t.test('a file that cannot be read, or a directory that is missing, makes all of them unusable', async (t) => {
  const disk = new FakeDisk(() => 0)
  disk.plant(`${DIRECTORY}/10.conf`, `${HEAD}maxPods: 5\n`)
  const files = new DurableFiles(disk)
  const unreadable = {
    list: (path: string) => files.list(path),
    stat: (path: string) => files.stat(path),
    read: () => {
      throw new Error('cannot read it: EIO')
    },
  }
  t.match(await readDropIns(DIRECTORY, unreadable, IN_PLACE), { kind: 'unusable', path: `${DIRECTORY}/10.conf`, detail: /EIO/ })
  t.match(await read({}, '/nowhere'), { kind: 'unusable', path: '/nowhere', detail: 'it does not exist' })
})

t.test('a relative directory is below the root, where systemd starts a service', async (t) => {
  t.match(await read({ '10.conf': `${HEAD}maxPods: 5\n` }, DIRECTORY.slice(1)), {
    kind: 'read',
    dropIns: [{ path: `${DIRECTORY}/10.conf` }],
  })
})
