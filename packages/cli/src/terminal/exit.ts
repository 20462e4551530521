import { AhpError, errorCodes } from '@atrium/protocol/errors'

/** The exit codes of all commands. */
export const exits = {
  ok: 0,
  error: 1,
  usage: 2,
  timeout: 3,
  notFound: 4,
  denied: 5,
  inUse: 6,
  interrupted: 130,
} as const
export type Exit = (typeof exits)[keyof typeof exits]

/** An error that ends a command: one sentence with the cause and the remedy, and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exit: Exit

  constructor(sentence: string, exit: Exit = exits.error) {
    super(sentence)
    this.exit = exit
  }
}

/** Returns the first line of an error's message. The stack is left out: it helps only with the source at hand. */
export function sentenceOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line === '' ? 'Something failed without an error message.' : line
}

/**
 * Returns the exit code for an error. A session that does not exist, a denied permission, and a store that another
 * process uses have codes of their own.
 */
export function exitFor(error: unknown): Exit {
  if (error instanceof CommandError) return error.exit
  // The error is recognized by its name, because importing its class would load the store in every command.
  if (error instanceof Error && error.name === 'StoreLocked') return exits.inUse
  const code = error instanceof AhpError ? error.code : undefined
  if (code === errorCodes.SessionNotFound) return exits.notFound
  return code === errorCodes.PermissionDenied ? exits.denied : exits.error
}

/** Returns the code of a system error, for example `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
