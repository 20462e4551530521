import type { CanvasState } from '@atrium/protocol/canvas/state'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { compact } from '@atrium/protocol/update'
import { canvasUri } from '@atrium/protocol/uri'
import { wakeIfSound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import { defineKey } from '../../kernel/key.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { unloaded } from '../../kernel/log/channel.ts'
import { RecordMap, textFormat } from '../../kernel/record-map.ts'
import { labelOf } from '../background/label.ts'
import { outputOf } from '../terminal/execute.ts'
import { plainText } from '../terminal/plain-text.ts'
import { addressesIn } from './address.ts'
import type { Address } from './address.ts'
import { OutputLines } from './output-lines.ts'

/** Whether something on this machine listens at a port. It is asked by a connection that sends nothing. */
export type Listens = (host: string, port: number) => Promise<boolean>

/** A command of a tool that runs. */
interface RunningCommand {
  readonly terminal: Channel<'terminal'>
  readonly command: string
  /** Resolves when the command has ended. */
  readonly ended: Promise<void>
}

interface Followed {
  readonly chat: Uri
  readonly title: string
  readonly lines: OutputLines
  readonly ports: Set<number>
  readonly canvases: Uri[]
  /** Whether the command has ended. */
  over: boolean
}

/**
 * The canvases of chats: servers on this machine that commands of their tools have started, found by the addresses that the commands
 * print. The address is only in memory, because it may hold a secret and is of no use after the command has ended.
 */
export class Canvases {
  readonly #core: Core
  readonly #listens: Listens
  /** The canvases that there are, each with its chat, so that the next start of the host removes them. Only the keys matter. */
  readonly #stored: RecordMap<string>
  /** The commands whose output is read, by their terminals. */
  readonly #commands = new Map<Uri, Followed>()

  private constructor(core: Core, listens: Listens, stored: RecordMap<string>) {
    this.#core = core
    this.#listens = listens
    this.#stored = stored
  }

  static async open(core: Core, listens: Listens): Promise<Canvases> {
    return new Canvases(core, listens, await RecordMap.open(core.records, 'canvas/', textFormat))
  }

  /** Looks for addresses of servers in the output of a command, from now on until the command ends. */
  follow(chat: Uri, { terminal, command, ended }: RunningCommand): void {
    const followed: Followed = {
      chat,
      title: labelOf(command),
      lines: new OutputLines(),
      ports: new Set(),
      canvases: [],
      over: false,
    }
    this.#commands.set(terminal.uri, followed)
    // What the command has written before this: the rest comes with `read`.
    for (const part of terminal.committed?.content ?? []) this.#find(followed, outputOf(part))
    ended
      .then(() => this.#end(terminal.uri, followed))
      .catch((error: unknown) => this.#core.world.report('canvas not removed', error))
  }

  read(terminal: Uri, output: string): void {
    const followed = this.#commands.get(terminal)
    if (followed) this.#find(followed, output)
  }

  /** Canvases of an earlier run of the host have ended with it. */
  async recover(): Promise<void> {
    for (const key of this.#stored.keys()) {
      const [canvas = '', chat = ''] = partsOf(key)
      await this.#remove(chat, [canvas])
    }
  }

  #find(followed: Followed, output: string): void {
    for (const line of followed.lines.read(output))
      for (const address of addressesIn(plainText(line))) {
        const { ports } = followed
        if (ports.has(address.port) || ports.size >= this.#core.limits.commandAddresses) continue
        ports.add(address.port)
        this.#await(followed, address).catch((error: unknown) =>
          this.#core.world.report('canvas not shown', error),
        )
      }
  }

  /** Shows an address as soon as something listens there. A program may print it before it listens. */
  async #await(followed: Followed, address: Address): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) {
      const answers = await this.#ask(followed, address, retryMs)
      if (answers === undefined) return
      if (answers) return this.#show(followed, address)
    }
    // The program may print it again when it listens.
    followed.ports.delete(address.port)
  }

  async #show(followed: Followed, address: Address): Promise<void> {
    const { log, world, jobs } = this.#core
    const chat = await wakeIfSound(this.#core, followed.chat)
    if (!chat?.is('chat') || followed.over || jobs.stopping) return
    const id = world.id()
    const resource = canvasUri(id)
    const about: CanvasState = {
      instanceId: id,
      extensionId: 'x-atrium.servers',
      extensionName: 'Servers of commands',
      canvasId: 'server',
      title: followed.title,
    }
    followed.canvases.push(resource)
    this.#stored.set(keyOf(resource, chat.uri), '')
    const canvas = log.create(resource, 'canvas', about)
    // As a job it stays in memory, so that its state is never written.
    jobs.begin(resource, { stop: () => {} })
    const tell = (state: object) =>
      log.append(canvas, { type: 'canvas/stateChanged', canvas: { ...about, ...state } })
    const { url } = address
    tell({ status: 'running', url })
    log.append(chat, canvasesOfChat([...(chat.head.canvases ?? []), { resource }]))
    for (let before = true; ;) {
      const answers = await this.#ask(followed, address, checkMs)
      if (answers === undefined) return
      if (answers !== before) tell(answers ? { status: 'running', url } : { status: 'not answering' })
      before = answers
    }
  }

  /** Whether something listens at an address after a pause. Undefined if the command has ended. */
  async #ask(followed: Followed, { host, port }: Address, pauseMs: number): Promise<boolean | undefined> {
    const { world, jobs } = this.#core
    const isOver = () => followed.over || jobs.stopping
    await new Promise<void>((resolve) => void world.later(pauseMs, resolve))
    const answers = !isOver() && (await this.#listens(host, port))
    return isOver() ? undefined : answers
  }

  async #end(terminal: Uri, followed: Followed): Promise<void> {
    followed.over = true
    this.#commands.delete(terminal)
    // What ends because the host does is found by the next start.
    if (followed.canvases.length > 0 && !this.#core.jobs.stopping)
      await this.#remove(followed.chat, followed.canvases)
  }

  /** Removes canvases of a chat in one step. The chat may be gone. */
  async #remove(uri: Uri, canvases: readonly Uri[]): Promise<void> {
    const { log, jobs } = this.#core
    const chat = await wakeIfSound(this.#core, uri)
    const before = (chat?.is('chat') && chat.head.canvases) || []
    const rest = before.filter(({ resource }) => !canvases.includes(resource))
    if (chat?.is('chat') && rest.length < before.length) log.append(chat, canvasesOfChat(rest))
    for (const canvas of canvases) {
      jobs.stop(canvas)
      log.drop(log.channel(canvas) ?? unloaded(canvas, 'canvas'))
      this.#stored.delete(keyOf(canvas, uri))
    }
  }
}

export const canvasesOf = defineKey<Canvases | undefined>('canvases')

function canvasesOfChat(canvases: readonly { readonly resource: Uri }[]): ChatAction {
  const some = canvases.length > 0 ? canvases : undefined
  return compact<ChatAction>({ type: 'chat/canvasesChanged', canvases: some })
}

/** The URI of a canvas is made by the host and has no space. That of a chat may have one. */
const keyOf = (canvas: Uri, chat: Uri) => `${canvas} ${chat}`

function partsOf(key: string): readonly string[] {
  const at = key.indexOf(' ')
  return [key.slice(0, at), key.slice(at + 1)]
}

const retryMs = 500
const maxTries = 20
/** The time between two looks at a server that is shown. */
const checkMs = 5000
