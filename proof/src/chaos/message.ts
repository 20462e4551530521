/** A JSON-RPC message of the host. */
export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** Undefined if the text is not JSON. */
export function parsed(text: string): Message | undefined {
  try {
    return JSON.parse(text) as Message
  } catch {
    return undefined
  }
}
