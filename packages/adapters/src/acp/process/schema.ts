/**
 * What ACP agents say, as far as it is read here. Nothing of it is trusted to be there: every agent leaves something out, adds
 * something, or says it in the way of an older version; so all is optional, and what is not known is passed by.
 */
export interface Initialized {
  readonly protocolVersion?: number
  readonly agentCapabilities?: AgentCapabilities
  readonly authMethods?: readonly AuthMethod[]
  readonly agentInfo?: { readonly name?: string; readonly title?: string; readonly version?: string }
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
  readonly _meta?: {
    readonly 'terminal-auth'?: { readonly command?: string; readonly args?: readonly string[] }
  } | null
}

/** The answer to `session/new`, `session/load` and `session/resume`. */
export interface Opened {
  readonly sessionId?: string
  readonly modes?: Modes | null
  /** As agents said it before there were config options. */
  readonly models?: {
    readonly currentModelId?: string
    readonly availableModels?: readonly NamedId<'modelId'>[]
  } | null
  readonly configOptions?: readonly ConfigOption[] | null
}

export interface Modes {
  readonly currentModeId?: string
  readonly availableModes?: readonly NamedId<'id'>[]
}

type NamedId<K extends string> = { readonly [key in K]?: string } & {
  readonly name?: string
  readonly description?: string | null
}

export interface ConfigOption {
  readonly id?: string
  readonly name?: string
  readonly description?: string | null
  readonly category?: string | null
  readonly type?: string
  readonly currentValue?: string | boolean
  readonly options?: readonly (ConfigChoice | { readonly options?: readonly ConfigChoice[] })[]
}

export interface ConfigChoice {
  readonly value?: string
  readonly name?: string
  readonly description?: string | null
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

export interface ToolCall {
  readonly toolCallId?: string
  readonly title?: string | null
  readonly name?: string | null
  readonly kind?: string | null
  readonly status?: string | null
  readonly content?: readonly CallContent[] | null
  readonly locations?: readonly { readonly path?: string; readonly line?: number | null }[] | null
  readonly rawInput?: unknown
  readonly rawOutput?: unknown
  readonly _meta?: {
    readonly terminal_output?: { readonly data?: string }
    readonly terminal_output_delta?: { readonly data?: string }
    readonly terminal_exit?: { readonly exit_code?: number | null }
  } | null
}

export type CallContent =
  | { readonly type: 'content'; readonly content?: ContentBlock }
  | {
      readonly type: 'diff'
      readonly path?: string
      readonly oldText?: string | null
      readonly newText?: string
    }
  | { readonly type: 'terminal'; readonly terminalId?: string }

export interface Update extends ToolCall {
  readonly sessionUpdate?: string
  readonly messageId?: string | null
  readonly entries?: readonly PlanEntry[]
  readonly plan?: {
    readonly planId?: string
    readonly type?: string
    readonly entries?: readonly PlanEntry[]
    readonly content?: string
  }
  readonly availableCommands?: readonly { readonly name?: string; readonly description?: string | null }[]
  readonly currentModeId?: string
  readonly configOptions?: readonly ConfigOption[]
  readonly used?: number
  readonly size?: number
  readonly cost?: { readonly amount?: number; readonly currency?: string } | null
  readonly severity?: string
  readonly description?: string | null
  readonly summary?: string | null
}

export interface PlanEntry {
  readonly content?: string
  readonly priority?: string
  readonly status?: string
}

export interface PermissionRequest {
  readonly sessionId?: string
  readonly toolCall?: ToolCall
  readonly options?: readonly { readonly optionId?: string; readonly name?: string; readonly kind?: string }[]
}

export interface Prompted {
  readonly stopReason?: string
  readonly usage?: {
    readonly inputTokens?: number
    readonly outputTokens?: number
    readonly cachedReadTokens?: number | null
  } | null
}

/** `-32000` on any call of a session: somebody has to sign in first. */
export const authRequired = -32_000
export const notFound = -32_002
export const methodNotFound = -32_601
