import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { MessageAttachment, ModelSelection } from '@atrium/protocol/chat/message'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallContributor, ToolCallState } from '@atrium/protocol/chat/tool'
import type { Uri } from '@atrium/protocol/channel'
import type { SessionConfigSchema } from '@atrium/protocol/common/config'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { ContentRef, FileEdit } from '@atrium/protocol/common/content'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionConfigChoice } from '@atrium/protocol/session/commands'
import type { SessionState, ToolDefinition } from '@atrium/protocol/session/state'
import type { Comments } from './comments.ts'
import type { Customized, InstructionFile } from './customized.ts'
import type { FileEntry } from './files.ts'
import type { Search, SearchResult } from './search.ts'

/** An agent, which sessions choose by its provider id. Every agent passes the suite in `agent.contract.ts`. */
export interface Agent {
  /** The description of the agent. It may have more members after `probe`. */
  readonly info: AgentInfo
  /** Whether the agent's turns can be resumed after a resumable error or a restart of the host. */
  readonly resumes: boolean
  /** The settings of the agent's sessions. */
  readonly settings?: Settings
  /** The tools that the agent itself runs. Sessions list them as `serverTools`. Absent if the agent cannot list its tools. */
  readonly tools?: readonly ToolDefinition[]
  /**
   * Asks the backend for its models, its settings and whether a user must sign in. The host calls `probe` each time before it
   * creates a session (in `directory`) or shows settings, so an agent should cache the answers. Never rejects.
   */
  probe?(directory?: Uri): Promise<void>
  /**
   * Returns the resources of which a user needs a token before the agent can work. A token for any one of them is enough. Absent:
   * all resources that the info requires are needed.
   */
  missing?(hasToken: (resource: string) => boolean): readonly ProtectedResourceMetadata[]
  /**
   * Called when a user signs in to a resource of the info. Resolves when the agent accepts the sign-in. Rejects with a
   * `TurnFailed`. Absent: the agent notices a wrong token in a turn.
   */
  signIn?(resource: string, token: string): Promise<void>
  /** Prepares a session before its first turn. If the host stops before the call is done, the next host calls it again. */
  create?(session: Session, signal: AbortSignal): Promise<void>
  /**
   * Runs one turn and yields the actions of the turn in order. The turn is complete when the iterator is done, and has failed
   * when the iterator throws. The state of a resumed turn contains its earlier response parts, and the agent continues after
   * them. The host discards every action that is yielded after the signal is aborted.
   */
  run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction>
  /** The slash commands that a message may begin with. */
  commands?(session: SessionState): Promise<readonly AgentCommand[]>
  /** The last lines of diagnostic output, for troubleshooting. Must not contain secrets. */
  readonly lastWords?: readonly string[]
  /** Called when the last client has left an idle session. The agent may end what it can start again later. */
  release?(session: Uri): void
  /** Called when a session was disposed of. The agent deletes the data that it keeps for the session. */
  dispose?(session: Uri): Promise<void>
}

export interface Settings {
  readonly schema: SessionConfigSchema
  /** Returns values of a setting that has too many values for its schema to list. */
  choices?(
    property: string,
    query: string,
    directory: Uri | undefined,
  ): Promise<readonly SessionConfigChoice[]>
}

export interface AgentCommand {
  /** The name of the command: a single word, without the slash. */
  readonly name: string
  readonly description?: string
}

/** A session that is being created, as its agent sees it. */
export interface Session {
  readonly uri: Uri
  /** The committed state. */
  readonly state: SessionState
  /** Whether it is uncertain that anybody will use the session. An agent starts no process for it before its first turn. */
  readonly inAdvance: boolean
  /** The token of the session's owner for a resource, as in `Chat`. */
  token(resource: string): string | undefined
  /** Reports progress to the client that creates the session. */
  progress(done: number, total: number, message?: string): void
}

