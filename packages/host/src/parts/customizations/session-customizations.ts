import { ownersOf } from '../../catalog/owners.ts'
import { tokensOf } from '../auth/tokens.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type {
  Customization,
  CustomizationEnablement,
  McpServerState,
} from '@atrium/protocol/session/customization'
import { compact, orAbsent } from '@atrium/protocol/update'
import { agentOf } from '../agents/agents.ts'
import { agentEntries } from '../agents/customizations.ts'
import { customizationsKey } from '../agents/settings.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Component } from '../../plugins/plugin.ts'
import { withDirectories } from '../../plugins/variables.ts'
import { changesTo } from './changes.ts'
import { decisionIn, isOn } from './decision.ts'
import { entryOf, loadingEntry, withinLength } from './entry.ts'
import type { EntryContext } from './entry.ts'
import type { Item } from './loaded.ts'
import { shownChannel } from './mcp-channel.ts'
import { SessionPrograms } from './session-programs.ts'
import { SessionServers, configuredSettings } from './session-servers.ts'
import type { Shared } from './shared.ts'
import { needsConsent } from './source.ts'
import type { Source } from './source.ts'
import { sourcesOf } from './sources.ts'

/**
 * The customizations of one session. Their sources (plugins and folders) are read, and the session's state shows each
 * of them as soon as it is read. A failure of one source is shown as its load state and does not hold up the others.
 */
export class SessionCustomizations {
  readonly #uri: Uri
  readonly #shared: Shared
  readonly #programs: SessionPrograms
  #items: readonly Item[] = []
  /** The reading of the sources that is in progress, and whether the sources must be read once more after it. */
  #reading: Promise<void> | undefined
  #again = false
  #listed = false
  #publishDue = false
  #servers: SessionServers | undefined
  constructor(uri: Uri, shared: Shared) {
    this.#uri = uri
    this.#shared = shared
    this.#programs = new SessionPrograms(uri, shared)
  }

