import { automationCommands } from './automation/commands.ts'
import { changesetCommands } from './changeset/commands.ts'
import { chatCommands } from './chat/commands.ts'
import type { NotificationParamsIn, ParamsIn, ResultIn } from './command.ts'
import { otlpNotifications } from './otlp/notifications.ts'
import { resourceCommands } from './resource/commands.ts'
import { rootCommands, rootNotifications } from './root/commands.ts'
import { connectionCommands, connectionNotifications } from './root/connection.ts'
import type { Schema } from './schema.ts'
import { sessionCommands } from './session/commands.ts'
import { terminalCommands } from './terminal/commands.ts'

/** Every request method. */
const commandTable = {
  ...connectionCommands,
  ...rootCommands,
  ...resourceCommands,
  ...sessionCommands,
  ...chatCommands,
  ...terminalCommands,
  ...changesetCommands,
  ...automationCommands,
}
/** Every notification method. */
const notificationTable = { ...connectionNotifications, ...rootNotifications, ...otlpNotifications }

export type Method = keyof typeof commandTable
export type Params<M extends Method> = ParamsIn<typeof commandTable, M>
export type Result<M extends Method> = ResultIn<typeof commandTable, M>
/** The params of any method, also of one that AHP does not have: those may be anything. */
export type AnyParams<M extends string> = M extends Method ? Params<M> : unknown
/** The result of any method. Nothing is known of the result of a method that AHP does not have. */
export type AnyResult<M extends string> = M extends Method ? Result<M> : unknown
/** The methods that the host may request from a client: those that both sides may send. */
export type ClientMethod = {
  [M in Method]: (typeof commandTable)[M]['from'] extends 'client' ? never : M
}[Method]

export type NotificationMethod = keyof typeof notificationTable
export type NotificationParams<M extends NotificationMethod> = NotificationParamsIn<
  typeof notificationTable,
  M
>

export interface Command {
  readonly from: 'client' | 'either'
  readonly params: Schema<unknown>
  readonly result: Schema<unknown>
}

export interface Notification {
  readonly from: 'client' | 'host'
  readonly params: Schema<unknown>
}

export const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries(commandTable).map(([method, { from, params, result }]) => [
    method,
    { from, params: params(method), result: result(method) },
  ]),
)

export const notifications: ReadonlyMap<string, Notification> = new Map(
  Object.entries(notificationTable).map(([method, { from, params }]) => [
    method,
    { from, params: params(method) },
  ]),
)
