import type { HookEvent, HookResult } from '../../catalog/hook-event.ts'
import { runHooks } from './hooks.ts'
import { ownersOf } from '../../catalog/owners.ts'
import { customizationsOf } from '../../catalog/customizing.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Customization, CustomizationEnablement } from '@atrium/protocol/session/customization'
import { setAgents } from '../agents/agents.ts'
import type { Core } from '../../kernel/core.ts'
import type { Customizing, ServerTools, Toggled } from '../../catalog/customizing.ts'
import type { Effects } from '../../kernel/rules.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Component } from '../../plugins/plugin.ts'
import type { McpServer, McpServers } from '../../ports/mcp.ts'
import { pluginsKey } from './plugins-setting.ts'
import { Copies } from './copies.ts'
import { Consents } from './consent.ts'
import type { Place } from './consent.ts'
import { Enablements } from './enablement.ts'
import { entryOf, shownPrograms } from './entry.ts'
import type { Container, EntryContext } from './entry.ts'
import { Library } from './library.ts'
import type { WaitingServer } from './session-servers.ts'
import { SessionCustomizations, freshMs } from './session-customizations.ts'
import type { CustomizationMachine } from '../../plugins/machine.ts'
import type { Shared } from './shared.ts'
import { hostSources, sourcesOf } from './sources.ts'

/** The customizations of all sessions: plugins, folders of customizations, and what users have decided about them. */
export class Customizations implements Customizing {
  readonly #shared: Shared
  readonly #sessions = new Map<Uri, SessionCustomizations>()
  #ofHost: readonly Customization[] = []

  private constructor(shared: Shared) {
    this.#shared = shared
  }

  /**
   * Loads the decisions of users. `mcp`: the MCP servers that the host itself may run.
   */
  static async open(
    core: Core,
    machine: CustomizationMachine,
    mcp: McpServers | undefined,
  ): Promise<Customizations> {
    const { records, limits, world } = core
    const enablements = await Enablements.open(records)
    const consents = await Consents.open(records)
    const library = new Library(machine.hash, limits, () => world.now())
    const copies = machine.copies && new Copies(machine.copies, machine.hash, limits)
    return new Customizations({ core, machine, mcp, enablements, consents, library, copies })
  }

  refresh(session: Uri): Promise<void> {
    return this.#of(session).refresh()
  }

  publish(session: Uri): void {
    this.#of(session).publish()
  }

  async components(session: Uri): Promise<readonly Component[]> {
    const customizations = this.#of(session)
    await customizations.ready()
    return customizations.components()
  }

