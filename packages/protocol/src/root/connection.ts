import { Action, Envelope, Snapshot, envelopeShape } from '../channel.ts'
import { command, rootCommand, notification } from '../command.ts'
import { meta, presence } from '../common/content.ts'
import { array, id, is, natural, number, object, optional, positive, string, variant } from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'

const implementation = { name: string, version: optional(string), title: optional(string) }
/** The name and version of a client or host, for logs and display. Capabilities are never derived from it. */
export interface Implementation extends Infer<typeof implementation> {}
export const Implementation = object<Implementation>('Implementation', implementation)

const clientCapabilities = { mcpApps: optional(presence) }
export interface ClientCapabilities extends Infer<typeof clientCapabilities> {}
export const ClientCapabilities = object<ClientCapabilities>('ClientCapabilities', clientCapabilities)

const telemetry = { logs: optional(id), traces: optional(id), metrics: optional(id) }
export interface TelemetryCapabilities extends Infer<typeof telemetry> {}
export const TelemetryCapabilities = object<TelemetryCapabilities>('TelemetryCapabilities', telemetry)

const schedules = { minIntervalMinutes: optional(number) }
export interface ScheduleCapabilities extends Infer<typeof schedules> {}
export const ScheduleCapabilities = object<ScheduleCapabilities>('AutomationScheduleCapabilities', schedules)

const automations = {
  create: optional(presence),
  schedules: optional(ScheduleCapabilities),
  runCancellation: optional(presence),
  runHistoryLimit: optional(natural),
  customizations: optional(presence),
}
export interface AutomationCapabilities extends Infer<typeof automations> {}
export const AutomationCapabilities = object<AutomationCapabilities>('AutomationCapabilities', automations)

const reconnectReplayResult = {
  type: is('replay'),
  actions: array(Envelope),
  missing: array(id),
}
export interface ReconnectReplayResult extends Infer<typeof reconnectReplayResult> {}

const reconnectSnapshotResult = { type: is('snapshot'), snapshots: array(Snapshot) }
export interface ReconnectSnapshotResult extends Infer<typeof reconnectSnapshotResult> {}

export const ReconnectResult = variant(
  'ReconnectResult',
  'type',
  {
    replay: object<ReconnectReplayResult>('ReconnectReplayResult', reconnectReplayResult),
    snapshot: object<ReconnectSnapshotResult>('ReconnectSnapshotResult', reconnectSnapshotResult),
  },
  'closed',
)
export type ReconnectResult = TypeOf<typeof ReconnectResult>

const delivery = { maxLatencyMs: optional(number) }
export interface SubscribeDelivery extends Infer<typeof delivery> {}
export const SubscribeDelivery = object<SubscribeDelivery>('SubscribeDelivery', delivery)

const view = { turns: optional(natural) }
export interface SubscribeView extends Infer<typeof view> {}
export const SubscribeView = object<SubscribeView>('SubscribeView', view)

export const connectionCommands = {
  initialize: rootCommand(
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
  ping: rootCommand({}, null),
  reconnect: rootCommand(
    { clientId: id, lastSeenServerSeq: natural, subscriptions: array(id) },
    ReconnectResult,
  ),
  subscribe: command(
    { delivery: optional(SubscribeDelivery), view: optional(SubscribeView) },
    { snapshot: optional(Snapshot) },
  ),
  authenticate: rootCommand(
    {
      resource: id,
      /** An empty token revokes the stored one. */
      token: string,
      scopes: optional(array(string)),
      expiresIn: optional(positive),
    },
    {},
  ),
}

// `notification` adds the key `channel` to all params, so the key is left out here.
const { channel: _, ...envelopeParams } = envelopeShape

export const connectionNotifications = {
  unsubscribe: notification('client', {}),
  dispatchAction: notification('client', { clientSeq: natural, action: Action }),
  action: notification('host', envelopeParams),
}
