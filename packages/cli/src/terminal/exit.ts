import { AhpError, errorCodes } from '@atrium/protocol/errors'

/** How a command ends: fine, failed, typed wrong, too late, no such session, not allowed, interrupted. */
export const exits = {
  ok: 0,
  error: 1,
  usage: 2,
  timeout: 3,
  notFound: 4,
  denied: 5,
  interrupted: 130,
} as const
export type Exit = (typeof exits)[keyof typeof exits]

/** What keeps a command from its work: one sentence with the cause and the way out, and how the process exits. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly exit: Exit

  constructor(sentence: string, exit: Exit = exits.error) {
    super(sentence)
    this.exit = exit
  }
}

/** The sentence of anything that was thrown. A stack is of use to nobody who has only the command. */
export function sentenceOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line === '' ? 'Something went wrong and did not say what.' : line
}

/** How a command ends that was stopped by this; what a host does not have, or does not allow, has a number of its own. */
export function exitFor(error: unknown): Exit {
  if (error instanceof Problem) return error.exit
  const code = error instanceof AhpError ? error.code : undefined
  if (code === errorCodes.SessionNotFound) return exits.notFound
  return code === errorCodes.PermissionDenied ? exits.denied : exits.error
}
