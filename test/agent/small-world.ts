// SPDX-License-Identifier: Apache-2.0
/**
 * One node to try the loop on: the real stores over a disk in memory, the real activation, the fake
 * unit, and a clock that a test moves. Chance, crashes and the API server are not here: test/sim
 * has those.
 */

import { Loop } from '../../src/agent/loop.ts'
import type { ObservationPorts } from '../../src/agent/observe.ts'
import type { EffectPorts } from '../../src/agent/perform.ts'
import { ContentRecognizer, type KnownAlike } from '../../src/agent/recognize-content.ts'
import { StatesFlag } from '../../src/agent/states-flag.ts'
import { FileCheckpoints } from '../../src/checkpoint/checkpoints.ts'
import { contentHash } from '../../src/checkpoint/content.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { FileRecords } from '../../src/checkpoint/records.ts'
import { SameContents } from '../../src/checkpoint/same-contents.ts'
import type { Desired } from '../../src/decision/desired.ts'
import type { RestartOutcome } from '../../src/decision/effects-of-answer.ts'
import type { SourceName, Transition } from '../../src/decision/records.ts'
import type { Exclusives, Policy, Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, Wait } from '../../src/decision/step.ts'
import type { Acceptance, PreflightResult } from '../../src/decision/verdict.ts'
import { SameConfigs } from '../../src/kubelet/same-config.ts'
import { VerifiedHealthProbe } from '../../src/kubelet/verified-health.ts'
import type { Activation } from '../../src/ports/activation.ts'
import type { AssignmentSource, RolloutPort } from '../../src/ports/assignment-source.ts'
import type { Preflight } from '../../src/ports/preflight.ts'
import type { HealthTarget, PortHolder, PortHolders, ServingPort } from '../../src/ports/probes.ts'
import type { ConfigMapData, ConfigSource } from '../../src/subject/config-source.ts'
import type { ActivationKind, KubeletCommand, ReadyWiring } from '../../src/subject/unit-state.ts'
import { FakeDisk, type FakeStep } from '../checkpoint/fake/fake-disk.ts'
import { faultsOver } from '../checkpoint/faults.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { dataOf, KUBELET, POLICY, SECOND_US, textOf } from '../decision/snapshots.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { FakeUnit, type KubeletBehaviour } from '../systemd/fake-unit.ts'
import { FakeEvidence } from './fake-evidence.ts'
import { MemoryRecords } from './memory-runtime.ts'
import { openSmallActivation, type SmallPlace, wiringFor } from './small-activation.ts'

const DIRECTORY = '/state'
const LAYOUT = layoutOf(DIRECTORY)
const LOCAL_PATH = '/var/lib/kubelet/config.yaml'
const PLACE: SmallPlace = {
  directory: DIRECTORY,
  runtimeDir: '/run/kubelet-cfg-agent',
  envFile: `${DIRECTORY}/kubelet.env`,
  localPath: LOCAL_PATH,
  dropIns: '/etc/kubelet.conf.d',
}
/** Of a node whose config file the agent replaces. */
export const LOCAL_TEXT = 'the local config'
const MOST_PASSES_BEFORE_A_WAIT = 40

export const WELL: KubeletBehaviour = { healthyAfterUs: 2 * SECOND_US }
export const CRASHES: KubeletBehaviour = { exitsAfterUs: 0.4 * SECOND_US }
export const NEVER_HEALTHY: KubeletBehaviour = {}

interface WorldOptions {
  readonly activation?: ActivationKind
  readonly restartUs?: number
  readonly restart?: 'always' | 'on-failure'
  readonly keepsQueued?: boolean
  readonly notify?: boolean
  readonly startLimit?: { readonly burst: number; readonly intervalUs: number }
  readonly nodeName?: string
}

