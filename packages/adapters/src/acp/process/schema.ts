/**
 * The parts of the ACP schema that this adapter reads. Agents leave out members, add unknown members, or follow an older
 * version. So every member is optional, code checks the type of each member that it uses, and unknown members are ignored.
 * Any object is assignable to these types.
 */
export interface InitializeResponse {
  readonly protocolVersion?: number
  readonly agentCapabilities?: AgentCapabilities
  readonly authMethods?: readonly AuthMethod[]
  readonly agentInfo?: { readonly name?: string; readonly title?: string; readonly version?: string }
  /** `steering` is an extension: the agent has the method `_session/steering`. */
  readonly _meta?: { readonly steering?: { readonly supported?: boolean } | null } | null
}

/** The response to `_session/steering`. Every outcome but `injected` leaves the message with the host. */
export interface SteeringResponse {
  readonly outcome?: string
}

export interface AgentCapabilities {
  readonly loadSession?: boolean
  readonly promptCapabilities?: {
    readonly image?: boolean
    readonly audio?: boolean
    readonly embeddedContext?: boolean
  }
  readonly mcpCapabilities?: { readonly http?: boolean; readonly sse?: boolean }
  readonly sessionCapabilities?: {
    readonly resume?: object | null
    readonly close?: object | null
    readonly delete?: object | null
    readonly additionalDirectories?: object | null
  }
}

export interface AuthMethod {
  readonly id?: string
  readonly name?: string
  readonly description?: string | null
  readonly type?: string
  readonly args?: readonly string[]
  /** The variables of a method of the type `env_var`. */
  readonly vars?: readonly { readonly name: string; readonly optional?: boolean }[]
  readonly _meta?: {
    readonly 'terminal-auth'?: { readonly command?: string; readonly args?: readonly string[] }
  } | null
}

/** The response to `session/new`, `session/load` and `session/resume`. */
export interface OpenSessionResponse {
  readonly sessionId?: string
  readonly modes?: SessionModeState | null
  /** Older agents list their models here and not among the config options. */
  readonly models?: {
    readonly currentModelId?: string
    readonly availableModels?: readonly NamedId<'modelId'>[]
  } | null
  readonly configOptions?: readonly SessionConfigOption[] | null
}

export interface SessionModeState {
  readonly currentModeId?: string
  readonly availableModes?: readonly NamedId<'id'>[]
}

type NamedId<K extends string> = { readonly [key in K]?: string } & {
  readonly name?: string
  readonly description?: string | null
}

export interface SessionConfigOption {
  readonly id?: string
  readonly name?: string
  readonly description?: string | null
  readonly category?: string | null
  readonly type?: string
  readonly currentValue?: string | boolean
  readonly options?: readonly (SessionConfigValue | SessionConfigGroup)[]
}

export interface SessionConfigValue {
  readonly value?: string
  readonly name?: string
  readonly description?: string | null
}

export interface SessionConfigGroup {
  readonly options: readonly SessionConfigValue[] | null
}

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'audio'
      readonly data: string
      readonly mimeType: string
      readonly uri?: string | null
    }
  | {
      readonly type: 'resource_link'
      readonly uri: string
      readonly name: string
      readonly title?: string | null
      readonly mimeType?: string | null
    }
  | {
      readonly type: 'resource'
      readonly resource: {
        readonly uri: string
        readonly text?: string
        readonly blob?: string
        readonly mimeType?: string | null
      }
    }

/** A `session/update`. The value of `sessionUpdate` tells which of the following types the object has. */
export interface SessionUpdate {
  readonly sessionUpdate?: string
}

/** `agent_message_chunk` and `agent_thought_chunk`. */
export interface ContentChunk {
  readonly content?: ContentBlock | null
  readonly messageId?: string | null
}

/** `tool_call` and `tool_call_update`, and the tool call in a permission request. */
export interface ToolCallUpdate extends SessionUpdate {
  readonly toolCallId?: string
  readonly title?: string | null
  readonly name?: string | null
  readonly kind?: string | null
  readonly status?: string | null
  readonly content?: readonly ToolCallContent[] | null
  readonly locations?: readonly { readonly path?: string; readonly line?: number | null }[] | null
  readonly rawInput?: unknown
  readonly rawOutput?: unknown
  readonly _meta?: {
    readonly terminal_output?: { readonly data?: string }
    readonly terminal_output_delta?: { readonly data?: string }
    readonly terminal_exit?: { readonly exit_code?: number | null }
  } | null
}

export type ToolCallContent =
  | { readonly type: 'content'; readonly content?: ContentBlock }
  | {
      readonly type: 'diff'
      readonly path?: string
      readonly oldText?: string | null
      readonly newText?: string
    }
  | { readonly type: 'terminal'; readonly terminalId?: string }

/** `plan`, with entries, `plan_update`, with a named plan, and `plan_removed`, with its id. */
export interface PlanUpdate {
  readonly planId?: string
  readonly entries?: readonly PlanEntry[]
  readonly plan?: {
    readonly planId?: string
    readonly type?: string
    readonly entries?: readonly PlanEntry[]
    readonly content?: string
    readonly uri?: string
  }
}

export interface PlanEntry {
  readonly content?: string
  readonly priority?: string
  readonly status?: string
}

/** `usage_update`. */
export interface UsageUpdate {
  readonly used?: number
  readonly size?: number
  readonly cost?: { readonly amount?: number; readonly currency?: string } | null
}

/** `notice`. */
export interface NoticeUpdate {
  readonly severity?: string
  readonly title?: string | null
  readonly description?: string | null
}

/** `compaction_update`. */
export interface CompactionUpdate {
  readonly compactionId?: string
  readonly status?: string | null
  readonly summary?: readonly ContentBlock[] | string | null
  readonly error?: string | null
}

/** `compaction_summary_chunk`: content that is appended to the summary of a compaction. */
export interface CompactionSummaryChunk {
  readonly compactionId?: string
  readonly content?: ContentBlock | null
}

/** `available_commands_update`, `current_mode_update`, `config_option_update` and `session_info_update`. */
export interface SessionStateUpdate {
  readonly availableCommands?: readonly { readonly name?: string; readonly description?: string | null }[]
  readonly currentModeId?: string
  readonly configOptions?: readonly SessionConfigOption[]
  readonly title?: string | null
}

export interface PermissionRequest {
  readonly sessionId?: string
  readonly toolCall?: ToolCallUpdate
  readonly options?: readonly { readonly optionId?: string; readonly name?: string; readonly kind?: string }[]
}

export interface PromptResponse {
  readonly stopReason?: string
  readonly usage?: {
    readonly inputTokens?: number
    readonly outputTokens?: number
    readonly cachedReadTokens?: number | null
  } | null
}

/** Returns an object as it is. Returns an empty object for any other value. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

export type Fields = { readonly [key: string]: unknown }

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** The error code of a request that needs a signed-in user. */
export const authRequired = -32_000
export const resourceNotFound = -32_002
export const methodNotFound = -32_601
