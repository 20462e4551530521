/** Thrown when the link ends during a wait. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
}

/** Thrown when the host answers with an error. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: number

  constructor({ code, message }: { readonly code: number; readonly message: string }) {
    super(message)
    this.code = code
  }
}
