import type { Locator } from './browser.ts'
import { until } from './wait.ts'
import { texts } from './ui.ts'
import type { Ui } from './ui.ts'

/** The list of sessions beside the chat. */
export class SessionList {
  readonly #ui: Ui

  constructor(ui: Ui) {
    this.#ui = ui
  }

  async show(): Promise<void> {
    const { page } = this.#ui
    const viewer = page.locator('.agent-sessions-viewer').first()
    const visible = async () => (await viewer.count()) > 0 && (await viewer.isVisible())
    if (!(await visible())) await this.#ui.command('Show Agent Sessions Sidebar')
    await until(visible, 'the list of sessions is shown')
  }

  /** Returns one line per session: its title, and its status or age. Unfolds all groups of the list first. */
  async rows(): Promise<readonly string[]> {
    await this.#unfold()
    return texts(this.#rows())
  }

  /** Waits until a session with this title is listed. */
  async row(title: string): Promise<Locator> {
    await this.show()
    let seen: readonly string[] = []
    await until(
      async () => (seen = await this.rows()).some((row) => row.includes(title)),
      () => `a session "${title}" is listed; listed are: ${seen.join(' | ')}`,
    )
    return this.#rows().filter({ hasText: title }).first()
  }

  /** Waits until no session with this title is listed. */
  async gone(title: string): Promise<void> {
    await until(
      async () => !(await this.rows()).some((row) => row.includes(title)),
      `no session "${title}" is listed`,
    )
  }

  /** Returns the text of the row of a session. */
  async line(title: string): Promise<string> {
    return (await texts(await this.row(title)))[0] ?? ''
  }

  async open(title: string): Promise<void> {
    await (await this.row(title)).click()
  }

  /** Chooses an entry of the context menu of a session. */
  async choose(title: string, entry: string): Promise<void> {
    await this.#ui.pick(await this.row(title), entry, 'right')
  }

  #rows(): Locator {
    return this.#ui.page.locator('.agent-session-item-row')
  }

  async #unfold(): Promise<void> {
    const folded = this.#ui.page.locator('.agent-sessions-viewer .monaco-list-row[aria-expanded="false"]')
    for (let left = await folded.count(); left > 0; left--) await folded.first().click()
  }
}
