import { isDeepStrictEqual } from 'node:util'
import type { Chat } from '@atrium/host/ports/agent'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { wordOf } from './tool-call.ts'
import type { Conversation, Surroundings } from './acp-session.ts'
import type { House } from './session-process.ts'
import type { Link } from './process/connection.ts'
import { goOnText, handOver, messageBlocks } from './prompt.ts'
import { isUsable, shownOf, stateOf } from './process/mcp-servers.ts'
import { keyOf } from './config-options.ts'
import type { Knob } from './config-options.ts'
import type { Starter } from './process/launch.ts'
import { AcpTurn } from './acp-turn.ts'
import type { Voice } from './output-stream.ts'
import { authRequired } from './process/schema.ts'
import type { ContentBlock } from './process/schema.ts'

/** One turn of a chat, from the agent that is to be found for it to its last word. */
export class Work {
  readonly #chat: Chat
  readonly #house: House
  readonly #voice: Voice
  readonly #starter: Starter
  readonly #where: Surroundings

  constructor(chat: Chat, house: House, voice: Voice, starter: Starter, where: Surroundings) {
    this.#chat = chat
    this.#house = house
    this.#voice = voice
    this.#starter = starter
    this.#where = where
  }

  async run(signal: AbortSignal, opened: (link: Link) => void): Promise<void> {
    const { activeTurn } = this.#chat.state
    if (activeTurn?.id !== this.#chat.turnId) return
    try {
      const turn = new AcpTurn(this.#chat, this.#voice, this.#where.cwd)
      const { conversation, before = [] } = await this.#rested(turn, signal)
      opened(conversation.link)
      this.#sayMemory(conversation.id, conversation.where)
      this.#sayServers(conversation)
      await this.#tune(conversation)
      const resumed = isBegun(activeTurn)
      const { promptCapabilities } = conversation.link.initialized.agentCapabilities ?? {}
      const known = resumed && before.length === 0
      const message = known ? [] : await messageBlocks(activeTurn.message, this.#chat, promptCapabilities)
      const goOn: ContentBlock[] = resumed ? [{ type: 'text', text: goOnText(activeTurn) }] : []
      if (signal.aborted) return
      const set = new Map(conversation.knobs.map(({ id, current }) => [id, current]))
      const prompted = this.#prompt(conversation, turn, [...before, ...message, ...goOn], signal)
      await prompted.finally(() => {
        this.#sayTitle(conversation)
        // What people have set meanwhile is for the next turn, unless the agent has set it itself.
        this.#sayKnobs(conversation.knobs.filter(({ id, current }) => set.get(id) !== current))
      })
    } catch (error) {
      // Who has signed in by then is known to a new one.
      if (error instanceof AhpError && error.code === authRequired) void this.#house.endIfAlone()
      throw this.#starter.inWords(error)
    }
  }

  /** The agent's session for a chat: the one that is there, the one that was, or a new one that is told what happened. */
  async talk(
    turn: AcpTurn,
    signal: AbortSignal,
  ): Promise<{ readonly conversation: Conversation; readonly before?: readonly ContentBlock[] }> {
    const [chat, house] = [this.#chat, this.#house]
    const there = await house.there(chat.uri)
    // A turn that was cancelled meanwhile leaves it to the next one: it would open a second one, or end that of the other.
    signal.throwIfAborted()
    // What it was opened with holds for as long as its process: where that has changed, it is taken up again by another one.
    if (there && (isDeepStrictEqual(there.where, this.#given(there.link)) || !(await house.endIfAlone())))
      return { conversation: there }
    const given = this.#given(await house.link())
    signal.throwIfAborted()
    const known = memoryOf(chat)
    const without =
      known?.servers.filter((name) => !given.mcpServers.some((each) => each.name === name)) ?? []
    let problem = without.length > 0 ? `it was to go on without ${without.join(', ')}` : undefined
    // Some keep what they were given once, whatever they are given later: what is switched off must be off.
    if (known && problem === undefined)
      try {
        // Said first: it has them, whatever becomes of this turn.
        this.#sayMemory(known.id, given)
        return { conversation: await house.restore(chat.uri, known.id, given) }
      } catch (error) {
        if (!(error instanceof AhpError) || error.code === authRequired) throw error
        problem = this.#starter.harmless(error.message)
      }
    const { activeTurn } = chat.state
    const before = activeTurn && (await handOver(chat, activeTurn))
    signal.throwIfAborted()
    const conversation = await house.begin(chat.uri, given)
    if (!before) return { conversation }
    turn.note(this.#handedOver(problem))
    return { conversation, before: [before] }
  }

  /** Servers on the network are only for agents that know how to talk to them. */
  #given({ initialized: { agentCapabilities } }: Link): Surroundings {
    const mcpServers = this.#where.mcpServers.filter((server) => isUsable(server, agentCapabilities))
    return { ...this.#where, mcpServers }
  }

  #handedOver(problem: string | undefined): string {
    const { displayName } = this.#starter.program
    const why =
      problem === undefined
        ? `${displayName} has no memory of this chat`
        : `${displayName} could not take up its session again (${problem})`
    return `${why}, so it was handed a transcript of it.`
  }

  /** The same, when it has done with the prompt before: where it did not, and was ended for that, its next process. */
  async #rested(turn: AcpTurn, signal: AbortSignal): ReturnType<Work['talk']> {
    const talk = await this.talk(turn, signal)
    await talk.conversation.rested
    return talk.conversation.link.open ? talk : this.talk(turn, signal)
  }

  /** An agent that was told to stop, and does not, is ended: nobody hears what it does, and the next turn waits for it. */
  #stop(conversation: Conversation, turn: AcpTurn): void {
    if (!conversation.cancel(turn)) return
    const undo = this.#starter.means.later(restMs, () => void conversation.link.process.end())
    void conversation.rested.then(undo)
  }

  /** Sets the agent's session as people have set theirs. */
  async #tune(conversation: Conversation): Promise<void> {
    const { name } = this.#starter.program
    const chat = this.#chat
    const values = chat.session.config?.values ?? {}
    const wished = (knob: Knob) =>
      knob.isModel ? chat.state.activeTurn?.message.model?.id : values[keyOf(name, knob)]
    for (const knob of conversation.knobs) {
      const value = wished(knob)
      if ((typeof value !== 'string' && typeof value !== 'boolean') || value === knob.current) continue
      await conversation.set(knob, value).catch((error: unknown) => {
        if (!(error instanceof AhpError)) throw error
        throw this.#starter.failed(
          `it cannot be set to ${JSON.stringify(value)} (${error.message})`,
          'settings',
        )
      })
    }
    this.#sayKnobs(conversation.knobs)
  }

  async #prompt(
    conversation: Conversation,
    turn: AcpTurn,
    blocks: readonly ContentBlock[],
    signal: AbortSignal,
  ): Promise<void> {
    const { turnMs } = this.#starter.program
    const cancel = () => this.#stop(conversation, turn)
    signal.addEventListener('abort', cancel)
    let late = false
    const undo =
      turnMs === undefined
        ? () => {}
        : this.#starter.means.later(turnMs, () => {
            late = true
            cancel()
          })
    try {
      const prompted = await conversation.prompt(turn, blocks)
      await turn.end(prompted)
      if (turn.silent && !signal.aborted && prompted.stopReason !== 'cancelled')
        turn.note(this.#starter.silence(conversation.link.process.lastWords))
    } catch (error) {
      await turn.breakOff('the agent broke off')
      if (!late) throw error
    } finally {
      undo()
      signal.removeEventListener('abort', cancel)
    }
    if (!late) return
    const minutes = Math.round((turnMs ?? 0) / 60_000)
    throw this.#starter.failed(`it worked for longer than ${minutes} minutes`, 'time')
  }

  /** What the agent is really set to, as far as the session has a place for it. */
  #sayKnobs(knobs: readonly Knob[]): void {
    const { schema, values = {} } = this.#chat.session.config ?? {}
    const changed = knobs.flatMap((knob) => {
      const key = keyOf(this.#starter.program.name, knob)
      const known = schema && Object.hasOwn(schema.properties, key)
      return known && knob.current !== undefined && values[key] !== knob.current
        ? [[key, knob.current] as const]
        : []
    })
    if (changed.length > 0)
      this.#voice.say({ type: 'session/configChanged', config: Object.fromEntries(changed) })
  }

  /** Each time: a turn that was cancelled meanwhile may have lost the word. */
  #sayMemory(id: string, { mcpServers }: Surroundings): void {
    const memory: Memory = { id, servers: mcpServers.map(({ name }) => name) }
    if (!isDeepStrictEqual(memoryOf(this.#chat), memory))
      this.#voice.say({ type: 'session/metaChanged', _meta: { [metaKey(this.#chat.uri)]: memory } })
  }

  /** Which of the session's servers it was given, and which it cannot use. */
  #sayServers({ link, where }: Conversation): void {
    const { customizations } = this.#chat.session
    const can = link.initialized.agentCapabilities
    for (const server of this.#starter.means.mcpServers ?? []) {
      const shown = shownOf(server, customizations)
      // One that it cannot use is not given to it, and says so where it is on.
      const { mcpServers } = isUsable(server, can) ? where : this.#where
      const given = mcpServers.some(({ name }) => name === server.name)
      const state = stateOf(server, given, can)
      if (shown && !isDeepStrictEqual(shown.state, state))
        this.#voice.say({ type: 'session/mcpServerStateChanged', id: shown.id, state })
    }
  }

  #sayTitle(conversation: Conversation): void {
    const chat = this.#chat
    const title = wordOf(conversation.title, longestTitle)
    const isDefault = (chat.session.defaultChat ?? chat.uri) === chat.uri
    if (title !== undefined && isDefault && title !== chat.session.title)
      this.#voice.say({ type: 'session/titleChanged', title })
  }
}

/** Whether its agent has said anything: only then it surely has the message. */
function isBegun({ responseParts }: ActiveTurn): boolean {
  return responseParts.some(({ kind }) => kind !== 'error' && kind !== 'systemNotification')
}

/** What is known of the agent's session for a chat when its process has gone: its name, and the MCP servers that it was given. */
interface Memory {
  readonly id: string
  readonly servers: readonly string[]
}

function memoryOf({ uri, session }: Chat): Memory | undefined {
  const { id, servers } = (session._meta?.[metaKey(uri)] ?? {}) as Partial<Memory>
  return typeof id === 'string' && Array.isArray(servers) ? { id, servers } : undefined
}

function metaKey(chat: Uri): string {
  return `x-atrium.acp:${chat}`
}

const longestTitle = 200
const restMs = 10_000
