import { either, is, json, number, object, optional, string } from '../schema.ts'
import type { Infer, Schema } from '../schema.ts'
import type { MessageId as Id } from './message.ts'

const MessageId: Schema<Id> = either(number, string, 'JsonRpcId')

const version = { jsonrpc: is('2.0') }

const request = { ...version, id: MessageId, method: string, params: optional(json) }
export interface Request extends Infer<typeof request> {}
export const Request = object<Request>('JsonRpcRequest', request)

const notification = { ...version, method: string, params: optional(json) }
export interface Notification extends Infer<typeof notification> {}
export const Notification = object<Notification>('JsonRpcNotification', notification)

const success = { ...version, id: MessageId, result: json }
export interface Success extends Infer<typeof success> {}
export const Success = object<Success>('JsonRpcSuccess', success)

const wireError = { code: number, message: string, data: optional(json) }
export interface WireError extends Infer<typeof wireError> {}
export const WireError = object<WireError>('JsonRpcErrorObject', wireError)

const failure = { ...version, id: either(MessageId, is(null)), error: WireError }
export interface Failure extends Infer<typeof failure> {}
export const Failure = object<Failure>('JsonRpcError', failure)
