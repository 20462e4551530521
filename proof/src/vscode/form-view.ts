import type { Locator } from './browser.ts'
import { until } from './wait.ts'
import { oneLine } from './ui.ts'
import type { Ui } from './ui.ts'

/** A form of an agent, as VS Code shows it: one question at a time. */
export class FormView {
  readonly #ui: Ui

  constructor(ui: Ui) {
    this.#ui = ui
  }

  /** Returns the text of the shown question, or an empty text if there is no form. */
  async text(): Promise<string> {
    return (await this.#root.count()) === 0 ? '' : oneLine(await this.#root.innerText())
  }

  /** Waits until the form shows a question. */
  async question(text: string): Promise<void> {
    let seen = ''
    await until(
      async () => (seen = await this.text()).includes(text),
      () => `the form asks "${text}"; it shows: ${seen}`,
    )
  }

  /** Types an answer, and goes on to the next question. */
  async type(question: string, answer: string): Promise<void> {
    await this.question(question)
    await this.#root.locator('input, textarea').first().click()
    await this.#ui.page.keyboard.type(answer)
    await this.#ui.page.keyboard.press('Enter')
  }

  /** Leaves a question unanswered. */
  async skip(question: string): Promise<void> {
    await this.question(question)
    await this.#root.locator('.chat-question-nav-next').click()
  }

  /** Chooses an option. A single choice goes on to the next question. */
  async choose(question: string, label: string): Promise<void> {
    await this.question(question)
    await this.#root.locator('.chat-question-list-item', { hasText: label }).first().click()
  }

  /** Types beside the options of a question. */
  async add(question: string, text: string): Promise<void> {
    await this.question(question)
    await this.#root.locator('textarea').first().click()
    await this.#ui.page.keyboard.type(text)
  }

  async submit(): Promise<void> {
    await this.#root.locator('.chat-question-submit-button').click()
  }

  get #root(): Locator {
    return this.#ui.page
      .locator('.chat-question-carousel-widget-container .chat-question-carousel-container')
      .first()
  }
}