  /** Reads the sources of the session, and updates its state. Resolves when all of them are read. */
  refresh(): Promise<void> {
    this.#again = true
    this.#reading ??= this.#readAll()
      .catch((error: unknown) => this.#core.world.report('customizations not read', error))
      .finally(() => {
        this.#reading = undefined
      })
    return this.#reading
  }

  /** Reads the sources that were not read a moment ago, so that a turn begins with the present content of the files. */
  async ready(): Promise<void> {
    await (this.#reading ?? this.refresh())
    for (const item of this.#items) if (await this.#programs.copy(item, 'if missing')) this.publish()
  }

  /**
   * Reads the source of a component again before the component's programs run: an agent may have changed a file since
   * the turn began. Returns why the programs may not run, for users; undefined if they may.
   */
  async changedProgram(id: string): Promise<string | undefined> {
    const item = this.itemOf(id)
    if (!item || !needsConsent(item.source)) return undefined
    await this.#read(item.source, 0)
    const now = this.itemOf(id)
    if (!now) return 'It is gone.'
    await this.#programs.copy(now, 'always')
    this.publish()
    return this.#programs.problem(now, id)
  }

  /** Reads the sources of a session that has come into memory, because its state may show older content. */
  seen(): void {
    const { customizations = [], provider } = this.#session?.head ?? {}
    const ofAgent = agentOf(this.#core, provider ?? '')?.info.customizations ?? []
    if (!this.#listed && customizations.some(({ id }) => !ofAgent.some((each) => each.id === id)))
      void this.refresh()
  }

  clientReturned(clientId: string): void {
    if (this.#hasPluginOf(clientId)) void this.refresh()
  }

  /**
   * Updates the session's state to what is known now. If the sources are not listed yet, they are read first: otherwise all of
   * them would seem to be gone.
   */
  publish(): void {
    if (!this.#listed) return void this.refresh()
    const session = this.#session
    if (!session || this.#core.readOnlyReason() !== undefined) return
    const { customizations: before = [], provider } = session.head
    this.#useServers()
    const own = agentEntries(agentOf(this.#core, provider)?.info.customizations, before)
    const after = [
      ...own,
      ...this.#configured(own, before),
      ...this.#items.flatMap((item) => this.#entry(item, before) ?? []),
    ]
    const shown = withinLength(after, this.#core.limits.customizationsLength)
    for (const action of changesTo(before, shown)) this.#core.log.append(session, action)
  }

  /** Starts the MCP servers that the host runs for the session. Resolves when each is ready or has failed. */
  async startServers(): Promise<void> {
    await this.ready()
    for (const { child } of this.components().filter(({ kind }) => kind === 'mcpServer'))
      await this.changedProgram(child.id)
    this.#useServers()
    await this.servers?.start()
  }

  /** The components that may be used: enabled, in an enabled source, and with consent if they run programs. */
  components(): readonly Component[] {
    const { customizations = [] } = this.#session?.head ?? {}
    return this.#items.flatMap((item) => {
      const entry = customizations.find(({ id }) => id === item.source.id)
      const parts = item.loaded?.parts.components ?? []
      if (!entry || !isOn(entry)) return []
      const children = 'children' in entry ? (entry.children ?? []) : []
      const usable = parts.filter(({ child }) => {
        const known = children.find(({ id }) => id === child.id)
        return known && isOn(known) && this.#programs.problem(item, child.id) === undefined
      })
      return usable.map((component) => this.#located(item, component))
    })
  }

  get servers(): SessionServers | undefined {
    const { mcp } = this.#shared
    const owners = ownersOf(this.#core)
    const tokens = tokensOf(this.#core)
    if (!mcp) return undefined
    const principal = owners.of(this.#uri)
    this.#servers ??= new SessionServers(mcp, {
      session: this.#uri,
      principal,
      token: (resource) => tokens.of(principal, resource),
      changed: (id, state) => this.#serverChanged(id, state),
    })
    return this.#servers
  }

  /** The source and the content of a customization or of a child of one. */
  itemOf(id: string): Item | undefined {
    return this.#items.find(
      ({ source, loaded }) =>
        source.id === id || loaded?.parts.components.some(({ child }) => child.id === id),
    )
  }

  /** The MCP servers in the host's settings, as customizations of the session. */
  #configured(ofAgent: readonly Customization[], before: readonly Customization[]): readonly Customization[] {
    const { machine, enablements } = this.#shared
    if (!this.#shared.mcp) return []
    return configuredSettings(machine.servers, ofAgent).map(({ id, name }) => {
      const known = before.find((each) => each.id === id)
      const enablement = orAbsent(enablements.of(id, this.#folder, decisionIn(known)))
      const server = this.servers?.find(id)
      const state: McpServerState = server?.state ?? { kind: 'stopped' }
      const shown = shownChannel(this.#uri, id, server)
      return { type: 'mcpServer', id, uri: id, name, state, ...shown, ...(enablement && { enablement }) }
    })
  }

  /** Opens the servers that are enabled, and closes the others. */
  #useServers(): void {
    const ofPlugins = this.components().flatMap((each) => {
      if (each.kind !== 'mcpServer') return []
      const { id, name } = each.child
      return [{ id, name, config: each.server, consent: this.itemOf(id)?.loaded?.digest ?? '' }]
    })
    const { customizations = [], provider = '' } = this.#session?.head ?? {}
    const ofAgent = agentOf(this.#core, provider)?.info.customizations ?? []
    const configured = configuredSettings(this.#shared.machine.servers, ofAgent).filter(({ id }) => {
      const known = customizations.find((each) => each.id === id)
      return !known || isOn(known)
    })
    this.servers?.use([...configured, ...ofPlugins])
  }

  #serverChanged(id: string, state: McpServerState): void {
    const session = this.#session
    if (!session || this.#core.readOnlyReason() !== undefined) return
    const { channel } = shownChannel(this.#uri, id, this.servers?.find(id))
    const type = 'session/mcpServerStateChanged'
    this.#core.log.append(session, compact<SessionAction>({ type, id, state, channel }))
    // What the server serves has no action of its own.
    this.publish()
  }

  get #folder(): Uri | undefined {
    return this.#session?.head.workingDirectories?.[0]
  }

  /** Returns a component with the directories of its plugin in place of the variables that stand for them. */
  #located({ source, loaded }: Item, component: Component): Component {
    const root = this.#programs.folderOf({ source, loaded })
    if (root === undefined || loaded?.format === undefined) return component
    const data = this.#shared.machine.dataOf?.(source.id) ?? root
    return withDirectories(component, loaded.format, { root, data })
  }

  #hasPluginOf(clientId: string): boolean {
    return this.#items.some(({ source }) => source.published?.clientId === clientId)
  }

  get #core(): Core {
    return this.#shared.core
  }

  get #session(): Channel<'session'> | undefined {
    return this.#core.log.channel(this.#uri, 'session')
  }

  async #readAll(): Promise<void> {
    while (this.#again) {
      this.#again = false
      const session = this.#session
      if (!session) return
      const place = { ...session.head, principal: ownersOf(this.#core).of(this.#uri) }
      const sources = await sourcesOf(this.#core, place, this.#shared.machine.home)
      const known = new Map(this.#items.map(({ source, loaded }) => [source.id, loaded]))
      this.#listed = true
      this.#items = sources.map((source) => ({ source, loaded: known.get(source.id) }))
      this.publish()
      await Promise.all(sources.map((source) => this.#read(source, freshMs).then(() => this.#publishSoon())))
      this.publish()
    }
  }

  async #read(source: Source, maxAge: number): Promise<void> {
    const loaded = await this.#shared.library.load(source, maxAge)
    this.#items = this.#items.flatMap((item) => {
      if (item.source !== source) return item
      return loaded ? { source, loaded } : []
    })
  }

  /**
   * Updates the state a moment later, together with everything that is read until then, because an update may replace a long
   * list.
   */
  #publishSoon(): void {
    if (this.#publishDue) return
    this.#publishDue = true
    this.#core.world.later(publishMs, () => {
      this.#publishDue = false
      this.publish()
    })
  }

  /** The customization of a source. While a source is read again, its customization stays as it is. */
  #entry(item: Item, list: readonly Customization[]): Customization | undefined {
    const { source, loaded } = item
    const before = list.find(({ id }) => id === source.id)
    if (loaded) return entryOf(source, loaded, this.#context(item), before)
    // Most folders of customizations do not exist, so a folder is shown only after it was found.
    return before ?? (source.folder ? undefined : loadingEntry(source, this.#context(item)))
  }

  #context(item: Item): EntryContext {
    const folder = this.#session?.head.workingDirectories?.[0]
    return {
      decisions: (id, before) => {
        if (this.#programs.isConsentLost(item, id)) return []
        const session = before ? decisionIn(before) : this.#chosen(item.source, id)
        return this.#shared.enablements.of(id, folder, session)
      },
      programProblem: (id) => this.#programs.problem(item, id),
      server: (id) => this.servers?.find(id),
      session: this.#uri,
    }
  }

  /** The decision about a source that the creator of the session has made in the config of the session. */
  #chosen(source: Source, id: string): CustomizationEnablement | undefined {
    const chosen: unknown = this.#session?.head.config?.values[customizationsKey]
    if (!Array.isArray(chosen) || id !== source.id || source.origin === 'client') return undefined
    return chosen.includes(id) ? undefined : { kind: 'session', enabled: false }
  }
}

/** The time for which a source need not be read again. */
export const freshMs = 1000

/** The time for which updates of the state are put together while sources are read. */
const publishMs = 50
