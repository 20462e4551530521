import { Action, Envelope, Origin, Snapshot } from '../channel.ts'
import { ask, askRoot, note } from '../command.ts'
import { meta, presence } from '../common/content.ts'
import { array, id, is, natural, number, object, optional, string, variant } from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'

const implementation = { name: string, version: optional(string), title: optional(string) }
/** Who is there, for logs and for people. Never a way to find out what it can do. */
export interface Implementation extends Infer<typeof implementation> {}
export const Implementation: Schema<Implementation> = object('Implementation', implementation)

const clientCapabilities = { mcpApps: optional(presence) }
export interface ClientCapabilities extends Infer<typeof clientCapabilities> {}
export const ClientCapabilities: Schema<ClientCapabilities> = object('ClientCapabilities', clientCapabilities)

const telemetry = { logs: optional(id), traces: optional(id), metrics: optional(id) }
export interface TelemetryCapabilities extends Infer<typeof telemetry> {}
export const TelemetryCapabilities: Schema<TelemetryCapabilities> = object('TelemetryCapabilities', telemetry)

const schedules = { minIntervalMinutes: optional(number) }
export interface ScheduleCapabilities extends Infer<typeof schedules> {}
export const ScheduleCapabilities: Schema<ScheduleCapabilities> = object(
  'AutomationScheduleCapabilities',
  schedules,
)

const automations = {
  create: optional(presence),
  schedules: optional(ScheduleCapabilities),
  runCancellation: optional(presence),
  runHistoryLimit: optional(natural),
  customizations: optional(presence),
}
export interface AutomationCapabilities extends Infer<typeof automations> {}
export const AutomationCapabilities: Schema<AutomationCapabilities> = object(
  'AutomationCapabilities',
  automations,
)

export const ReconnectResult = variant(
  'ReconnectResult',
  'type',
  {
    replay: object('ReconnectReplayResult', {
      type: is('replay'),
      actions: array(Envelope),
      missing: array(id),
    }),
    snapshot: object('ReconnectSnapshotResult', { type: is('snapshot'), snapshots: array(Snapshot) }),
  },
  'closed',
)
export type ReconnectResult = TypeOf<typeof ReconnectResult>

const delivery = { maxLatencyMs: optional(number) }
export interface SubscribeDelivery extends Infer<typeof delivery> {}
export const SubscribeDelivery: Schema<SubscribeDelivery> = object('SubscribeDelivery', delivery)

const view = { turns: optional(natural) }
export interface SubscribeView extends Infer<typeof view> {}
export const SubscribeView: Schema<SubscribeView> = object('SubscribeView', view)

export const connectionCommands = {
  initialize: askRoot(
    {
      protocolVersions: array(string),
      clientId: id,
      clientInfo: optional(Implementation),
      initialSubscriptions: optional(array(id)),
      locale: optional(string),
      capabilities: optional(ClientCapabilities),
    },
    {
      protocolVersion: string,
      serverSeq: natural,
      serverInfo: optional(Implementation),
      ...meta,
      snapshots: array(Snapshot),
      defaultDirectory: optional(id),
      completionTriggerCharacters: optional(array(string)),
      terminalCommandPrefix: optional(string),
      telemetry: optional(TelemetryCapabilities),
      automations: optional(AutomationCapabilities),
    },
  ),
  ping: askRoot({}, null),
  reconnect: askRoot({ clientId: id, lastSeenServerSeq: natural, subscriptions: array(id) }, ReconnectResult),
  subscribe: ask(
    { delivery: optional(SubscribeDelivery), view: optional(SubscribeView) },
    { snapshot: optional(Snapshot) },
  ),
  authenticate: askRoot(
    {
      resource: id,
      /** Empty revokes. */
      token: string,
      scopes: optional(array(string)),
      expiresIn: optional(natural),
    },
    {},
  ),
}

export const connectionNotes = {
  unsubscribe: note('client', {}),
  dispatchAction: note('client', { clientSeq: natural, action: Action }),
  action: note('host', {
    action: Action,
    serverSeq: natural,
    origin: optional(Origin),
    rejectionReason: optional(string),
  }),
}
