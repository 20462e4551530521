import type { Uri } from '@atrium/protocol/channel'
import type { BackgroundWork } from '@atrium/protocol/chat/state'
import { wakeIfSound } from '../../channels/wake.ts'
import { RecordMap, textFormat } from '../../kernel/record-map.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { defineKey } from '../../kernel/key.ts'
import { labelOf } from './label.ts'

/** A command that was left running, and what users are shown of it. */
interface LeftCommand {
  readonly terminal: Uri
  readonly command: string
  /** Resolves when the command has ended. */
  readonly ended: Promise<void>
}

/**
 * The work of chats that runs on after their turns. The state of a chat lists it. Which chats have some is also stored, because the work
 * ends with the host, and the next start must say so.
 */
export class Background {
  readonly #core: Core
  /** The chats with work. Only the keys matter. */
  readonly #chats: RecordMap<string>

  private constructor(core: Core, chats: RecordMap<string>) {
    this.#core = core
    this.#chats = chats
  }

  static async open(core: Core): Promise<Background> {
    return new Background(core, await RecordMap.open(core.records, 'background/', textFormat))
  }

  /** Shows a command of the chat's turn as work that runs on, until it ends. Its terminal is the id of the work. */
  leave(chat: Channel<'chat'>, { terminal, command, ended }: LeftCommand): void {
    const { log, world, jobs } = this.#core
    const startedAt = new Date(world.now()).toISOString()
    const work = {
      kind: 'shell',
      id: terminal,
      label: labelOf(command),
      command,
      terminal,
      startedAt,
    } as const
    this.#chats.set(chat.uri, '')
    log.append(chat, { type: 'chat/backgroundWorkSet', work })
    ended
      // What ends because the host does is found by the next start.
      .then(() => (jobs.stopping ? undefined : this.#end(chat.uri, ({ id }) => id === terminal)))
      .catch((error: unknown) => world.report('background work not ended', error))
  }

  /** Work of an earlier run of the host has ended with it. */
  async recover(): Promise<void> {
    for (const uri of this.#chats.keys()) await this.#end(uri, () => true)
  }

  async #end(uri: Uri, hasEnded: (work: BackgroundWork) => boolean): Promise<void> {
    const { log } = this.#core
    const chat = await wakeIfSound(this.#core, uri)
    const all = (chat?.is('chat') && chat.head.backgroundWork) || []
    const ended = all.filter(hasEnded)
    if (chat?.is('chat'))
      for (const { id } of ended) log.append(chat, { type: 'chat/backgroundWorkRemoved', id })
    if (ended.length === all.length && this.#chats.delete(uri)) log.scheduleFlush()
  }
}

export const backgroundOf = defineKey<Background>('background')
