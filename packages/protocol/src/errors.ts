import type { ProtectedResourceMetadata } from './common/auth.ts'
import type { ResourceRequest } from './resource/commands.ts'

/** Every error code of the protocol. -32006 is reserved and unused. */
export const errorCodes = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  SessionNotFound: -32001,
  ProviderNotFound: -32002,
  SessionAlreadyExists: -32003,
  TurnInProgress: -32004,
  UnsupportedProtocolVersion: -32005,
  AuthRequired: -32007,
  NotFound: -32008,
  PermissionDenied: -32009,
  AlreadyExists: -32010,
  Conflict: -32011,
} as const
export type ErrorName = keyof typeof errorCodes

/** An error that is sent to the other side, with a code, a message and optional data. Other errors are never sent. */
export class AhpError extends Error {
  override readonly name = 'AhpError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }

  static parseError(problem: string) {
    return new AhpError(errorCodes.ParseError, `not JSON: ${problem}`)
  }
  static invalidRequest(problem: string) {
    return new AhpError(errorCodes.InvalidRequest, problem)
  }
  static methodNotFound(method: string) {
    return new AhpError(errorCodes.MethodNotFound, `unknown method ${quoted(method)}`)
  }
  static invalidParams(problem: string) {
    return new AhpError(errorCodes.InvalidParams, problem)
  }
  static internalError() {
    return new AhpError(errorCodes.InternalError, 'internal error')
  }
  static sessionNotFound(uri: string) {
    return new AhpError(errorCodes.SessionNotFound, `no session ${quoted(uri)}`)
  }
  static providerNotFound(provider: string) {
    return new AhpError(errorCodes.ProviderNotFound, `no agent with the provider id ${quoted(provider)}`)
  }
  static sessionAlreadyExists(uri: string) {
    return new AhpError(errorCodes.SessionAlreadyExists, `the session ${quoted(uri)} already exists`)
  }
  static turnInProgress(problem: string) {
    return new AhpError(errorCodes.TurnInProgress, problem)
  }
  static unsupportedProtocolVersion(problem: string, supportedVersions: readonly string[]) {
    return new AhpError(errorCodes.UnsupportedProtocolVersion, problem, { supportedVersions })
  }
  static authRequired(problem: string, resources: readonly ProtectedResourceMetadata[]) {
    return new AhpError(errorCodes.AuthRequired, problem, { resources })
  }
  static notFound(problem: string) {
    return new AhpError(errorCodes.NotFound, problem)
  }
  static permissionDenied(problem: string, request?: ResourceRequest) {
    return new AhpError(errorCodes.PermissionDenied, problem, request && { request })
  }
  static alreadyExists(problem: string) {
    return new AhpError(errorCodes.AlreadyExists, problem)
  }
  static conflict(problem: string) {
    return new AhpError(errorCodes.Conflict, problem)
  }
}

/** Shortens and escapes a text from a peer, which may be long or made to mislead the reader of the message. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
