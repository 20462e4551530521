import type { HostedSession } from '@atrium/client/hosts'
import { FrameWriter } from './frame.ts'
import type { Frame } from './frame.ts'
import { exits, sentenceOf } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { FullScreen } from '../terminal/full-screen.ts'
import { Keyboard } from '../terminal/keys.ts'
import type { Key } from '../terminal/keys.ts'
import { onOneLine, styled, usesColour } from '../terminal/output.ts'
import { SessionActions } from './actions.ts'
import type { ManagedHosts } from './hosts.ts'
import { choose, chosenIndex, emptyList, keyOf, listed } from './list.ts'
import type { ListState } from './list.ts'
import { listKeys } from './list-keys.ts'
import { managerFrame, pagerFrame } from './manager-frame.ts'
import { pressPager } from './pager.ts'
import type { Pager } from './pager.ts'
import { Preview } from './preview.ts'
import { pressQuestion } from './question-line.ts'
import type { LineQuestion } from './question-line.ts'

/** All sessions on the whole screen: the list above, the end of the chosen session's chat below. */
export class SessionManager {
  readonly #hosts: ManagedHosts
  readonly #screen = new FullScreen(process.stdout)
  readonly #writer = new FrameWriter()
  readonly #keyboard: Keyboard
  readonly #coloured = usesColour(true, process.env)
  readonly #style = styled(this.#coloured)
  readonly #actions: SessionActions
  #list: ListState = emptyList
  #shown: readonly HostedSession[] = []
  #preview: { readonly key: string; readonly view: Preview } | undefined
  #pager: Pager | undefined
  #question: LineQuestion | undefined
  #message = ''
  /** Whether something else has the screen: a chat, or a terminal. */
  #away = false
  #drawing: NodeJS.Timeout | undefined
  #drawnAt = 0
  #resting: NodeJS.Timeout | undefined
  #finish: (exit: Exit) => void = () => {}

