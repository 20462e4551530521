// The public exports of the package. Files inside the package import each other directly.
export type { Action, Uri } from './channel.ts'
export { Envelope, Origin, Snapshot } from './channel.ts'
export { kindNamed, kinds } from './channels.ts'
export { reducers } from './reducers.ts'
export type { KindName } from './reducers.ts'
export { commands, notifications } from './commands.ts'
export type {
  AnyParams,
  AnyResult,
  ClientMethod,
  Method,
  NotificationMethod,
  NotificationParams,
  Params,
  Result,
} from './commands.ts'
export { errorData } from './error-data.ts'
export { AhpError, errorCodes } from './errors.ts'
export type { ChannelKind } from './kind.ts'
export { checkAction } from './kind.ts'
export { decode } from './schema.ts'
export { sessionStatus } from './session/activity.ts'
export type { Infer, Schema, TypeOf } from './schema.ts'
export { Activity, Flag, activityOf, hasFlag, withActivity, withFlag } from './status.ts'
export { LinkClosed, Peer } from './rpc/peer.ts'
export type { Receiver } from './rpc/peer.ts'
export { pair } from './rpc/pair.ts'
export { serve } from './rpc/serve.ts'
export type { Transport } from './rpc/transport.ts'
export { knownIn, knows } from './versions/known.ts'
export { nativeVersion, negotiate, versions } from './versions/negotiate.ts'
export type { Version } from './versions/negotiate.ts'