export class SmallWorld {
  nowUs = 1000 * SECOND_US
  policy: Policy = { ...POLICY, spreadUs: 0 }
  desired: Desired = { kind: 'local' }
  /** In place of `desired`. */
  assignment: Pick<AssignmentSource, 'desired'> | undefined
  requests: Snapshot['requests'] = { hold: 'none', rollback: undefined, retry: false }
  kubeletIdentity = KUBELET
  /** The disk does not return kubelet's binary. */
  isKubeletUnread = false
  runtimeUp = true
  /** PID 1's lines can be read. */
  hasJournal = true
  /** Kubelet's process lives and answers nothing. */
  hangs = false
  /** Of each port of kubelet. */
  portHolder: PortHolder = { kind: 'own', inodes: ['1'] }
  /** The port that a stranger has. undefined: each port of kubelet. */
  strangersPort: number | undefined
  /** Of the config in a file. */
  healthPort: (path: string | undefined) => Partial<HealthTarget> = () => ({})
  /** Of the config in a file. */
  serving: (path: string | undefined) => Partial<ServingPort> = () => ({})
  /** As another process there answers. `nothing`: it does not listen. */
  strangerAnswers: boolean | 'nothing' = true
  /** Kubelet exits at its start, whatever it starts with. */
  nodeFault = false
  looksAtSystemd = 0
  healthProbes = 0
  drained: boolean | undefined
  exclusives: Exclusives | undefined = { kind: 'none' }
  basis = 'basis'
  /** Why this kubelet starts with no config, as preflight found out. */
  obstacle: (kubeletIdentity: string) => string | undefined = () => undefined
  readonly judging = new Set<string>()
  /** The last words of each process of kubelet. */
  lastWords: (invocationId: string) => string | undefined = () => undefined
  /** The processes that were asked for. */
  readonly heard: string[] = []
  preflight: (data: ConfigMapData) => PreflightResult = () => ({ kind: 'accepted', remarks: [], drain: [] })
  /** In place of `preflight`. */
  checks: Pick<Preflight, 'check' | 'pending'> | undefined
  kubeletCommand: KubeletCommand = { path: '/usr/bin/kubelet', words: [`--config=${LOCAL_PATH}`] }
  /** Replaces what systemd would answer. */
  systemctl: (() => RestartOutcome | undefined) | undefined
  /** Each step of the disk that it names fails. */
  diskFails: (step: FakeStep) => boolean = () => false

  readonly steps: Step[] = []
  readonly snapshots: Snapshot[] = []
  readonly history: Omit<Transition, 'atNs'>[] = []
  readonly restartsAskedAtUs: number[] = []
  readonly log = silentLog()
  readonly runtime = new MemoryRecords()
  #boots = 1
  /** The text of the config that kubelet was started with last. */
  startedWith: string | undefined
  readonly evidence = new FakeEvidence(() => this.nowUs)

  readonly disk: FakeDisk
  readonly checkpoints: FileCheckpoints
  readonly records: FileRecords
  readonly unit: FakeUnit
  readonly #files: DurableFiles
  readonly #recognizer: ContentRecognizer
  /** Has the knowledge of contents that are the same read from the disk again. */
  readonly #forgetAlike: () => void
  readonly #behaviours = new Map<string, KubeletBehaviour>()
  readonly #accepted = new Map<string, Acceptance>()
  #loop: Loop

  /** Follows the record of a rollout. */
  rollout: RolloutPort | undefined
  readonly #nodeName: string
  #wiring: ReadyWiring
  #activation: Activation

