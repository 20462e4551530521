import { homedir } from 'node:os'
import type { Agent, AgentCommand, Chat, AgentAction } from '@atrium/host/ports/agent'
import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import type { Surroundings } from './acp-session.ts'
import { House } from './session-process.ts'
import type { Link } from './process/connection.ts'
import { customizationOf, isOn } from './process/mcp-servers.ts'
import type { AcpServer } from './process/mcp-servers.ts'
import { modelsOf, schemaOf } from './config-options.ts'
import type { Knob } from './config-options.ts'
import { Starter } from './process/launch.ts'
import type { AcpMeans, AcpProgram } from './process/launch.ts'
import { Voice } from './output-stream.ts'
import { Work } from './run-turn.ts'

/** What was found out by asking, so that it need not be asked again. */
export interface Profile {
  readonly knobs: readonly Knob[]
  /** Whether its sessions may have several directories. */
  readonly directories?: boolean
  readonly problem?: string
}

/** An agent that runs as a program of its own and speaks ACP: a process for each session of the host. */
export class AcpAgent implements Agent {
  readonly resumes = true
  readonly #starter: Starter
  readonly #houses = new Map<Uri, House>()
  #profile: Profile | undefined
  #probing: Promise<void> | undefined
  /** Started to find out, and free for whoever comes first. */
  #spare: Link | undefined
  #closed = false
  #turns = 0
  #retired = false

  constructor(program: AcpProgram, means: AcpMeans, profile?: Profile) {
    this.#starter = new Starter(program, means)
    this.#profile = profile
  }

  get info(): AgentInfo {
    const { name: provider, displayName, command } = this.#starter.program
    const { knobs = [], directories, problem } = this.#profile ?? {}
    return {
      provider,
      displayName,
      description: problem ?? `${displayName}, as ${command} on this machine`,
      models: [...modelsOf(provider, knobs)],
      ...(this.#servers.length > 0 && { customizations: this.#servers.map(customizationOf) }),
      capabilities: {
        multipleChats: { fork: true, sideChat: true },
        ...(directories && { multipleWorkingDirectories: { immutablePrimary: true } }),
      },
    }
  }

  get settings(): NonNullable<Agent['settings']> {
    return { schema: schemaOf(this.#starter.program.name, this.#profile?.knobs ?? []) }
  }

  get profile(): Profile | undefined {
    return this.#profile
  }

  get lastWords(): readonly string[] {
    return this.#starter.lastWords
  }

  probe(): Promise<void> {
    if (this.#profile && this.#profile.problem === undefined) return Promise.resolve()
    this.#probing ??= this.#find().finally(() => {
      this.#probing = undefined
    })
    return this.#inTime(this.#probing)
  }

  /** Whoever makes a session does not wait for one that does not answer: its first turn will say so. */
  #inTime(done: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const undo = this.#starter.means.later(probeMs, resolve)
      void done.then(() => {
        undo()
        resolve()
      })
    })
  }

  async *run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction> {
    const house = this.#houseOf(chat.sessionUri)
    let link: Link | undefined
    const voice = new Voice({
      pause: () => link?.process.lines.pause(),
      resume: () => link?.process.lines.resume(),
    })
    const leave = house.enter()
    this.#turns++
    const stop = () => voice.end()
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    else {
      const opened = (known: Link) => {
        link = known
      }
      const work = new Work(chat, house, voice, this.#starter, this.#surroundings(chat))
      work.run(signal, opened).then(
        () => voice.end(),
        (error: unknown) => voice.end(error),
      )
    }
    try {
      for await (const said of voice.words()) {
        if (signal.aborted) return
        yield said
      }
    } finally {
      signal.removeEventListener('abort', stop)
      leave()
      this.#turns--
      if (this.#retired) void this.retire()
    }
  }

  async commands(session: SessionState): Promise<readonly AgentCommand[]> {
    const own = new Set(session.chats.map(({ resource }) => resource))
    for (const house of this.#houses.values())
      for (const uri of own) {
        const found = house.conversation(uri)?.commands ?? []
        if (found.length > 0) return found
      }
    return []
  }

  async dispose(session: Uri): Promise<void> {
    const house = this.#houses.get(session)
    this.#houses.delete(session)
    await house?.close()
  }

  /** It is wanted no longer, and ends when its turns have. */
  async retire(): Promise<void> {
    this.#retired = true
    if (this.#turns === 0) await this.close()
  }

  /** Ends all that was started. */
  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#houses.values()].map((house) => house.close())
    this.#houses.clear()
    await Promise.all([...all, this.#starter.end(), this.#probing])
  }

  #houseOf(session: Uri): House {
    const known = this.#houses.get(session)
    if (known) return known
    const house = new House((over) => this.#link(over), this.#starter.means.later)
    this.#houses.set(session, house)
    return house
  }

  async #link(over: AbortSignal): Promise<Link> {
    const spare = this.#spare
    this.#spare = undefined
    if (this.#closed) throw this.#starter.failed('it is not on this host any more')
    return spare?.open ? spare : this.#starter.start(over)
  }

  /** Asks a session for what can be set, and keeps the process for whoever comes first. */
  async #find(): Promise<void> {
    let link: Link | undefined
    try {
      const found = await this.#starter.start()
      link = found
      const house = new House(() => Promise.resolve(found), this.#starter.means.later)
      const { knobs } = await house.begin('', { cwd: this.#starter.means.quiet ?? homedir(), mcpServers: [] })
      const { sessionCapabilities } = found.initialized.agentCapabilities ?? {}
      this.#profile = { knobs, ...(sessionCapabilities?.additionalDirectories && { directories: true }) }
      if (this.#closed) return await found.process.end()
      this.#spare = found
      const undo = this.#starter.means.later(spareMs, () => {
        if (this.#spare !== found) return
        this.#spare = undefined
        void found.process.end()
      })
      void found.process.ended.then(undo)
    } catch (error) {
      await link?.process.end()
      this.#profile = { knobs: this.#profile?.knobs ?? [], problem: this.#starter.inWords(error).message }
    }
  }

  get #servers(): readonly AcpServer[] {
    return this.#starter.means.mcpServers ?? []
  }

  #surroundings(chat: Chat): Surroundings {
    const own = chat.state.workingDirectories ?? []
    const uris = own.length > 0 ? own : (chat.session.workingDirectories ?? [])
    const paths = uris.flatMap((uri) => {
      const named = pathOf(uri)
      return named.ok ? [named.path] : []
    })
    const [cwd = homedir(), ...others] = paths
    const more = this.#profile?.directories && others.length > 0 ? { additionalDirectories: others } : {}
    const mcpServers = this.#servers.filter((server) => isOn(server, chat.session.customizations))
    return { cwd, ...more, mcpServers }
  }
}

const spareMs = 60_000
const probeMs = 15_000
