// SPDX-License-Identifier: Apache-2.0
/**
 * The metrics, in registries of their own: upstream's four gauges under their old names (Kubernetes
 * 1.20 `pkg/kubelet/metrics`), and the agent's. The only module that imports prom-client; import it
 * only if metrics are switched on. Does not use prom-client's default metrics: their event-loop
 * monitor costs more CPU than the agent.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { sourcePath } from '../decision/status-texts.ts'
import { FAILURE_REASONS, REASONS } from '../decision/verdict.ts'
import { ROLLOUT_WRITE_KINDS } from '../rollout/view.ts'
import type { ConfigSource } from '../subject/config-source.ts'
import type { Counters } from './counters.ts'
import { CONDITION_TYPE, type Condition, DEGRADED_TYPE, describeDegraded } from './reasons.ts'
import type { ConfigStatus } from './status.ts'
import type { RolloutReport, TrialReport } from './trial-report.ts'

const SOURCE_LABELS = ['node_config_source', 'node_config_uid', 'node_config_resource_version', 'node_config_kubelet_key'] as const
type SourceGauge = Gauge<(typeof SOURCE_LABELS)[number]>

const ROLLBACK_REASONS = FAILURE_REASONS.filter((reason) => REASONS[reason].foundBy !== 'preflight')
/** From a change without any wait to one that waits for the spread in a slow cluster. */
const APPLY_BUCKETS_S = [0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800]
/** From the agent's own rules to a sandboxed kubelet on a slow node, which ends after a minute. */
const PREFLIGHT_BUCKETS_S = [0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120]
/** From a trial of the tests to one that does not come to an end. The default is 600. */
const TRIAL_BUCKETS_S = [60, 300, 600, 660, 900, 1800, 3600, 7200, 14_400]
/** Each config has one rollout, and a node follows that of its own config: one series each. */
const ROLLOUT_LABELS = ['config'] as const

