import type { Uri } from '@atrium/protocol/channel'
import type { OAuthClient, ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { Customization } from '@atrium/protocol/session/customization'
import type { ToolDefinition } from '@atrium/protocol/session/state'
import type { Channel } from '../kernel/log/channel.ts'
import type { Component } from '../plugins/plugin.ts'
import type { McpServer } from '../ports/mcp.ts'
import type { HookEvent, HookResult } from './hook-event.ts'
import { defineKey } from '../kernel/key.ts'

/** The customizations of the sessions, as the other parts of the core use them. */
export interface Customizing {
  /** Reads the sources of a session's customizations again, and updates the session's state. */
  refresh(session: Uri): Promise<void>
  /** Updates a session's state to what is known of its customizations. */
  publish(session: Uri): void
  /** Records that a user has turned a customization on or off, in the transaction of the action. */
  toggled(session: Channel<'session'>, action: Toggled): void
  /**
   * The parts of plugins and folders (such as skills, prompts and MCP servers) that an agent of the session may use.
   * Resolves once the sources were read.
   */
  components(session: Uri): Promise<readonly Component[]>
  /**
   * Reads a part of a plugin again, because it may have changed since it was read. The part is one that runs
   * programs. Returns why its programs may not run now; undefined if they may.
   */
  changedProgram(session: Uri, id: string): Promise<string | undefined>
  /** Runs the enabled hooks of an event, one after the other. After the first hook that blocks, no further hook runs. */
  runHooks(session: Channel<'session'>, event: HookEvent, signal: AbortSignal): Promise<HookResult>
  /** The plugins and folders that a session in this folder would have. */
  offered(folder: Uri | undefined): Promise<readonly { readonly id: string; readonly name: string }[]>
  /**
   * Starts the MCP servers that the host runs for a session. Undefined if it runs none for any session. `tools` returns the tools of those servers that are
   * ready, and `server` returns one server.
   */
  startServers(session: Uri): Promise<void> | undefined
  tools(session: Uri): readonly ServerTools[]
  server(session: Uri, id: string): McpServer | undefined
  /**
   * The customizations that every session has. Those that have not been read yet are missing. Their children are left out,
   * because the info of every agent would repeat them.
   */
  readonly ofHost: readonly Customization[]
  /** Reads the sources of the host and of every session again. */
  reread(): void
  /** Brings the customizations of a session that has come into memory up to date. */
  seen(session: Uri): void
  /** Ends the session's use of its MCP servers, because the session has left memory. */
  slept(session: Uri): void
  forget(session: Uri): void
  /** Reads the plugins of a client that is back: what was read while it was away may be incomplete. */
  clientReturned(clientId: string): void
  /** The MCP servers of a principal's sessions that wait for a token of this resource. */
  waitingFor(
    principal: string,
    resource: string,
  ): readonly {
    readonly server: McpServer
    readonly resource: ProtectedResourceMetadata
    readonly client?: OAuthClient | undefined
  }[]
}

/** The tools of an MCP server. `id` and `name` are those of the server's customization. */
export interface ServerTools {
  readonly id: string
  readonly name: string
  readonly tools: readonly ToolDefinition[]
}

export type Toggled = Extract<SessionAction, { readonly type: 'session/customizationToggled' }>

/** Undefined if the host was started without customizations. */
export const customizationsOf = defineKey<Customizing | undefined>('customizations')
