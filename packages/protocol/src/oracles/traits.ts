/** A tool call with the keys that the rules up to 0.6 read. Values that no rule looks into are unknown. */
export interface Call {
  readonly toolCallId: string
  readonly toolName: string
  readonly displayName: string
  readonly intention?: string
  readonly contributor?: unknown
  readonly toolClientId?: string
  readonly _meta?: unknown
  readonly status: string
  readonly partialInput?: string
  readonly invocationMessage?: unknown
  readonly toolInput?: unknown
  readonly confirmationTitle?: unknown
  readonly riskAssessment?: unknown
  readonly edits?: unknown
  readonly editable?: boolean
  readonly options?: readonly { readonly id: string }[]
  readonly confirmed?: unknown
  readonly selectedOption?: unknown
  readonly content?: unknown
}

export interface Part {
  readonly kind: string
  readonly toolCall?: Call
}

export interface Turn {
  readonly id: string
  readonly responseParts: readonly Part[]
  readonly usage?: unknown
  readonly message?: unknown
  readonly userMessage?: unknown
}

export interface InputRequest {
  readonly id: string
  readonly answers?: { readonly [question: string]: unknown }
}

export interface PendingMessage {
  readonly id: string
  readonly message?: unknown
  readonly userMessage?: unknown
}

/**
 * The turns, pending messages and input requests up to 0.5.2. They belong to a session up to 0.3, and to a chat from
 * 0.4.
 */
export interface Conversation {
  readonly turns: readonly Turn[]
  readonly activeTurn?: Turn
  readonly steeringMessage?: PendingMessage
  readonly queuedMessages?: readonly PendingMessage[]
  readonly inputRequests?: readonly InputRequest[]
  readonly turnsNextCursor?: string
  readonly status: number
  readonly modifiedAt: string | number
}

/** The part of a conversation that holds tool calls. */
export type WithCalls = Pick<Conversation, 'activeTurn' | 'status'>

/** How the versions up to 0.6 differ in the rules of their tool calls. */
export interface CallTraits {
  /** The keys that a call has from its start to its end. */
  readonly callKeys: readonly (keyof Call)[]
  /** The keys of a call that waits for confirmation. */
  readonly confirmationKeys: readonly (keyof Call)[]
  /** Whether `toolCallReady` also changes a call that already waits for confirmation. */
  readonly readyAgain: boolean
  /** Whether the `_meta` of later actions replaces the `_meta` of the call. */
  readonly replacesMeta: boolean
  /** The status that follows from the state: its activity, and the flags that it has. */
  readonly statusOf: (state: never) => number
}

/** How the versions up to 0.5.2 differ in the rules of a conversation. */
export interface Traits extends CallTraits {
  /** The key of the message in turns, pending messages and actions. */
  readonly message: 'message' | 'userMessage'
  /** Returns a time in the form of the version: an ISO text or milliseconds. */
  readonly time: (now: number) => string | number
}
