import { Failure } from '../agents/failure.ts'
import type { Locator, Page } from './browser.ts'
import { patience } from './wait.ts'

/** The parts of a workbench page that every view uses: the command palette, menus and dialogs. */
export class Ui {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** Runs a command of the command palette. */
  async command(title: string): Promise<void> {
    await this.page.keyboard.press('F1')
    const input = this.page.locator('.quick-input-widget .quick-input-box input')
    await input.first().waitFor()
    await this.page.keyboard.type(title)
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first()
    await row.click()
  }

  /** Opens a menu by clicking at something, and returns the texts of its rows. */
  async menu(opener: Locator, button: 'left' | 'right' = 'left'): Promise<readonly string[]> {
    await opener.click({ button, timeout: clickMs() })
    const rows = this.menuRows()
    await rows.first().waitFor({ timeout: clickMs() })
    return texts(rows)
  }

  /**
   * Opens a menu and clicks at one of its rows. A menu may be drawn anew while its rows still arrive, and one that was
   * just opened may ignore a click. Hence the attempts: the click has counted when the row is gone.
   */
  async pick(opener: Locator, label: string, button: 'left' | 'right' = 'left'): Promise<void> {
    let seen: readonly string[] = []
    for (let attempt = 1; attempt <= attempts; attempt++) {
      try {
        seen = await this.menu(opener, button)
        const row = this.menuRows().filter({ hasText: label }).first()
        await row.click({ timeout: clickMs() })
        await row.waitFor({ state: 'hidden', timeout: clickMs() })
        return
      } catch {
        await this.page.keyboard.press('Escape')
      }
    }
    throw new Failure(`the menu has no "${label}"; it has: ${seen.join(', ')}`)
  }

  menuRows(): Locator {
    return this.page.locator('.monaco-menu li.action-item, .action-widget .monaco-list-row')
  }

  /** Presses the button of a dialog. */
  async confirm(label: string): Promise<void> {
    await this.page.locator('.monaco-dialog-box .monaco-button', { hasText: label }).first().click()
  }
}

/** Milliseconds for one click at a row of a menu, and the number of attempts. */
const clickMs = () => patience.ms / 12
const attempts = 4

/** Returns the texts of all elements, each on one line; elements without text are left out. */
export async function texts(locator: Locator): Promise<readonly string[]> {
  return (await locator.allInnerTexts()).map(oneLine).filter((text) => text !== '')
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