/** The chat that a turn belongs to, as its agent sees it. */
export interface Chat {
  readonly uri: Uri
  readonly turnId: string
  /** The trace context of the turn (W3C), for the spans of programs that work for it. Absent: the host has no telemetry. */
  readonly traceparent?: string | undefined
  /** The committed state. */
  readonly state: ChatState
  readonly session: SessionState
  readonly sessionUri: Uri
  /** Resolves with the first committed state that meets the condition. Rejects when the turn is over. */
  when(condition: (state: ChatState) => boolean): Promise<ChatState>
  /** Resolves when everything that the agent has yielded is committed. Rejects when the turn is over. */
  settled(): Promise<void>
  /**
   * Returns turns right before a given turn, oldest first; empty if there are none. An agent reads older turns this
   * way, because the state holds only the newest turns of the chat.
   */
  before(turnId: string): Promise<readonly Turn[]>
  /** Starts a worker for a tool call of this turn. The worker does its task in a chat of its own. */
  spawn(task: Task): Worker
  /**
   * Runs a command line for a tool call of this turn, in a terminal that clients can watch. The command is ended with the
   * turn.
   */
  run(command: Command): Promise<RunningCommand>
  readonly files: ToolFiles
  readonly comments: Comments
  /** What the enabled customizations of the session give to this turn. Waits until the customizations are read. */
  customized(): Promise<Customized>
  /**
   * The instructions of the project: `AGENTS.md`, or else `CLAUDE.md`, directly in each working directory of the chat. The files
   * are read now. Only an agent that does not find these files itself needs them.
   */
  instructions(): Promise<readonly InstructionFile[]>
  readonly tools: OfferedTools
  /** Stores content durably with the session. Actions may then refer to the content. It is shown with the name of `file`. */
  keep(bytes: Uint8Array, contentType: string, file?: Uri): Promise<ContentRef>
  /** Reads an attachment. Rejects with a message for users if the attachment is missing or must not be read. */
  read(attachment: MessageAttachment): Promise<Content>
  /**
   * The user's token for a resource; undefined if there is none. The resource must be named in the agent's info, or a
   * tool call of this turn must have asked the user to authenticate for it. An agent gets the token before each use,
   * sends it only to that resource, and does not store it.
   */
  token(resource: string): string | undefined
}

/** The whole content of an attachment. If the message selects only a part, the agent has to find that part in the content. */
export interface Content {
  readonly data: string
  readonly encoding: 'utf-8' | 'base64'
  readonly contentType?: string
}

/**
 * The tools that the session has besides the agent's own. To call one, the agent yields `chat/toolCallStart` with the tool's
 * contributor and own name, deltas, and `chat/toolCallReady`. Then it waits for the end of the call. The contributor of the
 * tool completes the call; the agent never does.
 */
export interface OfferedTools {
  /** The tools of this moment. Their names differ from each other and from the names of the agent's own tools. */
  list(): readonly OfferedTool[]
  /**
   * Resolves with a call of this turn when the call has ended: completed or cancelled. The call may have been yielded by an
   * earlier run of the turn. Rejects when the turn is over.
   */
  ended(toolCallId: string): Promise<EndedCall>
}

export type EndedCall = Extract<ToolCallState, { readonly status: 'completed' | 'cancelled' }>

export interface OfferedTool {
  /** The name that a model sees: at most 64 letters, digits, `_` and `-`. */
  readonly name: string
  /**
   * The definition of the tool, with the name by which its contributor knows the tool. Its texts have no hidden
   * characters, but their content must not be trusted.
   */
  readonly definition: ToolDefinition
  readonly contributor: ToolCallContributor
  /**
   * The name of a call for users, without backticks and line breaks. For a tool of an MCP server it begins with `MCP` and the name of
   * the server in the config, because a server chooses the names of its tools, and could choose those of the host's tools.
   */
  readonly displayName: string
  /** Whether a person confirms each call. A call of any other tool is yielded with `confirmed: 'not-needed'`. */
  readonly asks: boolean
}