export class Metrics {
  readonly #registry = new Registry()
  readonly #processRegistry = new Registry()
  readonly #assigned = this.#sourceGauge(
    'kubelet_node_config_assigned',
    "The node's understanding of intended config. The count is always 1.",
  )
  readonly #active = this.#sourceGauge('kubelet_node_config_active', 'The config source the node is actively using. The count is always 1.')
  readonly #lastKnownGood = this.#sourceGauge(
    'kubelet_node_config_last_known_good',
    'The config source the node will fall back to when it encounters certain errors. The count is always 1.',
  )
  readonly #error = this.#gauge(
    'kubelet_node_config_error',
    'This metric is true (1) if the node is experiencing a configuration-related error, false (0) otherwise.',
  )
  readonly #applyTime = new Histogram({
    name: 'kubelet_cfg_agent_apply_duration_seconds',
    help: 'Time from first seeing a config until kubelet is healthy with it.',
    buckets: APPLY_BUCKETS_S,
    registers: [this.#registry],
  })
  readonly #trialTime = new Histogram({
    name: 'kubelet_cfg_agent_trial_duration_seconds',
    help: 'Time from the start of kubelet with a config on trial until that config is last-known-good.',
    buckets: TRIAL_BUCKETS_S,
    registers: [this.#registry],
  })
  readonly #preflightTime = new Histogram({
    name: 'kubelet_cfg_agent_preflight_duration_seconds',
    help: 'Time that the checks of a config before a restart took, whatever their result.',
    buckets: PREFLIGHT_BUCKETS_S,
    registers: [this.#registry],
  })
  readonly #condition = new Gauge({
    name: 'kubelet_cfg_agent_condition',
    help: 'The conditions of the Node as this agent sees them, by type, status and reason. The value is always 1.',
    labelNames: ['type', 'status', 'reason'],
    registers: [this.#registry],
  })
  readonly #differences = this.#gauge(
    'kubelet_cfg_agent_config_differences',
    "Fields in which the running kubelet's config differs from its config file; 0 also while the two have not been compared.",
  )
  readonly #restarts = this.#counter('kubelet_cfg_agent_kubelet_restarts_total', 'Restarts of kubelet that the agent requested.')
  readonly #rollbacks = new Counter({
    name: 'kubelet_cfg_agent_rollbacks_total',
    help: 'Configs rolled back because kubelet failed with them or an operator requested it, by reason.',
    labelNames: ['reason'],
    registers: [this.#registry],
  })
  readonly #rejected = this.#counter('kubelet_cfg_agent_rejected_configs_total', 'Configs refused before a restart.')
  readonly #reconnects = this.#counter('kubelet_cfg_agent_watch_reconnects_total', 'Watches of the API server that had to be reopened.')
  readonly #lastSync = this.#gauge(
    'kubelet_cfg_agent_last_successful_sync_timestamp_seconds',
    'When the assignment was last read from its source, in seconds since 1970; 0 if never.',
  )
  readonly #trialRemaining = this.#gauge(
    'kubelet_cfg_agent_trial_remaining_seconds',
    'Time until the config on trial becomes last-known-good; 0 if none is on trial.',
  )
  readonly #evidence = new Gauge({
    name: 'kubelet_cfg_agent_trial_evidence',
    help: 'What is known of the config on trial, by kind of evidence: yes, no or unknown. The value is always 1.',
    labelNames: ['kind', 'answer'],
    registers: [this.#registry],
  })

  readonly #rolloutWrites = new Counter({
    name: 'kubelet_cfg_agent_rollout_writes_total',
    help: 'Writes of this node to the record of a rollout, by kind: begin, claim, proof, veto or advance.',
    labelNames: ['kind'],
    registers: [this.#registry],
  })
  readonly #rolloutTurn = new Gauge({
    name: 'kubelet_cfg_agent_rollout_turn',
    help: 'The turn of this node in the rollout of what is assigned: go, wait, halted or failed. The value is always 1.',
    labelNames: ['config', 'turn'],
    registers: [this.#registry],
  })
  readonly #rolloutStage = this.#rolloutGauge('kubelet_cfg_agent_rollout_stage', 'The stage of the rollout that this node saw last.')
  readonly #rolloutLastStage = this.#rolloutGauge(
    'kubelet_cfg_agent_rollout_last_stage',
    'The stage in which the rollout is finished, by its plan.',
  )
  readonly #rolloutProofs = this.#rolloutGauge(
    'kubelet_cfg_agent_rollout_proofs',
    'Proofs of the stage of the rollout that this node saw last.',
  )
  readonly #rolloutConflicts = this.#counter(
    'kubelet_cfg_agent_rollout_conflicts_total',
    'Writes to the record of a rollout that the API server refused with a conflict, since another node wrote first.',
  )

  readonly counters: Counters = {
    applied: (seconds) => this.#applyTime.observe(seconds),
    trialPassed: (seconds) => this.#trialTime.observe(seconds),
    checked: (seconds) => this.#preflightTime.observe(seconds),
    compared: (differences) => this.#differences.set(differences),
    restarted: () => this.#restarts.inc(),
    rolledBack: (reason) => this.#rollbacks.inc({ reason }),
    rejected: () => this.#rejected.inc(),
    watchReconnected: () => this.#reconnects.inc(),
    synced: (wallMs) => this.#lastSync.set(wallMs / 1000),
    rolloutWrote: (kind) => this.#rolloutWrites.inc({ kind }),
    rolloutConflicted: () => this.#rolloutConflicts.inc(),
  }

  constructor(build: { readonly version: string }) {
    // Prometheus sees no increase to the first value of a series.
    for (const reason of ROLLBACK_REASONS) this.#rollbacks.inc({ reason }, 0)
    for (const kind of ROLLOUT_WRITE_KINDS) this.#rolloutWrites.inc({ kind }, 0)
    const info = new Gauge({
      name: 'kubelet_cfg_agent_build_info',
      help: 'The version of the agent and of its Node.js. The count is always 1.',
      labelNames: ['version', 'nodejs_version'],
      registers: [this.#registry],
    })
    info.set({ version: build.version, nodejs_version: process.versions.node }, 1)
    addProcessMetrics(this.#processRegistry)
  }

  /**
   * Called after each pass of the loop. Unknown fields of the status keep their series, and so does
   * a condition that is not known yet.
   */
  report(status: ConfigStatus, trial: TrialReport, condition?: Condition): void {
    replaceSource(this.#assigned, status.assigned)
    replaceSource(this.#active, status.active)
    replaceSource(this.#lastKnownGood, status.lastKnownGood)
    this.#error.set(status.error === '' ? 0 : 1)
    this.#trialRemaining.set(trial.remainingSeconds)
    this.#evidence.reset()
    for (const [kind, answer] of Object.entries(trial.evidence)) this.#evidence.set({ kind, answer }, 1)
    this.#reportRollout(trial.rollout)
    if (condition !== undefined) this.reportCondition(condition)
  }

  reportCondition(ready: Condition): void {
    this.#condition.reset()
    const degraded = describeDegraded(ready)
    this.#condition.set({ type: CONDITION_TYPE, status: ready.status, reason: ready.reason }, 1)
    this.#condition.set({ type: DEGRADED_TYPE, status: degraded.status, reason: degraded.reason }, 1)
  }

  #reportRollout(rollout: RolloutReport | undefined): void {
    for (const gauge of [this.#rolloutTurn, this.#rolloutStage, this.#rolloutLastStage, this.#rolloutProofs]) gauge.reset()
    if (rollout === undefined) return
    const { config, turn, progress } = rollout
    this.#rolloutTurn.set({ config, turn }, 1)
    if (progress === undefined) return
    this.#rolloutStage.set({ config }, progress.stage)
    this.#rolloutLastStage.set({ config }, progress.lastStage)
    this.#rolloutProofs.set({ config }, progress.proofs)
  }

  /** The exposition in Prometheus' text format. */
  async render(): Promise<{ readonly contentType: string; readonly body: string }> {
    const parts = [await this.#registry.metrics(), await this.#processRegistry.metrics()]
    return { contentType: this.#registry.contentType, body: parts.join('\n') }
  }

  /** The same without the metrics of the process, for a program that has those of its own. */
  async renderOwn(): Promise<string> {
    return this.#registry.metrics()
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.#registry] })
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.#registry] })
  }

  #rolloutGauge(name: string, help: string): Gauge<(typeof ROLLOUT_LABELS)[number]> {
    return new Gauge({ name, help, labelNames: ROLLOUT_LABELS, registers: [this.#registry] })
  }

  #sourceGauge(name: string, help: string): SourceGauge {
    return new Gauge({ name, help, labelNames: SOURCE_LABELS, registers: [this.#registry] })
  }
}

/** Replaces the series of the previous source. */
function replaceSource(gauge: SourceGauge, source: ConfigSource | undefined): void {
  if (source === undefined) return
  const version = source === 'local' ? { uid: '', resourceVersion: '', kubeletConfigKey: '' } : source
  gauge.reset()
  gauge.set(
    {
      node_config_source: sourcePath(source),
      node_config_uid: version.uid,
      node_config_resource_version: version.resourceVersion,
      node_config_kubelet_key: version.kubeletConfigKey,
    },
    1,
  )
}

/** The usual process metrics; read only when they are scraped. */
function addProcessMetrics(registry: Registry): void {
  const registers = [registry]
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  const start = new Gauge({ name: 'process_start_time_seconds', help: 'Start time of the process since unix epoch in seconds.', registers })
  start.set(performance.timeOrigin / 1000)
}
