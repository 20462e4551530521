/** The link ended during a wait. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
}

/** The host answered with an error. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: number

  constructor({ code, message }: { readonly code: number; readonly message: string }) {
    super(message)
    this.code = code
  }
}
