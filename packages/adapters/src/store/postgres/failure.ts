import type { Meaning } from './worker-api.ts'

/** A database as errors name it, without its password. */
export interface Place {
  readonly name: string
  readonly user: string
  readonly database: string
}

/** A failure in the worker. The main thread chooses an error class by its `meaning`. */
export class Failure extends Error {
  readonly meaning: Meaning | undefined

  constructor(meaning: Meaning | undefined, message: string) {
    super(message)
    this.meaning = meaning
  }
}

/** Returns the SQLSTATE of an error of the server, or the code of an error of the system. Empty if it has neither. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** The code of a server whose disk is full. */
export const FULL = '53100'

/** The codes of errors of the system that mean that a connection was lost or could not be made. */
const LOSSES = /^(?:ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENOTFOUND|EAI_AGAIN|ENOENT)$/

/**
 * Whether an error means that the connection is lost, so that nobody knows whether the last statement was committed: class 08, a
 * server that stops or starts (57P01 to 57P03), a session that the server has ended, or too many connections.
 */
export function isLoss(error: unknown): boolean {
  const code = codeOf(error)
  if (LOSSES.test(code) || /^(?:08...|57P0[1-5]|25P03|25P04|53300)$/.test(code)) return true
  return (
    code === '' &&
    error instanceof Error &&
    /^Connection terminated|connection timeout|timeout expired|not queryable|Client was closed/i.test(
      error.message,
    )
  )
}

/**
 * Turns an error of the server or of the connection into a failure with a sentence for the user. No sentence has a password,
 * because neither the server nor the library puts one into an error.
 */
export function toFailure(error: unknown, place: Place): Error {
  if (error instanceof Failure || !(error instanceof Error)) return asError(error)
  const code = codeOf(error)
  const at = `PostgreSQL at ${place.name}`
  if (code === FULL) return new Failure('full', `${at} has no space left: ${error.message}`)
  if (code === '28P01' || code === '28000')
    return new Failure('unreadable', `${at} does not let the user "${place.user}" in: ${error.message}`)
  if (/client password must be a string/.test(error.message))
    return new Failure(
      'unreadable',
      `${at} asks for a password: set PGPASSWORD, or name a file with it in ATRIUM_POSTGRES_PASSWORD_FILE`,
    )
  if (code === '3D000')
    return new Failure('unreadable', `${at} has no database "${place.database}": create it first`)
  if (code === '42501')
    return new Failure('unreadable', `${at} does not permit this to "${place.user}": ${error.message}`)
  if (/CERT|SIGNATURE|ERR_TLS/.test(code))
    return new Failure(
      'unreadable',
      `the certificate of ${at} is not trusted: ${error.message}; name the file of its issuer with sslrootcert in the URL`,
    )
  if (/does not support SSL/.test(error.message))
    return new Failure(
      'unreadable',
      `${at} has no TLS: switch it on there, or allow a plain connection with sslmode=disable in the URL`,
    )
  if (code === '25006')
    return new Failure(
      'unreadable',
      `${at} is read-only: it is a standby server, or default_transaction_read_only is on`,
    )
  // The tables are verified when the store is opened. An error about their shape means that they were changed since.
  if (/^42(?:P01|703|804)$/.test(code))
    return new Failure('unreadable', `the tables at ${place.name} were changed by hand: ${error.message}`)
  if (isLoss(error)) return new Failure('away', `${at} cannot be reached: ${error.message || code}`)
  // An error without a code is not of the server.
  return code === '' ? error : Object.assign(new Error(`${at}: ${error.message}`), { code })
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
