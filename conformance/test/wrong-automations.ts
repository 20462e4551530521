import type {
  AutomationDefinition,
  AutomationEntry,
  AutomationRunState,
  AutomationState,
} from '@atrium/protocol/automation/state'
import { parseSchedule } from '@atrium/protocol/automation/schedule'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { automationsUri } from '@atrium/protocol/uri'
import { actionOf } from '../src/kit/action.ts'
import type { WrongLog } from './wrong-log.ts'

type ClientAction = Action & {
  readonly resource?: Uri
  readonly definition?: AutomationDefinition
  readonly changes?: Partial<AutomationDefinition>
}

/** Responds to a request of a client: with the automation as it is now. */
export function afterAutomationAction(host: WrongLog, action: ClientAction): void {
  const { type, resource = '', definition, changes } = action
  const before = entriesOf(host).find((entry) => entry.resource === resource)
  const at = new Date().toISOString()
  if (type === 'automation/createRequested' && definition && !host.has('automationNotSet'))
    set(host, { resource, definition, runs: [], operations: [], createdAt: at, modifiedAt: at })
  if (type === 'automation/updateRequested' && before) {
    const rest = host.has('updateReplacesAll') ? { triggers: [] } : {}
    set(host, { ...before, definition: { ...before.definition, ...rest, ...changes } })
  }
}

/** The reason to reject a request of a client. */
export function automationRejection(host: WrongLog, { definition }: ClientAction): string | undefined {
  if (host.has('anyScheduleAccepted')) return undefined
  for (const trigger of definition?.triggers ?? []) {
    const read = trigger.kind === 'schedule' ? parseSchedule(trigger.schedule) : undefined
    if (read && !read.ok) return read.problem
  }
  return undefined
}

export function runAutomation(host: WrongLog, params: Params<'runAutomation'>): object {
  const { automation, requestId } = params
  const entry = entriesOf(host).find(({ resource }) => resource === automation)
  if (!entry && !host.has('unknownAutomationRun')) throw AhpError.notFound(automation)
  const number = host.has('requestRunsTwice') ? `-${++host.seq}` : ''
  const resource = `ahp-automation-run:/${requestId}${number}`
  if (host.channels.has(resource)) return { resource }
  const at = new Date().toISOString()
  const lifecycle = { status: 'completed', createdAt: at, startedAt: at, completedAt: at } as const
  const run: AutomationRunState = {
    resource,
    automation,
    origin: { kind: 'manual' },
    lifecycle,
    sessions: [],
  }
  if (!host.has('runWithoutChannel')) host.channels.set(resource, { kind: 'automationRun', state: run })
  const { sessions, ...summary } = run
  if (entry) set(host, { ...entry, runs: [{ ...summary, sessionCount: sessions.length }, ...entry.runs] })
  return { resource }
}

export function fetchAutomationRuns(host: WrongLog, { automation }: Params<'fetchAutomationRuns'>): object {
  if (entriesOf(host).some(({ resource }) => resource === automation)) return {}
  throw AhpError.notFound(automation)
}

function set(host: WrongLog, automation: AutomationEntry): void {
  host.append(automationsUri, actionOf('automation/set', { automation }))
}

function entriesOf(host: WrongLog): readonly AutomationEntry[] {
  return (host.channels.get(automationsUri)?.state as AutomationState | undefined)?.entries ?? []
}
