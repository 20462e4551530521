import type { Client } from '@atrium/client/client'
import type { HostedSession } from '@atrium/client/hosts'
import { newId } from '@atrium/client/shared/globals'
import type { Uri } from '@atrium/protocol/channel'
import type { SessionAction } from '@atrium/protocol/session/actions'
import { fileUri } from '@atrium/protocol/file-uri'
import { primaryChat } from '@atrium/protocol/session/primary-chat'
import { Flag, hasFlag } from '@atrium/protocol/status'
import { defaultChatUri, rootUri, sessionUri } from '@atrium/protocol/uri'
import { attach } from '../commands/attach.ts'
import { fileText } from '../commands/changes/diff.ts'
import { undoTurn } from '../commands/changes/undo.ts'
import { helpLines } from '../live/help.ts'
import { assertAccepted } from '../link/dispatch.ts'
import { changesetOf } from '../session/changes.ts'
import { messageOf } from '../session/steering.ts'
import { emptyLine, lineOf } from '../render/line.ts'
import { CommandError, sentenceOf } from '../terminal/exit.ts'
import { onOneLine } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import { managerHelp } from './help.ts'
import type { ManagedHosts } from './hosts.ts'
import type { Pager } from './pager.ts'
import type { LineQuestion } from './question-line.ts'
import { useShell } from './shell.ts'

export type ActionName =
  | 'open'
  | 'begin'
  | 'diff'
  | 'undo'
  | 'terminal'
  | 'cancel'
  | 'rename'
  | 'archive'
  | 'help'

/** What an action may do with the screen of the manager. */
interface ManagerScreen {
  readonly style: Style
  columns(): number
  draw(): void
  say(text: string): void
  ask(question: LineQuestion): void
  page(pager: Pager): void
  /** Chooses a session in the list. */
  choose(host: string, session: Uri): void
  outside(work: () => Promise<unknown>): Promise<void>
}

/** What can be done with the chosen session. An error is a sentence below the list. */
export class SessionActions {
  readonly #hosts: ManagedHosts
  readonly #screen: ManagerScreen

  constructor(hosts: ManagedHosts, screen: ManagerScreen) {
    this.#hosts = hosts
    this.#screen = screen
  }

  async run(name: ActionName, session: HostedSession | undefined): Promise<void> {
    try {
      if (name === 'help') return this.#help()
      if (name === 'begin') return this.#begin(session)
      const client = session && this.#hosts.hosts.client(session.host)
      if (session && client) await this.#table[name](client, session)
    } catch (error) {
      this.#screen.say(sentenceOf(error))
    }
  }