  constructor(hosts: ManagedHosts) {
    this.#hosts = hosts
    this.#message = hosts.problems.join(' ')
    this.#keyboard = new Keyboard(
      process.stdin,
      (text) => void process.stdout.write(text),
      (key) => this.#press(key),
    )
    this.#actions = new SessionActions(hosts, {
      style: this.#style,
      columns: () => this.#screen.size.columns,
      draw: () => this.#draw(),
      say: (text) => this.#say(text),
      ask: (question) => this.#ask(question),
      page: (pager) => this.#page(pager),
      choose: (host, resource) => void (this.#list = { ...this.#list, chosen: keyOf({ host, resource }) }),
      outside: (work) => this.#outside(work),
    })
  }

  /** Resolves when the user leaves. */
  async done(): Promise<Exit> {
    const finished = new Promise<Exit>((resolve) => (this.#finish = resolve))
    const end = this.#hosts.hosts.onChange(() => this.#draw())
    const resized = () => this.#draw()
    process.stdout.on('resize', resized)
    // The ages of the sessions change.
    const minute = setInterval(() => this.#draw(), 60_000)
    this.#screen.open()
    this.#keyboard.open()
    this.#draw()
    const exit = await finished
    clearInterval(minute)
    clearTimeout(this.#drawing)
    clearTimeout(this.#resting)
    end()
    process.stdout.off('resize', resized)
    this.#preview?.view.close()
    this.#keyboard.close()
    this.#screen.close()
    return exit
  }

  #press(key: Key): void {
    this.#message = ''
    if (this.#pager) this.#pager = pressPager(this.#pager, key, this.#screen.size)
    else if (this.#question) this.#question = pressQuestion(this.#question, key)
    else if (this.#answers(key)) this.#preview?.view.press(key)
    else this.#command(key)
    this.#draw()
  }

  /** Whether a key answers the question below the list. Keys that move in the list never do. */
  #answers(key: Key): boolean {
    const view = this.#preview?.view
    if (view?.asks !== true || this.#chosen === undefined) return false
    return view.types ? key.name !== 'ctrl-c' : key.name === 'text' && /^[ysanrev1-9]$/.test(key.text ?? '')
  }

  #command(key: Key): void {
    if (key.name === 'ctrl-z') {
      this.#screen.close()
      return this.#keyboard.suspend(() => this.#resume())
    }
    const command = listKeys(key)
    if (command === undefined) return
    if (command.kind === 'leave') return this.#finish(exits.ok)
    if (command.kind === 'move')
      return this.#move(command.to(this.#index, this.#listHeight, this.#shown.length))
    if (command.kind === 'click') return this.#click(command.row)
    if (command.kind === 'filter') return this.#filter()
    if (command.kind === 'archived')
      return void (this.#list = { ...this.#list, archived: !this.#list.archived })
    if (command.kind === 'clear') return void (this.#list = { ...this.#list, filter: '' })
    if (command.kind === 'action') void this.#actions.run(command.name, this.#chosen)
  }

  #filter(): void {
    const { filter } = this.#list
    this.#question = {
      label: '/',
      line: { text: filter, at: filter.length },
      changed: (text) => void (this.#list = { ...this.#list, filter: text, top: 0 }),
      done: (text) => void (this.#list = { ...this.#list, filter: text ?? filter }),
    }
  }

  #move(index: number): void {
    this.#list = choose(this.#list, this.#shown, index, this.#listHeight)
  }

  /** A click chooses the session of the row; a click on the chosen one opens it. */
  #click(row: number): void {
    const index = this.#list.top + row - 1
    if (row < 1 || row > this.#listHeight || this.#shown[index] === undefined) return
    if (index === this.#index) return void this.#actions.run('open', this.#chosen)
    this.#move(index)
  }

  get #index(): number {
    return chosenIndex(this.#shown, this.#list)
  }

  get #chosen(): HostedSession | undefined {
    return this.#shown[this.#index]
  }

  get #listHeight(): number {
    return this.#screen.size.rows - this.#previewHeight - 3
  }

  get #previewHeight(): number {
    const { rows } = this.#screen.size
    return Math.min(16, Math.max(2, Math.floor(rows * 0.4)))
  }

  /** Draws once for all changes that come together, and not before the terminal has taken the last frame. */
  #draw(): void {
    if (this.#away || this.#drawing) return
    const wait = Math.max(0, this.#drawnAt + frameMs - performance.now())
    this.#drawing = setTimeout(() => {
      this.#drawing = undefined
      if (this.#away) return
      this.#drawnAt = performance.now()
      if (this.#screen.waiting > 0) return this.#draw()
      this.#screen.write(this.#writer.write(this.#frame(), this.#screen.size))
    }, wait)
  }

  #frame(): Frame {
    if (this.#pager) return pagerFrame(this.#pager, this.#screen.size, this.#style)
    const all = this.#hosts.hosts.sessions
    this.#shown = listed(all, this.#list)
    this.#list = choose(this.#list, this.#shown, this.#index, this.#listHeight)
    this.#follow()
    return managerFrame({
      size: this.#screen.size,
      style: this.#style,
      all,
      shown: this.#shown,
      list: this.#list,
      listHeight: this.#listHeight,
      named: this.#hosts.several,
      away: this.#hosts.away,
      preview: this.#preview?.view.rows() ?? { rows: [this.#chosen ? this.#style.dim('…') : ''] },
      question: this.#question,
      message: this.#message,
      now: Date.now(),
    })
  }

  /** Shows the chat of the chosen session, as soon as the choice rests for a moment. */
  #follow(): void {
    const chosen = this.#chosen
    const key = chosen && keyOf(chosen)
    if (this.#preview?.key === key) return
    this.#preview?.view.close()
    this.#preview = undefined
    clearTimeout(this.#resting)
    const client = chosen && this.#hosts.hosts.client(chosen.host)
    if (!chosen || key === undefined || !client) return
    this.#resting = setTimeout(() => {
      if (this.#away || this.#preview || this.#chosen === undefined || keyOf(this.#chosen) !== key) return
      const view = new Preview({
        client,
        session: chosen,
        style: this.#style,
        coloured: this.#coloured,
        size: () => ({ columns: this.#screen.size.columns, rows: this.#previewHeight }),
        changed: () => this.#draw(),
      })
      this.#preview = { key, view }
      this.#draw()
    }, restMs)
  }

  #say(text: string): void {
    this.#message = onOneLine(text)
    this.#draw()
  }

  #ask(question: LineQuestion): void {
    this.#question = question
    this.#draw()
  }

  #page(pager: Pager): void {
    this.#pager = pager
    this.#draw()
  }

  /** Gives the terminal to something else. The list is back when it has ended; its error is shown below the list. */
  async #outside(work: () => Promise<unknown>): Promise<void> {
    this.#away = true
    this.#preview?.view.close()
    this.#preview = undefined
    this.#keyboard.close()
    this.#screen.close()
    try {
      await work()
    } catch (error) {
      this.#message = onOneLine(sentenceOf(error))
    }
    this.#away = false
    this.#keyboard.open()
    this.#resume()
  }

  #resume(): void {
    this.#screen.open()
    this.#writer.forget()
    this.#draw()
  }
}

/** The shortest time between two frames. */
const frameMs = 60
/** How long a choice rests before its chat is read: nobody reads the chats that an arrow key passes. */
const restMs = 120