  constructor({ activation = 'env', restartUs, restart, keepsQueued, notify, startLimit, nodeName = 'node-1' }: WorldOptions = {}) {
    this.#nodeName = nodeName
    this.#wiring = wiringFor(activation, PLACE)
    this.disk = new FakeDisk(() => this.nowUs / 1000)
    this.disk.faultOf = (step) => (this.diskFails(step) ? 'ENOSPC' : undefined)
    this.#files = new DurableFiles(this.disk)
    this.#files.makeDirectory(DIRECTORY)
    this.disk.plant(LOCAL_PATH, LOCAL_TEXT)
    if (activation === 'drop-in') this.#files.makeDirectory(PLACE.dropIns)
    this.#activation = openSmallActivation({ files: this.#files, clock: this.#clock, log: this.log }, PLACE)
    const faults = faultsOver(() => this.nowUs, this.log)
    const openAlike = () => new SameContents({ files: this.#files, layout: LAYOUT, log: this.log, faults, runtimeDir: PLACE.runtimeDir })
    let known = openAlike()
    this.#forgetAlike = () => {
      known = openAlike()
    }
    const alike: KnownAlike & Pick<SameContents, 'keep'> = {
      of: (content) => known.of(content),
      add: (content, same) => known.add(content, same),
      write: () => known.write(),
      keep: () => known.keep(),
    }
    this.checkpoints = new FileCheckpoints(this.#files, LAYOUT, () => {}, faults, alike)
    const configs = new SameConfigs(IN_PLACE)
    const isSame = (a: string, b: string) => configs.isSame(a, b)
    this.#recognizer = new ContentRecognizer({ alike, checkpoints: this.checkpoints, hashOf: contentHash, isSameConfig: isSame })
    this.records = new FileRecords({ files: this.#files, layout: LAYOUT, log: this.log, onSetAside: () => {}, faults, run: this.runtime })
    this.unit = new FakeUnit(
      {
        startWith: () => this.#nextConfigPath(),
        behave: (path) => this.#behave(path),
        facts: () => ({
          wiring: this.#wiring,
          localConfigPath: LOCAL_PATH,
          runtimeEndpoint: 'unix:///run/runtime.sock',
          healthzFlags: {},
          kubeletIdentity: this.kubeletIdentity,
          ...(this.isKubeletUnread && { isKubeletUnread: true }),
          command: this.kubeletCommand,
        }),
        dynamicConfigDir: DIRECTORY,
        ...(restartUs === undefined ? {} : { restartUs }),
        ...(restart === undefined ? {} : { restart }),
        ...(keepsQueued === undefined ? {} : { keepsQueued }),
        ...(notify === undefined ? {} : { notify }),
        ...(startLimit === undefined ? {} : { startLimit }),
      },
      this.nowUs,
    )
    this.#loop = this.#startAgent()
  }

  want(source: ConfigSource, data: ConfigMapData = source === 'local' ? {} : dataOf(source)): void {
    if (source === 'local') {
      this.desired = { kind: 'local' }
      return
    }
    const { uid, resourceVersion, overlay: _, ...ref } = source
    this.desired = { kind: 'config-map', ref, object: { kind: 'found', uid, resourceVersion, data } }
  }

  editLocal(text: string): void {
    this.disk.plant(LOCAL_PATH, text)
  }

  /** How kubelet turns out on this source from its next start on. Without a word it is well. */
  behave(source: ConfigSource, behaviour: KubeletBehaviour): void {
    this.#behaviours.set(source === 'local' ? 'local' : textOf(source), behaviour)
  }

  /** The same for a text of one's own. */
  behaveWith(text: string, behaviour: KubeletBehaviour): void {
    this.#behaviours.set(text, behaviour)
  }

  record(name: SourceName): ConfigSource | undefined {
    const state = this.records.read(name)
    return state.kind === 'source' ? state.source : undefined
  }

  /** The file that decides what kubelet starts with next. */
  get placePath(): string {
    return this.#wiring.path
  }

  /** The text of the config that kubelet runs. */
  async running(): Promise<string | undefined> {
    const state = await this.unit.observe()
    if (state.kind === 'unknown' || state.process.kind === 'none' || state.process.kind === 'unknown') return undefined
    if (this.#wiring.configFlagIsFixed) return this.startedWith
    if (state.process.kind === 'other') return 'local'
    return this.#read(this.checkpoints.path({ ...state.process, kubeletConfigKey: state.process.key }))
  }

  /** The files in /run are lost. The agent must be restarted after this. */
  forgetRun(): void {
    this.runtime.clear()
    this.#files.removeTree(PLACE.runtimeDir)
  }

  restartAgent(): void {
    this.evidence.startAnew()
    this.#accepted.clear()
    this.#forgetAlike()
    this.#activation = openSmallActivation({ files: this.#files, clock: this.#clock, log: this.log }, PLACE)
    this.#loop = this.#startAgent()
  }

  /** The operator selects another kind of activation, and the agent starts again. */
  changeActivation(kind: ActivationKind): void {
    this.#wiring = wiringFor(kind, PLACE)
    this.restartAgent()
  }

  /** State that ends with a boot is lost. */
  reboot(): void {
    this.#boots += 1
    this.forgetRun()
    this.unit.boot(this.nowUs)
    this.restartAgent()
  }

  async pass(): Promise<Step> {
    return this.#loop.pass()
  }

  /** Passes until it has taken this step. */
  async until(kind: Step['kind']): Promise<void> {
    for (let pass = 0; pass < MOST_PASSES_BEFORE_A_WAIT; pass += 1) if ((await this.pass()).kind === kind) return
    throw new Error(`no ${kind} within ${MOST_PASSES_BEFORE_A_WAIT} passes`)
  }

  /**
   * Passes until the agent waits. A step that is decided again and again, and a wait that is over
   * before it began, show here.
   */
  async settle(): Promise<Wait> {
    for (let pass = 0; pass < MOST_PASSES_BEFORE_A_WAIT; pass += 1) {
      const step = await this.pass()
      if (step.kind !== 'wait') continue
      if (step.untilUs <= this.nowUs) throw new Error(`waits for a time that is over: ${step.phase}, ${step.detail}`)
      return step
    }
    const last = this.steps.slice(-6).map(({ kind }) => kind)
    throw new Error(`no wait within ${MOST_PASSES_BEFORE_A_WAIT} passes; the last steps: ${last.join(', ')}`)
  }

  async run(us: number): Promise<Wait> {
    const endUs = this.nowUs + us
    for (;;) {
      const wait = await this.settle()
      if (this.nowUs >= endUs) return wait
      this.advance(Math.min(wait.untilUs, endUs) - this.nowUs)
    }
  }

  /** Time passes, and nobody looks. */
  advance(us: number): void {
    this.nowUs += us
    this.unit.advanceTo(this.nowUs)
  }

  observationPorts(): ObservationPorts {
    return {
      nodeName: this.#nodeName,
      policy: () => this.policy,
      clock: this.#clock,
      assignment: { desired: (readLocal) => this.assignment?.desired(readLocal) ?? this.desired },
      checkpoints: this.checkpoints,
      records: this.records,
      requests: { read: () => this.requests },
      unit: {
        observe: async () => {
          this.looksAtSystemd += 1
          return this.unit.observe()
        },
        stillRuns: (seen) => this.unit.stillRuns(seen),
      },
      activation: this.#activation,
      configFacts: {
        of: async ({ path }) => ({
          healthz: { host: '127.0.0.1', port: 10248, ...this.healthPort(path) },
          runtimeEndpoint: undefined,
          serving: { host: '0.0.0.0', port: 10250, ...this.serving(path) },
        }),
      },
      probe: new VerifiedHealthProbe(
        {
          healthz: async (target) => {
            this.healthProbes += 1
            const isTaken = this.#holderOf(target).kind === 'stranger'
            if (isTaken && this.strangerAnswers !== 'nothing') return { ok: this.strangerAnswers, detail: 'as it likes' }
            const ok = this.unit.healthy && !this.hangs && !isTaken
            return ok ? { ok, detail: 'ok' } : { ok, detail: 'connection refused', unreached: 'refused' }
          },
        },
        this.#portHolders,
        this.#clock,
      ),
      portHolders: this.#portHolders,
      runtimeProbe: { isUp: async () => this.runtimeUp },
      contentOf: this.#recognizer.contentOf.bind(this.#recognizer),
      recognize: this.#recognizer.recognize.bind(this.#recognizer),
      defaultRuntimeSocket: () => undefined,
      accepted: this.#accepted,
      preflight: this.#preflight,
      drain: { isDrained: () => this.drained, findExclusives: () => this.exclusives },
      jobs: { dependencyFailedUs: async () => (this.hasJournal ? this.unit.dependencyFailedUs : undefined) },
      lastWords: {
        of: async (invocationId) => {
          this.heard.push(invocationId)
          return this.lastWords(invocationId)
        },
      },
      evidence: this.evidence,
      ...(this.rollout && { rollout: this.rollout }),
    }
  }

  effectPorts(): EffectPorts {
    return {
      clock: this.#clock,
      checkpoints: this.checkpoints,
      records: this.records,
      requests: {
        done: (request) => {
          this.requests = { ...this.requests, [request]: request === 'retry' ? false : undefined }
        },
      },
      unit: {
        restart: async (activity) => {
          this.restartsAskedAtUs.push(this.nowUs)
          return this.systemctl === undefined ? this.unit.restart(activity) : this.systemctl()
        },
      },
      activation: this.#activation,
      preflight: this.#preflight,
      history: { append: (line) => void this.history.push(line) },
      log: this.log,
      accepted: this.#accepted,
      statesFlag: new StatesFlag({
        ...{ files: this.#files, checkpoints: this.checkpoints, activation: this.#activation, dynamicConfigDir: DIRECTORY },
      }),
    }
  }

  readonly #preflight: Preflight = {
    check: async (candidate) => this.checks?.check(candidate) ?? this.preflight(candidate.data),
    pending: () => this.checks?.pending() ?? this.judging,
    basis: () => this.basis,
    obstacle: (kubeletIdentity) => this.obstacle(kubeletIdentity),
  }

  #holderOf({ port }: HealthTarget): PortHolder {
    return (this.strangersPort ?? port) === port ? this.portHolder : { kind: 'own', inodes: ['1'] }
  }

  readonly #portHolders: PortHolders = {
    holderOf: (target) => this.#holderOf(target),
    keeperOf: async (target) => this.#holderOf(target),
  }

  readonly #clock = { now: () => ({ bootId: `boot-${this.#boots}`, monotonicUs: this.nowUs, wallMs: this.nowUs / 1000 }) }

  #startAgent(): Loop {
    const observer = {
      decided: (snapshot: Snapshot, step: Step) => {
        // Acceptances are a live cache.
        this.snapshots.push({ ...snapshot, accepted: new Map(snapshot.accepted) })
        this.steps.push(step)
      },
    }
    return new Loop({ observation: this.observationPorts(), effects: this.effectPorts(), observer, log: this.log })
  }

  #nextConfigPath(): string {
    return /--config=(\S+?)["']?$/m.exec(this.#read(PLACE.envFile) ?? '')?.[1] ?? LOCAL_PATH
  }

  #behave(path: string | undefined): KubeletBehaviour {
    const text = path === LOCAL_PATH ? this.#textInPlace() : this.#read(path ?? '')
    this.startedWith = text
    if (!this.runtimeUp || this.nodeFault) return CRASHES
    return text === undefined ? CRASHES : (this.#behaviours.get(text) ?? WELL)
  }

  /** Of a kubelet whose `--config` is the local file, whatever is in its place. */
  #textInPlace(): string {
    if (this.#wiring.activation === 'env') return 'local'
    const text = this.#read(this.#wiring.path)
    return text === undefined || text === LOCAL_TEXT ? 'local' : text
  }

  /** As systemd and kubelet do: what the disk does not return is meant for the agent. */
  #read(path: string): string | undefined {
    const { readFaultOf } = this.disk
    this.disk.readFaultOf = undefined
    try {
      return this.#files.read(path)?.toString()
    } finally {
      this.disk.readFaultOf = readFaultOf
    }
  }
}
