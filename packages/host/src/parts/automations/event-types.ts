import type { AutomationTriggerDefinition } from '@atrium/protocol/automation/commands'
import type { AutomationEventTrigger } from '@atrium/protocol/automation/state'
import type { ConfigSchema } from '@atrium/protocol/common/config'
import { decode, object, optional, positive, string } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const eventConfig = {
  /** Only sessions that work in this folder, or below it. */
  folder: optional(string),
  provider: optional(string),
  /** Only sessions whose title contains this text. */
  title: optional(string),
  minutes: optional(positive),
}
/** The config of a trigger by events. */
export interface EventConfig extends Infer<typeof eventConfig> {}
const EventConfig = object<EventConfig>('AtriumAutomationEventConfig', eventConfig)

const filters: ConfigSchema['properties'] = {
  folder: { type: 'string', title: 'Folder', description: 'Only sessions in this folder: a file: URI.' },
  provider: {
    type: 'string',
    title: 'Agent',
    description: 'Only sessions of the agent with this provider id.',
  },
  title: { type: 'string', title: 'Title', description: 'Only sessions whose title contains this text.' },
}

const timed = (description: string): ConfigSchema => ({
  type: 'object',
  properties: {
    ...filters,
    minutes: { type: 'number', title: 'Minutes', description, default: defaultMinutes },
  },
})

export const defaultMinutes = 10

/** What a trigger can wait for. All of it can be read off the log. */
export const eventTypes: readonly AutomationTriggerDefinition[] = [
  {
    type: 'turnEnded',
    title: 'A turn ended',
    description: 'An agent has ended a turn in another session.',
    events: [
      { id: 'complete', title: 'Completed' },
      { id: 'error', title: 'Failed' },
      { id: 'cancelled', title: 'Cancelled' },
    ],
    configSchema: { type: 'object', properties: filters },
  },
  {
    type: 'needsSomebody',
    title: 'A session needs somebody',
    description: 'A session has waited for an answer for some time.',
    events: [{ id: 'waiting', title: 'Waits for an answer' }],
    configSchema: timed('How long the session has waited.'),
  },
  {
    type: 'agentSilent',
    title: 'An agent is silent',
    description: 'An agent at work has shown nothing for some time.',
    events: [{ id: 'silent', title: 'Shows nothing' }],
    configSchema: timed('How long the agent has shown nothing.'),
  },
  {
    type: 'sessionIdle',
    title: 'A session is idle',
    description: 'The last turn of a session ended some time ago.',
    events: [{ id: 'idle', title: 'Is idle' }],
    configSchema: timed('How long the session has been idle.'),
  },
]

/** Returns what is wrong with a trigger by events. */
export function eventProblem({ type, events, config }: AutomationEventTrigger): string | undefined {
  const known = eventTypes.find((each) => each.type === type)
  if (!known)
    return `there is no event type ${JSON.stringify(type.slice(0, 100))}; there are: ${eventTypes.map((each) => each.type).join(', ')}`
  if (events.length === 0) return `a trigger of the type ${type} needs an event`
  const unknown = events.find(({ id }) => !known.events.some((each) => each.id === id))
  if (unknown)
    return `${type} has no event ${JSON.stringify(unknown.id.slice(0, 100))}; it has: ${known.events.map(({ id }) => id).join(', ')}`
  const read = decode(EventConfig, config ?? {})
  return read.ok ? undefined : `the config of ${type}: ${read.problem}`
}

/** The config of an accepted trigger. */
export function configOf({ config }: AutomationEventTrigger): EventConfig {
  const read = decode(EventConfig, config ?? {})
  return read.ok ? read.value : {}
}

/** A trigger with the texts of this host. */
export function normalized(trigger: AutomationEventTrigger): AutomationEventTrigger {
  const known = eventTypes.find((each) => each.type === trigger.type)
  if (!known) return trigger
  const events = trigger.events.map((event) => known.events.find(({ id }) => id === event.id) ?? event)
  const { title, description } = known
  return { ...trigger, title, ...(description !== undefined && { description }), events }
}
