import { AgentSelection, Message, ModelSelection } from '../chat/message.ts'
import { ErrorInfo, UsageInfo, meta } from '../common/content.ts'
import {
  array,
  jsonObject,
  boolean,
  id,
  is,
  natural,
  object,
  openEnum,
  optional,
  positive,
  string,
  variant,
} from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'
import { ClientPluginCustomization, PluginCustomization } from '../session/customization.ts'

const schedule = { expression: string, timeZone: string }
/** A cron expression of five fields, with the name of its time zone. */
export interface CronSchedule extends Infer<typeof schedule> {}
export const CronSchedule = object<CronSchedule>('CronSchedule', schedule)

const triggerEvent = { id, title: string, description: optional(string) }
export interface AutomationTriggerEvent extends Infer<typeof triggerEvent> {}
export const AutomationTriggerEvent = object<AutomationTriggerEvent>('AutomationTriggerEvent', triggerEvent)

const automationScheduleTrigger = {
  kind: is('schedule'),
  id,
  schedule: CronSchedule,
  misfirePolicy: optional(openEnum('AutomationMisfirePolicy', ['skip', 'runOnce'])),
}
export interface AutomationScheduleTrigger extends Infer<typeof automationScheduleTrigger> {}

const automationEventTrigger = {
  kind: is('event'),
  id,
  type: string,
  title: string,
  description: optional(string),
  events: array(AutomationTriggerEvent),
  config: optional(jsonObject),
}
export interface AutomationEventTrigger extends Infer<typeof automationEventTrigger> {}

export const AutomationTrigger = variant(
  'AutomationTrigger',
  'kind',
  {
    schedule: object<AutomationScheduleTrigger>('AutomationScheduleTrigger', automationScheduleTrigger),
    event: object<AutomationEventTrigger>('AutomationEventTrigger', automationEventTrigger),
  },
  'closed',
)
export type AutomationTrigger = TypeOf<typeof AutomationTrigger>

const automationAfterRuns = { kind: is('afterRuns'), max: positive }
export interface AutomationAfterRuns extends Infer<typeof automationAfterRuns> {}

const automationAfterDate = { kind: is('afterDate'), date: string }
export interface AutomationAfterDate extends Infer<typeof automationAfterDate> {}

export const AutomationDisableCondition = variant(
  'AutomationDisableCondition',
  'kind',
  {
    afterRuns: object<AutomationAfterRuns>('AutomationAfterRuns', automationAfterRuns),
    afterDate: object<AutomationAfterDate>('AutomationAfterDate', automationAfterDate),
  },
  'closed',
)
export type AutomationDisableCondition = TypeOf<typeof AutomationDisableCondition>

const template = {
  provider: optional(string),
  model: optional(ModelSelection),
  agent: optional(AgentSelection),
  workingDirectories: optional(array(id)),
  config: optional(jsonObject),
  customizations: optional(array(ClientPluginCustomization)),
}
/** The settings of the sessions that an automation creates. */
export interface AutomationSessionTemplate extends Infer<typeof template> {}
export const AutomationSessionTemplate = object<AutomationSessionTemplate>(
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
export const AutomationDefinition = object<AutomationDefinition>('AutomationDefinition', definition)

const definitionChanges = {
  ...definition,
  title: optional(string),
  message: optional(Message),
  session: optional(AutomationSessionTemplate),
  enabled: optional(boolean),
  triggers: optional(array(AutomationTrigger)),
}
export interface AutomationDefinitionChanges extends Infer<typeof definitionChanges> {}
export const AutomationDefinitionChanges = object<AutomationDefinitionChanges>(
  'AutomationDefinitionPatch',
  definitionChanges,
)

const automationManualOrigin = { kind: is('manual') }
export interface AutomationManualOrigin extends Infer<typeof automationManualOrigin> {}

const automationTriggerOrigin = {
  kind: is('trigger'),
  triggerId: id,
  scheduledFor: optional(string),
  catchUp: optional(boolean),
  event: optional(jsonObject),
}
export interface AutomationTriggerOrigin extends Infer<typeof automationTriggerOrigin> {}

export const AutomationRunOrigin = variant(
  'AutomationRunOrigin',
  'kind',
  {
    manual: object<AutomationManualOrigin>('AutomationManualOrigin', automationManualOrigin),
    trigger: object<AutomationTriggerOrigin>('AutomationTriggerOrigin', automationTriggerOrigin),
  },
  'closed',
)
export type AutomationRunOrigin = TypeOf<typeof AutomationRunOrigin>

const created = { createdAt: string }
const started = { ...created, startedAt: string }
const over = { ...created, startedAt: optional(string), completedAt: string }

const automationRunPending = { status: is('pending'), ...created }
export interface AutomationRunPending extends Infer<typeof automationRunPending> {}

const automationRunRunning = { status: is('running'), ...started }
export interface AutomationRunRunning extends Infer<typeof automationRunRunning> {}

const automationRunCompleted = {
  status: is('completed'),
  ...started,
  completedAt: string,
  usage: optional(UsageInfo),
}
export interface AutomationRunCompleted extends Infer<typeof automationRunCompleted> {}

const automationRunFailed = { status: is('failed'), ...over, error: ErrorInfo }
export interface AutomationRunFailed extends Infer<typeof automationRunFailed> {}

const automationRunCancelled = { status: is('cancelled'), ...over }
export interface AutomationRunCancelled extends Infer<typeof automationRunCancelled> {}

export const AutomationRunLifecycle = variant(
  'AutomationRunLifecycle',
  'status',
  {
    pending: object<AutomationRunPending>('AutomationRunPending', automationRunPending),
    running: object<AutomationRunRunning>('AutomationRunRunning', automationRunRunning),
    completed: object<AutomationRunCompleted>('AutomationRunCompleted', automationRunCompleted),
    failed: object<AutomationRunFailed>('AutomationRunFailed', automationRunFailed),
    cancelled: object<AutomationRunCancelled>('AutomationRunCancelled', automationRunCancelled),
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
export const AutomationRunSummary = object<AutomationRunSummary>('AutomationRunSummary', runSummary)

const runState = { ...run, sessions: array(id) }
/** One run of an automation. Its status stays `running` while its sessions wait for a user. */
export interface AutomationRunState extends Infer<typeof runState> {}
export const AutomationRunState = object<AutomationRunState>('AutomationRunState', runState)

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
export const AutomationEntry = object<AutomationEntry>('AutomationEntry', entry)

const automationState = { entries: array(AutomationEntry), ...meta }
/** The list of automations. Only the host decides when an automation runs. */
export interface AutomationState extends Infer<typeof automationState> {}
export const AutomationState = object<AutomationState>('AutomationState', automationState)
