import { McpFailed, McpRefused } from '@atrium/host/ports/mcp'
import { visibleText } from '@atrium/protocol/text/visible'
import { codeOf } from '../process/error-code.ts'

/** A process that has ended by itself. The message is the reason, as a clause. */
export class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded'
  /** Whether the program could be started. */
  readonly hadStarted: boolean

  constructor(reason: string, hadStarted: boolean) {
    super(reason)
    this.hadStarted = hadStarted
  }
}

/** Returns a failure for users: what failed, and the reason in an error of the library or of the system. */
export function failureOf(what: string, error: unknown, redact: (text: string) => string): McpFailed {
  if (error instanceof McpFailed) return error
  const message = `${what}: ${redact(visibleText(reasonOf(error)).slice(0, maxReason))}.`
  const code = refusalOf(error)
  return code === undefined ? new McpFailed(message) : new McpRefused(message, code)
}

/**
 * Returns the JSON-RPC error code if the server has answered with an error. The error is recognized by the name of its class, because
 * importing the class would load the MCP library.
 */
function refusalOf(error: unknown): number | undefined {
  const isAnswer = error instanceof Error && error.name === 'ProtocolError' && 'code' in error
  return isAnswer && typeof error.code === 'number' ? error.code : undefined
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed'
  if (error instanceof ProcessEnded) return error.message
  const { cause } = error
  const status = statusOf(error)
  if (status !== undefined) return `it answered with HTTP status ${status}`
  const code = codeOf(error) ?? codeOf(cause)
  if (error.name === 'TypeError' && code !== undefined) return `it could not be reached (${code})`
  if (error.message.includes(lostAnswer)) return lostAnswer
  return `it answered with the error ${JSON.stringify(error.message.slice(0, maxReason))}`
}

/** Whether a call failed because its server cannot be reached, or does not know the connection any more. */
export function isGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const status = statusOf(error)
  return status === 404 || (status === undefined && error.name === 'TypeError')
}

/** Returns the status of the HTTP response in an error of the library. */
function statusOf(error: Error): number | undefined {
  const data = 'data' in error ? error.data : undefined
  const status = typeof data === 'object' && data !== null && 'status' in data ? data.status : undefined
  return typeof status === 'number' ? status : undefined
}

/** The reason of a failed call that got no answer, as a clause. */
export const lostAnswer = 'it closed the connection without an answer'
const maxReason = 500
