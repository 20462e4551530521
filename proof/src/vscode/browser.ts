import { createRequire } from 'node:module'
import type { Lab } from './lab.ts'

/**
 * The part of Playwright's interface that the driver uses. Playwright is no dependency of the project: it is
 * installed in the lab, a folder with everything that drives VS Code.
 */
export interface Locator {
  first(): Locator
  last(): Locator
  locator(selector: string, options?: Filter): Locator
  filter(options: Filter): Locator
  click(options?: { readonly button?: 'left' | 'right'; readonly timeout?: number }): Promise<void>
  hover(): Promise<void>
  count(): Promise<number>
  innerText(): Promise<string>
  allInnerTexts(): Promise<string[]>
  isVisible(): Promise<boolean>
  waitFor(options?: { readonly state?: 'visible' | 'hidden'; readonly timeout?: number }): Promise<void>
}

export interface Filter {
  readonly hasText?: string | RegExp
}

export interface Page {
  readonly keyboard: {
    press(key: string): Promise<void>
    type(text: string): Promise<void>
  }
  goto(url: string): Promise<unknown>
  locator(selector: string, options?: Filter): Locator
  screenshot(options: { readonly path: string }): Promise<unknown>
  evaluate<T>(code: string): Promise<T>
  setDefaultTimeout(ms: number): void
  on(event: 'console', listener: (message: { text(): string }) => void): unknown
}

/** A session of the DevTools protocol. */
export interface DevTools {
  send<T>(method: string, params?: object): Promise<T>
}

export interface BrowserContext {
  newPage(): Promise<Page>
  newCDPSession(page: Page): Promise<DevTools>
  close(): Promise<void>
}

export interface Browser {
  newContext(options: {
    readonly viewport: { readonly width: number; readonly height: number }
    readonly permissions?: readonly string[]
  }): Promise<BrowserContext>
  newBrowserCDPSession(): Promise<DevTools>
  close(): Promise<void>
}

interface Playwright {
  readonly chromium: {
    launch(options: {
      readonly executablePath: string
      readonly headless: boolean
      readonly args: readonly string[]
    }): Promise<Browser>
  }
}

/** Returns the ids of the processes that draw pages. */
export async function pageProcesses(browser: Browser): Promise<readonly number[]> {
  const tools = await browser.newBrowserCDPSession()
  const { processInfo } = await tools.send<{ readonly processInfo: readonly Process[] }>(
    'SystemInfo.getProcessInfo',
  )
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id)
}

interface Process {
  readonly type: string
  readonly id: number
}

/** Starts a headless Chromium. */
export async function startBrowser({ playwright, chromium: executablePath }: Lab): Promise<Browser> {
  // The package is in the lab and has types only there; `Playwright` describes what is used of it.
  const { chromium } = createRequire(playwright)('playwright-core') as Playwright
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run']
  return chromium.launch({ executablePath, headless: true, args })
}