  readonly #table: {
    readonly [N in Exclude<ActionName, 'help' | 'begin'>]: (
      client: Client,
      session: HostedSession,
    ) => Promise<void> | void
  } = {
    open: (_, { host, resource }) => this.#screen.outside(() => attach(resource, this.#hosts.options(host))),
    terminal: (client, session) => this.#screen.outside(() => useShell(client, session)),
    diff: (client, session) => this.#diff(client, session),
    undo: (client, session) => this.#undo(client, session),
    cancel: (client, session) => this.#cancel(client, session),
    rename: (client, session) => this.#rename(client, session),
    archive: (client, session) => this.#archive(client, session),
  }

  #help(): void {
    const lines = helpLines(managerHelp, this.#screen.columns())
    this.#screen.page({ title: 'The keys', lines, top: 0 })
  }

  async #diff(client: Client, session: HostedSession): Promise<void> {
    this.#screen.say('Reading the changes…')
    const { state, folders } = await changesetOf(client, targetOf(session), 'session')
    const texts: string[] = []
    for (const file of state.files) texts.push(await fileText(client, file, folders, this.#screen.style))
    if (texts.length === 0) return this.#screen.say('This session has changed no file.')
    this.#screen.say('')
    const title = `Changes of ${onOneLine(session.title) || '(no title)'}`
    this.#screen.page({ title, lines: texts.join('\n').split('\n'), top: 0 })
  }

  #undo(client: Client, { resource, title }: HostedSession): void {
    this.#confirm(`Undo the last turn of "${onOneLine(title)}"?`, async () => {
      this.#screen.say('Undoing…')
      const given = { session: resource, files: [], flags: {}, note: () => {} }
      this.#screen.say((await undoTurn(client, given)).join(' '))
    })
  }

  async #cancel(client: Client, session: HostedSession): Promise<void> {
    const { chat } = targetOf(session)
    const handle = client.subscribe('chat', chat, { view: { turns: 1 } })
    try {
      const { activeTurn } = await handle.ready()
      if (!activeTurn) throw new CommandError('No turn is active in this session.')
      const duration = Math.max(0, Date.now() - Date.parse(activeTurn.startedAt)) || 0
      assertAccepted(await handle.dispatch({ type: 'chat/turnCancelled', turnId: activeTurn.id, duration }))
    } finally {
      handle.release()
    }
  }

  #rename(client: Client, { resource, title: old }: HostedSession): void {
    const done = (text?: string) =>
      this.#tell(async () => {
        const title = text?.trim() ?? ''
        const action: SessionAction = { type: 'session/titleChanged', title }
        if (title !== '' && title !== old) assertAccepted(await client.dispatch(resource, action))
      })
    this.#screen.ask({ label: 'Title:', line: lineOf(onOneLine(old)), done })
  }

  async #archive(client: Client, { resource, status }: HostedSession): Promise<void> {
    const isArchived = !hasFlag(status, Flag.IsArchived)
    const action: SessionAction = { type: 'session/isArchivedChanged', isArchived }
    assertAccepted(await client.dispatch(resource, action))
    this.#screen.say(isArchived ? 'Archived; A shows archived sessions, too.' : 'Back in the list.')
  }

  /** Asks for the first message of a new session on the host of the chosen one, and opens the session. */
  #begin(chosen: HostedSession | undefined): void {
    const host = chosen?.host ?? this.#hosts.first
    const client = this.#hosts.hosts.client(host)
    if (!client) return
    const root = client.subscribe('root', rootUri)
    root.onChange(() => this.#screen.draw())
    // A host elsewhere may not have the folder of this command, and chooses one itself.
    const isLocal = this.#hosts.options(host).host === undefined
    const folder = isLocal ? process.cwd() : undefined
    const agents = () => (root.state?.agents ?? []).map(({ provider }) => provider)
    let agent = 0
    const hint = () => {
      const names = agents()
      const name = names.length === 0 ? '' : `${onOneLine(names[agent % names.length] ?? '')} (Tab)`
      return [name, folder ?? host].filter((text) => text !== '').join(' · ')
    }
    const done = (text?: string) =>
      this.#tell(async () => {
        const provider = agents()[agent % Math.max(1, agents().length)]
        root.release()
        if (text !== undefined && text.trim() !== '')
          await this.#create(client, host, { text, provider, folder })
      })
    const tab = () => void agent++
    this.#screen.ask({ label: 'New:', line: emptyLine, hint, done, tab })
  }

  async #create(
    client: Client,
    host: string,
    { text, provider, folder }: { text: string; provider: string | undefined; folder: string | undefined },
  ): Promise<void> {
    const channel = sessionUri(newId())
    await client.ask('createSession', {
      channel,
      ...(provider !== undefined && { provider }),
      ...(folder !== undefined && { workingDirectories: [fileUri(folder)] }),
    })
    const session = client.subscribe('session', channel)
    try {
      const chat = primaryChat(await session.ready()) ?? defaultChatUri(channel)
      const startedAt = new Date().toISOString()
      const turn = { type: 'chat/turnStarted', turnId: newId(), startedAt, message: messageOf(text) } as const
      assertAccepted(await client.dispatch(chat, turn))
    } finally {
      session.release()
    }
    this.#screen.choose(host, channel)
    await this.#screen.outside(() => attach(channel, this.#hosts.options(host)))
  }

  #confirm(question: string, work: () => Promise<void>): void {
    const done = (text?: string) => void (text !== undefined && this.#tell(work))
    this.#screen.ask({ label: question, line: emptyLine, hint: () => 'y yes · n no', yesOrNo: true, done })
  }

  /** Runs work in the background. Its error is a sentence below the list. */
  #tell(work: () => Promise<void>): void {
    void work().catch((error: unknown) => this.#screen.say(sentenceOf(error)))
  }
}

function targetOf(session: HostedSession) {
  return { session, chat: primaryChat(session) ?? defaultChatUri(session.resource), chatOnly: false }
}
