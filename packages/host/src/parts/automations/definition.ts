import { parseSchedule } from '@atrium/protocol/automation/schedule'
import { shortestInterval } from '@atrium/protocol/automation/cron'
import type {
  AutomationDefinition,
  AutomationDefinitionChanges,
  AutomationDisableCondition,
  AutomationTrigger,
} from '@atrium/protocol/automation/state'
import { decode, instant } from '@atrium/protocol/schema'
import { compact } from '@atrium/protocol/update'
import { agentsOf, chooseAgent } from '../agents/agents.ts'
import type { Core } from '../../kernel/core.ts'
import { creationProblem } from '../session/session.ts'
import { eventProblem } from './event-types.ts'
import { ownSettingsOf } from './own-settings.ts'

/** Returns what is wrong with a definition, whoever wants it. Undefined if it can be accepted. */
export function definitionProblem(core: Core, definition: AutomationDefinition): string | undefined {
  const { title, message, triggers, disableConditions = [] } = definition
  const { limits } = core
  if (title.trim() === '') return 'an automation needs a title'
  if (message.origin.kind !== 'automation')
    return 'the origin of the message of an automation is "automation"'
  if (message.text.trim() === '' && !message.attachments?.length)
    return 'the message of an automation is empty'
  if (JSON.stringify(definition).length > limits.automationLength)
    return `the definition of an automation has at most ${limits.automationLength} characters`
  const own = ownSettingsOf(definition)
  if (typeof own === 'string') return `_meta["x-atrium"]: ${own}`
  return (
    triggersProblem(core, triggers) ??
    conditionsProblem(disableConditions) ??
    templateProblem(core, definition)
  )
}

/** The definition as the host keeps it: the agent is named, so that a later default does not change the automation. */
export function accepted(core: Core, definition: AutomationDefinition): AutomationDefinition {
  const { session } = definition
  if (session.provider !== undefined || agentsOf(core).list.length === 0) return definition
  return { ...definition, session: { ...session, provider: chooseAgent(core, undefined).info.provider } }
}

/** The definition after a change. A list or an object that is given replaces the old one as a whole. */
export function changed(
  before: AutomationDefinition,
  changes: AutomationDefinitionChanges,
): AutomationDefinition {
  return compact<AutomationDefinition>({ ...before, ...compact<AutomationDefinitionChanges>(changes) })
}

function triggersProblem(core: Core, triggers: readonly AutomationTrigger[]): string | undefined {
  const ids = triggers.map(({ id }) => id)
  if (ids.some((id) => id.trim() === '')) return 'a trigger needs an id'
  if (new Set(ids).size < ids.length) return 'two triggers have the same id'
  for (const trigger of triggers) {
    const problem = trigger.kind === 'event' ? eventProblem(trigger) : scheduleProblem(core, trigger)
    if (problem !== undefined) return problem
  }
  return undefined
}

function scheduleProblem(
  { limits }: Core,
  { schedule, misfirePolicy = 'runOnce' }: Extract<AutomationTrigger, { kind: 'schedule' }>,
): string | undefined {
  if (misfirePolicy !== 'runOnce' && misfirePolicy !== 'skip')
    return `there is no misfire policy ${JSON.stringify(misfirePolicy.slice(0, 100))}: use "runOnce" or "skip"`
  const read = parseSchedule(schedule)
  if (!read.ok) return read.problem
  const minutes = shortestInterval(read.value.cron)
  return minutes < limits.automationMinutes
    ? `the schedule is due every ${minutes} min: ${limits.automationMinutes} min must lie between due instants`
    : undefined
}

function conditionsProblem(conditions: readonly AutomationDisableCondition[]): string | undefined {
  const kinds = conditions.map(({ kind }) => kind)
  if (new Set(kinds).size < kinds.length) return 'each kind of disable condition can be given once'
  for (const condition of conditions) {
    if (condition.kind !== 'afterDate') continue
    const read = decode(instant, condition.date)
    if (!read.ok) return `the date ${JSON.stringify(condition.date.slice(0, 100))}: ${read.problem}`
  }
  return undefined
}

/** The template is checked again when a run begins. */
function templateProblem(core: Core, { session }: AutomationDefinition): string | undefined {
  const { provider, customizations = [] } = session
  if (customizations.length > 0) return 'this host does not copy customizations of clients for automations'
  const agents = agentsOf(core).list
  const agent = agents.find(({ info }) => info.provider === provider)
  if (agent) return creationProblem(core, agent, session)
  if (provider === undefined && agents.length > 0) return undefined
  const names = agents.map(({ info }) => info.provider).join(', ')
  return `there is no agent ${JSON.stringify((provider ?? '').slice(0, 100))}; there are: ${names}`
}
