import t from 'tap'
import type { ReadyWiring } from '../../src/decision/unit-state.ts'
import { UnitActivation } from '../../src/systemd/activation.ts'
import { ACTIVATION_KINDS } from '../../src/systemd/activation-kinds.ts'
import { dropInWiring } from '../../src/systemd/drop-in-wiring.ts'
import { envWiring } from '../../src/systemd/env-wiring.ts'
import { fileWiring } from '../../src/systemd/file-wiring.ts'
import { A, type ActivationWorld, activationContract, B } from './activation-contract.ts'
import { CONFIG, DIRECTORY, worldWith } from './disk.ts'

const ENV_FILE = `${DIRECTORY}/kubelet.env`
const DROP_INS = '/etc/kubelet.d'

function open(wiring: ReadyWiring): ActivationWorld {
  const { files, disk, clock, time } = worldWith(A, B)
  disk.plant(`${DROP_INS}/README`, '')
  const parts = { files, clock, dynamicConfigDir: DIRECTORY, envFile: ENV_FILE, runtimeDir: '/run/kubelet-cfg-agent' }
  const start = () => new UnitActivation({ ...parts, ownership: { give: () => {} } })
  const text = (path: string) => files.read(path)?.toString()
  const configFlag = () => /--config=([^"]+)"/.exec(text(ENV_FILE) ?? '')?.[1] ?? CONFIG
  return {
    wiring,
    disk,
    files,
    start,
    activation: start(),
    configFlag,
    configText: () => (wiring.laysOverLocal ? text(wiring.path) : undefined) ?? text(configFlag()),
    pause: () => {
      time.wallMs += 60_000
    },
    time,
  }
}

const WIRINGS = { env: envWiring(ENV_FILE, `--config=${CONFIG}`), file: fileWiring(CONFIG), 'drop-in': dropInWiring(DROP_INS) }
const FEWEST_CRASH_POINTS = { env: 2, file: 4, 'drop-in': 4 }

for (const kind of ACTIVATION_KINDS) {
  t.test(kind, async (t) => activationContract(t, () => open(WIRINGS[kind]), FEWEST_CRASH_POINTS[kind]))
}

t.test('each wiring has the name of its kind', async (t) => {
  for (const kind of ACTIVATION_KINDS) t.equal(WIRINGS[kind].activation, kind)
})

t.test('an unreadable file makes the state unknown', async (t) => {
  for (const kind of ACTIVATION_KINDS) {
    const { activation, wiring, disk } = open(WIRINGS[kind])
    disk.readFaultOf = (path) => (path === wiring.path ? 'EIO' : undefined)
    t.match(activation.read(wiring), { kind: 'unknown', detail: wiring.path })
  }
})