/**
 * The files of the session's directories, for a running tool call of this turn. Reading needs no confirmation, unless
 * the file is secret: the read of a secret file rejects with the error type `permission`, and the tool call may then
 * ask for confirmation. Writing always needs a confirmation. Paths are absolute, or relative to the first directory
 * of the chat, which is the session's if the chat has none of its own.
 */
export interface ToolFiles {
  read(toolCallId: string, path: string): Promise<string>
  /** The entries of a directory, sorted by name. */
  list(toolCallId: string, path: string): Promise<readonly FileEntry[]>
  search(toolCallId: string, search: Search): Promise<SearchResult>
  /** Makes a preview of an edit for the users who confirm it. The preview of a secret file reveals nothing to the agent. */
  propose(path: string, edit: Edit): Promise<FileEdit>
  apply(toolCallId: string, path: string, edit: Edit): Promise<void>
  /**
   * Says that a running call changes these files and no others. An agent that knows the files says it before the call
   * ends. What changes during any other call may be a person's work (O33).
   */
  writesOnly(toolCallId: string, paths: readonly string[]): Promise<void>
}

/** An edit of a file: a new text for the whole file, or the replacement of a text that the file contains exactly once. */
export type Edit = { readonly text: string } | { readonly find: string; readonly put: string }

export interface Command {
  readonly toolCallId: string
  /** A command line for the shell. */
  readonly line: string
  /**
   * An absolute path in a directory of the session. Absent: the first directory of the chat, or else of the session.
   */
  readonly cwd?: string
}

export interface RunningCommand {
  readonly terminal: Uri
  /** Resolves when the command has ended. Rejects when the turn is over. */
  readonly done: Promise<CommandOutcome>
  /** The output so far. */
  soFar(): CommandOutcome
  /** Ends the command. `done` then resolves with the command's outcome. */
  end(): Promise<void>
  /** Lets the command run on after the turn, as background work of the chat. Resolves soon, with the outcome so far. */
  leave(): Promise<CommandOutcome>
}

export interface CommandOutcome {
  /** Absent while the command runs, and if it was killed. */
  readonly exitCode?: number
  /** The output as plain text. If the output is too long, only its end. */
  readonly output: string
  readonly truncated: boolean
  readonly ended: boolean
}

export interface Task {
  readonly toolCallId: string
  readonly title: string
  readonly text: string
  /** The model for the worker. */
  readonly model?: ModelSelection
}

export interface Worker {
  readonly chat: Uri
  /**
   * Resolves with the state of the worker's chat when the worker's turn has ended. Rejects if that chat is removed, or if the
   * turn that started the worker is over.
   */
  readonly done: Promise<ChatState>
}

/**
 * The chat actions that an agent must not yield: the host starts and ends turns and maintains the chat, users write, read and
 * decide, and pages of turns are only for single clients.
 */
export const hostOnlyActions = [
  'chat/turnStarted',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/error',
  'chat/turnResume',
  'chat/truncated',
  'chat/turnsLoaded',
  'chat/draftChanged',
  'chat/isReadChanged',
  'chat/isArchivedChanged',
  'chat/pendingMessageSet',
  'chat/queuedMessagesReordered',
  'chat/movableChanged',
  'chat/workingDirectorySet',
  'chat/workingDirectoryRemoved',
  'chat/toolCallConfirmed',
  'chat/toolCallResultConfirmed',
  'chat/inputAnswerChanged',
] as const

/** The session actions that an agent may yield. */
export const agentSessionActions = [
  'session/titleChanged',
  'session/metaChanged',
  'session/configChanged',
  'session/mcpServerStateChanged',
] as const

/** An action that an agent yields. It has no `turnId`, because the host adds the id. */
export type AgentAction = WithoutTurn<
  | Exclude<ChatAction, { readonly type: (typeof hostOnlyActions)[number] }>
  | Extract<SessionAction, { readonly type: (typeof agentSessionActions)[number] }>
>

type WithoutTurn<A> = A extends { readonly turnId: string } ? Omit<A, 'turnId'> : A

export { SignInRequired, TurnFailed, failureOf } from './failure.ts'
