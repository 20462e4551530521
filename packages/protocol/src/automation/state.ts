import { AgentSelection, Message, ModelSelection } from '../chat/message.ts'
import { ErrorInfo, UsageInfo, meta } from '../common/content.ts'
import {
  array,
  bag,
  boolean,
  id,
  is,
  json,
  natural,
  object,
  openEnum,
  optional,
  string,
  variant,
} from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'
import { ClientPluginCustomization, PluginCustomization } from '../session/customization.ts'

const schedule = { expression: string, timeZone: string }
/** Five cron fields in a named time zone. */
export interface CronSchedule extends Infer<typeof schedule> {}
export const CronSchedule: Schema<CronSchedule> = object('CronSchedule', schedule)

const triggerEvent = { id, title: string, description: optional(string) }
export interface AutomationTriggerEvent extends Infer<typeof triggerEvent> {}
export const AutomationTriggerEvent: Schema<AutomationTriggerEvent> = object(
  'AutomationTriggerEvent',
  triggerEvent,
)

export const AutomationTrigger = variant(
  'AutomationTrigger',
  'kind',
  {
    schedule: object('AutomationScheduleTrigger', {
      kind: is('schedule'),
      id,
      schedule: CronSchedule,
      misfirePolicy: optional(openEnum('AutomationMisfirePolicy', ['skip', 'runOnce'])),
    }),
    event: object('AutomationEventTrigger', {
      kind: is('event'),
      id,
      type: string,
      title: string,
      description: optional(string),
      events: array(AutomationTriggerEvent),
      config: optional(bag),
    }),
  },
  'closed',
)
export type AutomationTrigger = TypeOf<typeof AutomationTrigger>

export const AutomationDisableCondition = variant(
  'AutomationDisableCondition',
  'kind',
  {
    afterRuns: object('AutomationAfterRuns', { kind: is('afterRuns'), max: natural }),
    afterDate: object('AutomationAfterDate', { kind: is('afterDate'), date: string }),
  },
  'closed',
)
export type AutomationDisableCondition = TypeOf<typeof AutomationDisableCondition>

const template = {
  provider: optional(string),
  model: optional(ModelSelection),
  agent: optional(AgentSelection),
  workingDirectories: optional(array(id)),
  config: optional(bag),
  customizations: optional(array(ClientPluginCustomization)),
}
/** What the sessions of an automation start from. */
export interface AutomationSessionTemplate extends Infer<typeof template> {}
export const AutomationSessionTemplate: Schema<AutomationSessionTemplate> = object(
  'AutomationSessionTemplate',
  template,
)

const definition = {
  title: string,
  message: Message,
  session: AutomationSessionTemplate,
  enabled: boolean,
  triggers: array(AutomationTrigger),
  disableConditions: optional(array(AutomationDisableCondition)),
  ...meta,
}
export interface AutomationDefinition extends Infer<typeof definition> {}
export const AutomationDefinition: Schema<AutomationDefinition> = object('AutomationDefinition', definition)

const definitionChanges = {
  ...definition,
  title: optional(string),
  message: optional(Message),
  session: optional(AutomationSessionTemplate),
  enabled: optional(boolean),
  triggers: optional(array(AutomationTrigger)),
}
export interface AutomationDefinitionChanges extends Infer<typeof definitionChanges> {}
export const AutomationDefinitionChanges: Schema<AutomationDefinitionChanges> = object(
  'AutomationDefinitionPatch',
  definitionChanges,
)

export const AutomationRunOrigin = variant(
  'AutomationRunOrigin',
  'kind',
  {
    manual: object('AutomationManualOrigin', { kind: is('manual') }),
    trigger: object('AutomationTriggerOrigin', {
      kind: is('trigger'),
      triggerId: id,
      scheduledFor: optional(string),
      catchUp: optional(boolean),
      event: optional(json),
    }),
  },
  'closed',
)
export type AutomationRunOrigin = TypeOf<typeof AutomationRunOrigin>

const created = { createdAt: string }
const started = { ...created, startedAt: string }
const over = { ...created, startedAt: optional(string), completedAt: string }

export const AutomationRunLifecycle = variant(
  'AutomationRunLifecycle',
  'status',
  {
    pending: object('AutomationRunPending', { status: is('pending'), ...created }),
    running: object('AutomationRunRunning', { status: is('running'), ...started }),
    completed: object('AutomationRunCompleted', {
      status: is('completed'),
      ...started,
      completedAt: string,
      usage: optional(UsageInfo),
    }),
    failed: object('AutomationRunFailed', { status: is('failed'), ...over, error: ErrorInfo }),
    cancelled: object('AutomationRunCancelled', { status: is('cancelled'), ...over }),
  },
  'closed',
)
export type AutomationRunLifecycle = TypeOf<typeof AutomationRunLifecycle>

const run = {
  resource: id,
  automation: id,
  origin: AutomationRunOrigin,
  lifecycle: AutomationRunLifecycle,
  primarySession: optional(id),
  ...meta,
}

const runSummary = { ...run, sessionCount: natural }
export interface AutomationRunSummary extends Infer<typeof runSummary> {}
export const AutomationRunSummary: Schema<AutomationRunSummary> = object('AutomationRunSummary', runSummary)

const runState = { ...run, sessions: array(id) }
/** One run of an automation. It stays running while its sessions wait for a person. */
export interface AutomationRunState extends Infer<typeof runState> {}
export const AutomationRunState: Schema<AutomationRunState> = object('AutomationRunState', runState)

const entry = {
  resource: id,
  definition: AutomationDefinition,
  nextRunAt: optional(string),
  runCount: optional(natural),
  runs: array(AutomationRunSummary),
  runsNextCursor: optional(string),
  operations: array(openEnum('AutomationOperation', ['update', 'remove', 'run'])),
  customizations: optional(array(PluginCustomization)),
  createdAt: string,
  modifiedAt: string,
  ...meta,
}
export interface AutomationEntry extends Infer<typeof entry> {}
export const AutomationEntry: Schema<AutomationEntry> = object('AutomationEntry', entry)

const automationState = { entries: array(AutomationEntry), ...meta }
/** The catalogue of automations; the host alone decides when one runs. */
export interface AutomationState extends Infer<typeof automationState> {}
export const AutomationState: Schema<AutomationState> = object('AutomationState', automationState)
