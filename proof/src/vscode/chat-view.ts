import type { Locator } from './browser.ts'
import { until } from './wait.ts'
import { oneLine, texts } from './ui.ts'
import type { Ui } from './ui.ts'

/** The chat of a window: what it shows, and what a user does in it. */
export class ChatView {
  readonly #ui: Ui

  constructor(ui: Ui) {
    this.#ui = ui
  }

  /** The chat in the side bar. */
  get root(): Locator {
    return this.#ui.page.locator('.interactive-session').first()
  }

  /** Begins a session with the guide, the built-in agent. The first prompt becomes its title. */
  async start(prompt: string): Promise<void> {
    await this.fresh()
    await this.send(prompt)
  }

  /** Shows an empty chat with the guide. */
  async fresh(): Promise<void> {
    const { page } = this.#ui
    const plus = page.locator('.action-label[aria-label^="New Chat ("]:visible')
    await plus.first().click()
    await until(async () => (await this.items()).length === 0, 'the new chat is empty')
    await this.#harness()
  }

  /** Types into the input. Replaces what was there before. */
  async type(text: string): Promise<void> {
    await this.input().click()
    await this.#ui.page.keyboard.press('Control+A')
    await this.#ui.page.keyboard.type(text)
  }

  async send(text: string): Promise<void> {
    await this.type(text)
    await until(
      async () => oneLine(await this.input().innerText()).includes(oneLine(text)),
      `"${text}" is typed`,
    )
    await this.#ui.page.keyboard.press('Enter')
  }

  /** Sends a message and waits for the answer. */
  async ask(text: string, answer: string): Promise<void> {
    await this.send(text)
    await this.shows(answer)
    await this.idle()
  }

  input(): Locator {
    return this.#ui.page.locator('.interactive-input-part .monaco-editor').first()
  }

  /** Returns the requests and responses, as far as they are on the screen, each on one line. */
  async items(): Promise<readonly string[]> {
    return texts(this.root.locator('.monaco-list-rows .interactive-item-container'))
  }

  /** Returns the requests on the screen. */
  async requests(): Promise<readonly string[]> {
    return texts(this.root.locator('.monaco-list-rows .interactive-request'))
  }

  /** Returns the newest response. */
  async answer(): Promise<string> {
    return (await texts(this.root.locator('.monaco-list-rows .interactive-response'))).at(-1) ?? ''
  }

  /** Waits until the chat shows a text. */
  async shows(text: string): Promise<void> {
    let seen: readonly string[] = []
    await until(
      async () => (seen = await this.items()).some((item) => item.includes(text)),
      () => `the chat shows "${text}"; it shows: ${seen.join(' | ').slice(-400)}`,
    )
  }

  /** Waits until a response shows a text; a request that contains it does not count. */
  async answers(text: string): Promise<void> {
    const responses = this.root.locator('.monaco-list-rows .interactive-response')
    let seen: readonly string[] = []
    await until(
      async () => (seen = await texts(responses)).some((item) => item.includes(text)),
      () => `a response shows "${text}"; the responses are: ${seen.join(' | ').slice(-400)}`,
    )
  }

  /** Waits until a turn has ended with an answer that has this text. */
  async ends(text: string): Promise<void> {
    await this.answers(text)
    await this.idle()
  }

  /** Starts a chat, and waits until its first turn has ended with an answer that has this text. */
  async turn(prompt: string, answer: string): Promise<void> {
    await this.start(prompt)
    await this.ends(answer)
  }

  /** Waits until no turn is active. */
  async idle(): Promise<void> {
    await until(async () => !(await this.busy()), 'the turn ends')
  }

  async busy(): Promise<boolean> {
    const page = this.#ui.page
    const loading = await this.root.locator('.interactive-response.chat-response-loading').count()
    return loading > 0 || (await page.locator('.chat-execute-toolbar [aria-label^="Cancel"]').count()) > 0
  }

  /** Cancels the active turn. */
  async stop(): Promise<void> {
    await this.#ui.page.locator('.chat-execute-toolbar [aria-label^="Cancel"]').first().click()
  }

  /** Waits until the newest response shows that it broke off. */
  async interrupted(): Promise<void> {
    await this.root.locator('.interactive-response .monaco-button', { hasText: resumeLabel }).last().waitFor()
  }

  /** Resumes a turn that broke off. */
  async resume(): Promise<void> {
    await this.root.locator('.interactive-response .monaco-button', { hasText: resumeLabel }).last().click()
  }

