/** `rollout init`: makes the record, the rights and the policy of a config's rollout. */
import { EXIT, type ExitCode } from '../../cli/command.ts'
import { ROLLOUT_ANNOTATION } from '../../decision/channels.ts'
import { parsePlan, ROLLOUT_PLAN_ANNOTATION } from '../../rollout/plan.ts'
import { choiceKind } from '../../settings/setting-kinds.ts'
import type { PluginCommand, PluginContext, PluginLine } from '../command.ts'
import { checkConfigName, createObject, type FoundConfig, getConfig, patchConfig } from '../config-maps.ts'
import { DRY_RUN, demandConsent, YES } from '../consent.ts'
import { Misuse } from '../failure.ts'
import { CONFIG_NAME, textKind } from '../global-options.ts'
import { listRolloutObjects, type RolloutObject } from '../rollout-objects.ts'
import { recordOf } from '../rollout-state.ts'

export const rolloutInitCommand: PluginCommand = {
  name: 'rollout init',
  group: 'Roll out',
  summary: 'set up the rollout of a config: record, rights, policy',
  description:
    'Makes the record of the rollout, the Role and RoleBinding for the agents, the admission policy with its binding, and then ' +
    'names the record on the config. What exists already is left as it is. From then on, edits of the config go in stages.',
  arguments: [CONFIG_NAME],
  options: [
    { name: 'record', kind: textKind('<name>'), initial: '', help: 'name of the record, in place of NAME-rollout' },
    { name: 'plan', kind: textKind('<plan>'), initial: '', help: 'the plan, as in "waves: [5%, 100%], witnesses: 3"' },
    {
      name: 'agents',
      kind: choiceKind('nodes', 'serviceaccount'),
      initial: 'nodes',
      help: "the agents' identity: that of their nodes, or the ServiceAccount kubelet-cfg-agent in kube-system",
    },
    { ...DRY_RUN, help: 'print the objects as YAML, and change nothing' },
    YES,
  ],
  examples: [
    ['rollout init node-config', 'set a rollout up'],
    ['rollout init node-config --dry-run', 'look at the objects, or keep them in git'],
  ],
  execute: init,
}

async function init(context: PluginContext, line: PluginLine): Promise<ExitCode> {
  const { terminal, namespace } = context
  const { options, args } = line
  const [name = ''] = args
  const config = await getConfig(context, name)
  const record = options.record || recordOf(config) || `${name}-rollout`
  checkConfigName(record)
  if (record === name) throw new Misuse('the record cannot be the config itself: give --record another name')
  const plan = options.plan || config.annotations[ROLLOUT_PLAN_ANNOTATION]
  const parsed = parsePlan(plan)
  if (!parsed.ok) throw new Misuse(parsed.problem)
  const agents = options.agents === 'serviceaccount' ? 'serviceaccount' : 'nodes'
  const objects = listRolloutObjects({ namespace, config: name, record, agents })
  const annotations = { [ROLLOUT_ANNOTATION]: record, ...(plan !== undefined && { [ROLLOUT_PLAN_ANNOTATION]: plan }) }
  if (options['dry-run'] === 'true') {
    for (const { body } of objects) terminal.out(`---\n${await context.formatYaml(body)}`)
    terminal.out(`# And on ConfigMap ${namespace}/${name}:\n`)
    for (const [key, value] of Object.entries(annotations)) terminal.out(`#   ${key}: ${JSON.stringify(value)}\n`)
    return EXIT.fine
  }
  await demandConsent(context, line, `Make the record ${namespace}/${record} and its rights, and stage edits of ${name} from now on?`)
  for (const object of objects) await make(context, object)
  await annotate(context, config, annotations)
  terminal.out(`Edits of ${namespace}/${name} go in stages now. Label at least one Node that may fail first:\n`)
  terminal.out('  kubectl label node NODE kubelet-cfg-agent.io/canary=true\n')
  return EXIT.fine
}

async function make(context: PluginContext, { path, resource, namespace, body }: RolloutObject): Promise<void> {
  const { terminal } = context
  const what = `${body.kind} ${body.metadata.name}`
  switch (await createObject(context, path, body, { resource, namespace })) {
    case 'created':
      terminal.out(`Made ${what}.\n`)
      return
    case 'exists':
      terminal.out(`${what} exists already, and is left as it is.\n`)
      return
    case 'not-served':
      terminal.err(
        `Note: this API server has no ${body.kind}: it needs Kubernetes 1.30. Without it, a node can write whatever it wants into the record.\n`,
      )
  }
}

async function annotate(context: PluginContext, { name, resourceVersion }: FoundConfig, annotations: Readonly<Record<string, string>>) {
  await patchConfig(context, name, { metadata: { resourceVersion, annotations } })
}
