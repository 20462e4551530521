/**
 * The messages between a thread and the one that has started it. `Api` is an interface with a function for each request. Types only: a
 * module that the entries of two threads import would make the bundler of the command run one of them in the thread of the other.
 */

/** A request to a thread: the name of a function, and its arguments. */
export type ThreadRequest<Api extends Functions<Api>, Name extends keyof Api = keyof Api> = {
  readonly [K in Name]: {
    readonly id: number
    readonly name: K
    readonly args: Parameters<Api[K]>
  }
}[Name]

/** The answer to the request with this id. `meaning` chooses the class of the error. */
export interface ThreadAnswer<Meaning extends string> {
  readonly id: number
  readonly value?: unknown
  readonly error?: ThreadError<Meaning>
}

export interface ThreadError<Meaning extends string> {
  readonly meaning?: Meaning | undefined
  readonly message: string
}

/** What a thread has for the requests. A function may also give its result later. */
export type Handlers<Api extends Functions<Api>> = {
  readonly [K in keyof Api]: (...args: Parameters<Api[K]>) => ReturnType<Api[K]> | Promise<ReturnType<Api[K]>>
}

/** Any interface whose members are functions. */
export type Functions<Api> = { readonly [K in keyof Api]: (...args: never[]) => unknown }