  /** Unfolds the steps of the newest response. */
  async unfold(): Promise<void> {
    await this.root.locator('.completed-response-summary').last().click()
  }

  /** Opens the changes of the newest response in a diff editor, and waits until it shows the text. */
  async openDiff(text: string): Promise<void> {
    await this.root.locator('.interactive-response .chat-thinking-box .monaco-button').last().click()
    const editor = this.#ui.page.locator('.multiDiffEditor .view-lines', { hasText: text })
    await editor.first().waitFor()
  }

  /** Opens a file of the list of changes below the newest response, and waits until a diff editor shows the text. */
  async openTurnChange(name: string, text: string): Promise<void> {
    const response = this.root.locator('.interactive-response').last()
    await response.locator('text=/^\\d+ files? changed/').last().click()
    await response.locator('.monaco-list-row', { hasText: name }).last().click()
    await this.#ui.page.locator('.monaco-diff-editor .view-lines', { hasText: text }).last().waitFor()
  }

  /** Returns the open request for approval. */
  async confirmation(): Promise<Locator> {
    const widget = this.#ui.page.locator('.chat-confirmation-widget2').last()
    await widget.waitFor()
    return widget
  }

  /** Presses a button of the open request for approval. */
  async decide(label: string): Promise<void> {
    const widget = await this.confirmation()
    await widget.locator('.monaco-text-button', { hasText: label }).first().click()
  }

  /** Chooses from the menu beside a button of the open request for approval. */
  async decideByMenu(button: 'allow' | 'deny', label: string): Promise<void> {
    const widget = await this.confirmation()
    const side =
      button === 'allow' ? '.monaco-dropdown-button:not(.secondary)' : '.monaco-dropdown-button.secondary'
    await this.#ui.pick(widget.locator(side).first(), label)
  }

  /** Sends the typed text by an entry of the menu beside the send button. */
  async sendBy(entry: string): Promise<void> {
    await this.#ui.pick(this.#ui.page.locator('.chat-execute-toolbar .codicon-chevron-down').first(), entry)
  }

  /** Chooses a model by the picker. */
  async chooseModel(name: string): Promise<void> {
    const picker = this.#ui.page.locator('.interactive-input-part [aria-label^="Models"]').first()
    const rows = await this.#ui.menu(picker)
    // Models that were not used lately are folded.
    if (!rows.includes(name)) await this.#ui.menuRows().filter({ hasText: 'Other Models' }).first().click()
    await this.#ui.menuRows().filter({ hasText: name }).first().click()
  }

  /** Attaches something by the menu of the plus sign. */
  async attach(kind: string, name: string): Promise<void> {
    await this.#ui.page.locator('.interactive-input-part [aria-label^="Add Context"]').first().click()
    const rows = this.#ui.page.locator('.quick-input-list .monaco-list-row')
    await rows.filter({ hasText: kind }).first().click()
    await rows.filter({ hasText: 'Go back' }).first().waitFor()
    await this.#ui.page.keyboard.type(name)
    await rows.filter({ hasText: name }).first().click()
    await this.#ui.page.locator('.chat-attached-context-attachment', { hasText: name }).first().waitFor()
  }

  /** Presses a button that a request shows while the mouse is over it. */
  async onRequest(text: string, button: 'Restore Checkpoint' | 'Fork Conversation'): Promise<void> {
    const request = this.root.locator('.monaco-list-rows .interactive-request', { hasText: text }).last()
    await request.hover()
    const label = button === 'Restore Checkpoint' ? 'Restores workspace and chat' : 'Fork conversation'
    await request.locator(`[aria-label^="${label}"]`).first().click()
  }

  /** Returns the suggestions that the input shows for what was typed. */
  async suggestions(): Promise<readonly string[]> {
    return texts(this.#ui.page.locator('.suggest-widget.visible .monaco-list-row'))
  }

  async #harness(): Promise<void> {
    const { page } = this.#ui
    const part = page.locator('.interactive-input-part').first()
    const shown = async () => oneLine(await part.innerText())
    await until(async () => /Local|Atrium Guide/.test(await shown()), 'the input shows its agent')
    // Clears the input: text that a failed step has left there would hide the hint that names the agent.
    await this.input().click()
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    if (!(await shown()).includes('Atrium Guide')) {
      await this.#ui.pick(part.locator('text="Local"').last(), 'Atrium Guide')
    }
    await until(async () => (await shown()).includes('Chat with Atrium Guide'), 'the input is for the guide')
  }
}

/** The button on a response that broke off. */
const resumeLabel = /Continue|Resume|Try Again|Retry/
