import type { BrowserContext, DevTools, Page } from './browser.ts'
import { ChatView } from './chat-view.ts'
import { FormView } from './form-view.ts'
import { SessionList } from './session-list.ts'
import { Ui } from './ui.ts'
import { patience, until } from './wait.ts'

/** One window of VS Code: a page in a browser context of its own. */
export class Window extends Ui {
  readonly name: string
  readonly chat: ChatView
  readonly list: SessionList
  readonly form: FormView
  /** The lines of the browser's console. */
  readonly console: string[] = []
  readonly #context: BrowserContext
  #tools: DevTools | undefined
  #url = ''

  private constructor(name: string, context: BrowserContext, page: Page) {
    super(page)
    this.name = name
    this.#context = context
    this.chat = new ChatView(this)
    this.list = new SessionList(this)
    this.form = new FormView(this)
    page.setDefaultTimeout(patience.ms)
    page.on('console', (message) => this.console.push(message.text()))
  }

  static async open(name: string, context: BrowserContext, url: string): Promise<Window> {
    const window = new Window(name, context, await context.newPage())
    window.#url = url
    await window.load()
    return window
  }

  /** Opens the page anew, and waits until the workbench has connected to the host. */
  async load(): Promise<void> {
    const connectedBefore = this.#connections
    await this.page.goto(this.#url)
    await until(() => this.#connections > connectedBefore, 'the workbench connects to the host')
    await this.page.locator('.interactive-input-part').first().waitFor()
    // The extensions have started once git shows its branch. The workbench may replace an empty chat until then.
    await this.page.locator('.statusbar-item', { hasText: 'master' }).first().waitFor()
  }

  /** Gives the page only a part of the processor: 1 is all, 50 a fiftieth. */
  async slowDown(rate: number): Promise<void> {
    this.#tools ??= await this.#context.newCDPSession(this.page)
    await this.#tools.send('Emulation.setCPUThrottlingRate', { rate })
  }

  async picture(path: string): Promise<void> {
    await this.page.screenshot({ path })
  }

  async close(): Promise<void> {
    await this.#context.close()
  }

  get #connections(): number {
    return this.console.filter((line) => line.includes('[AgentHost:remote] Connected')).length
  }
}