  runHooks(session: Channel<'session'>, event: HookEvent, signal: AbortSignal): Promise<HookResult> {
    return runHooks(this.#shared.core, session, event, signal)
  }

  /** Stores a user's decision, in the same transaction as its action. To enable programs is to consent to them. */
  toggled(session: Channel<'session'>, { id, enablement }: Toggled): void {
    const folder = session.head.workingDirectories?.[0]
    const { enablements, consents } = this.#shared
    enablements.decide(id, folder, enablement)
    const programs = shownPrograms(session.head.customizations, id)
    for (const kind of ['session', 'workspace', 'global'] as const) {
      if (kind === 'workspace' && folder === undefined) continue
      const place = placeOf(kind, session.uri, folder)
      const enabled = enablement.find((each) => each.kind === kind)?.enabled
      if (enabled && programs) consents.give(id, programs, place)
      else consents.revoke(id, place)
    }
    for (const each of this.#sessions.values()) each.publish()
  }

  changedProgram(session: Uri, id: string): Promise<string | undefined> {
    return this.#of(session).changedProgram(id)
  }

  async offered(folder: Uri | undefined): Promise<readonly { readonly id: string; readonly name: string }[]> {
    const { core, machine, library } = this.#shared
    const sources = await sourcesOf(
      core,
      { workingDirectories: folder === undefined ? [] : [folder] },
      machine.home,
    )
    const read = sources.map(async (source) => {
      const loaded = await library.load(source, freshMs)
      return loaded ? [{ id: source.id, name: loaded.name ?? source.name }] : []
    })
    return (await Promise.all(read)).flat()
  }

  /** Ends the MCP servers of the host. */
  async closeServers(): Promise<void> {
    await this.#shared.mcp?.close()
  }

  startServers(session: Uri): Promise<void> | undefined {
    return this.#shared.mcp && this.#of(session).startServers()
  }

  tools(session: Uri): readonly ServerTools[] {
    return this.#of(session).servers?.tools ?? []
  }

  server(session: Uri, id: string): McpServer | undefined {
    return this.#of(session).servers?.find(id)
  }

  get ofHost(): readonly Customization[] {
    return this.#ofHost
  }

  reread(): void {
    void this.#readHost()
    for (const each of this.#sessions.values()) void each.refresh()
  }

  seen(session: Uri): void {
    this.#of(session).seen()
  }

  slept(session: Uri): void {
    this.#sessions.get(session)?.servers?.close()
    this.#sessions.delete(session)
  }

  forget(session: Uri): void {
    this.slept(session)
    this.#shared.consents.forget(session)
  }

  clientReturned(clientId: string): void {
    for (const each of this.#sessions.values()) each.clientReturned(clientId)
  }

  waitingFor(principal: string, resource: string): readonly WaitingServer[] {
    const own = [...this.#sessions].filter(([uri]) => ownersOf(this.#shared.core).of(uri) === principal)
    return own.flatMap(([, { servers }]) => servers?.waitingFor(resource) ?? [])
  }

  /**
   * Reads the plugins and folders that every session has, and publishes them with the agents. So clients see them
   * before they create a session.
   */
  async #readHost(): Promise<void> {
    const { machine, library, enablements } = this.#shared
    const core = this.#shared.core
    const context: EntryContext = {
      decisions: (id) => enablements.of(id, undefined, undefined),
      programProblem: () => undefined,
      server: () => undefined,
    }
    const sources = await hostSources(core, machine.home)
    const read = sources.map(async (source): Promise<readonly Customization[]> => {
      const loaded = await library.load(source, freshMs)
      // The children are left out, because every agent of the host would repeat them.
      return loaded ? [withoutChildren(entryOf(source, loaded, context, undefined))] : []
    })
    this.#ofHost = (await Promise.all(read)).flat()
    setAgents(core)
  }

  #of(session: Uri): SessionCustomizations {
    const known = this.#sessions.get(session) ?? new SessionCustomizations(session, this.#shared)
    this.#sessions.set(session, known)
    return known
  }
}

function withoutChildren(container: Container): Customization {
  const { children: _, ...entry } = container
  return entry
}

function placeOf(kind: CustomizationEnablement['kind'], session: Uri, folder: Uri | undefined): Place {
  return kind === 'session' ? session : kind === 'workspace' ? folder : undefined
}

/** The actions after which a session's customizations are read again: its folders or its clients have changed. */
export const customizationEffects: Effects<'session'> = {
  'session/activeClientSet': refresh,
  'session/activeClientRemoved': refresh,
  'session/workingDirectorySet': refresh,
  'session/workingDirectoryRemoved': refresh,
  'session/workingDirectoryReplaced': refresh,
}

function refresh(core: Core, session: Channel<'session'>): void {
  if (session.committedState.lifecycle === 'ready') void customizationsOf(core)?.refresh(session.uri)
}

/** The requests of users to start or stop an MCP server that the host runs. */
export const serverEffects: Effects<'session'> = {
  'session/mcpServerStartRequested': (core, { uri }, { id }) => {
    core.parts
      .get(customizationsOf)
      ?.server(uri, id)
      ?.start()
      .catch(() => {})
  },
  'session/mcpServerStopRequested': (core, { uri }, { id }) =>
    customizationsOf(core)?.server(uri, id)?.stop(),
}

/** Reads the sources of all sessions again, after a change of the host's plugins. */
export const rootEffects: Effects<'root'> = {
  'root/configChanged': (core, _, { config }) => {
    if (Object.hasOwn(config, pluginsKey)) customizationsOf(core)?.reread()
  },
}
