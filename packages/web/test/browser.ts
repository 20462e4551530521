import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { AgentSettings } from '@atrium/adapters/acp/registry'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { HostProcess } from '../../cli/test/host-process.ts'

/**
 * The Chromium of this machine, by `ATRIUM_CHROMIUM` or on the PATH. Undefined if there is none, or if the variable is
 * empty.
 */
const whole =
  (process.env['ATRIUM_CHROMIUM'] ?? found(['chromium', 'chromium-browser', 'google-chrome'])) || undefined
/** The browser of the tests. The shell is Chromium without windows and notifications, and takes a third less CPU time. */
let program =
  process.env['ATRIUM_CHROMIUM'] === undefined ? (found(['chromium-headless-shell']) ?? whole) : whole

/** Makes the tests of this file use the whole browser. A test file calls this at its beginning. */
export function needsNotifications(): void {
  const usual = program
  beforeAll(() => void (program = whole))
  afterAll(() => void (program = usual))
}

/** A test in a real browser. It skips itself where there is no Chromium, or no git if it needs git, and is counted. */
export function browserTest(
  name: string,
  body: () => Promise<void>,
  { git = true }: { readonly git?: boolean } = {},
): void {
  test(name, async ({ skip }) => {
    if (program === undefined) skip('skipped: no chromium')
    if (!git) skip('skipped: no git')
    await body()
  })
}

/** The time in which a state must come, also on a machine that is busy. */
const patientMs = 120_000

/** Expects something of a value that is read again until it holds. */
export function eventually<T>(read: () => T | Promise<T>): ReturnType<typeof expect.poll<T>> {
  return expect.poll(read, { timeout: patientMs })
}

/** Writes a text into the message field, and waits until an option is suggested for it. */
export async function writeUntilSuggested(page: Page, text: string, option: Locator): Promise<void> {
  await messageField(page).fill('')
  await messageField(page).pressSequentially(text)
  await option.waitFor()
}

/** The field for the next message of the open session. */
export function messageField(page: Page): Locator {
  return page.getByLabel('Message', { exact: true }).filter({ visible: true })
}

/** The problems of a page: what no test may cause. */
interface Watched {
  readonly problems: string[]
}

const watched = new WeakMap<Page, Watched>()
/** The browsers of this worker, by program. They are used by all files that it runs, and end with it. */
const running = new Map<string, Promise<Browser>>()

/** A host with its data folder, and pages of browsers. */
export class Room {
  readonly home = mkdtempSync(join(tmpdir(), 'atrium-web-'))
  readonly #agents: AgentSettings | undefined
  #host: HostProcess | undefined

  constructor(agents?: AgentSettings) {
    this.#agents = agents
  }

  /** `agents`: the agents besides the guide. `config`: the config file of the host. */
  static async open(flags: readonly string[] = [], agents?: AgentSettings, config?: object): Promise<Room> {
    const room = new Room(agents)
    onTestFinished(async () => {
      await room.#host?.kill()
      rmSync(room.home, { recursive: true, force: true, maxRetries: 5 })
    })
    mkdirSync(room.folder)
    if (config) {
      mkdirSync(join(room.home, '.config/atrium'), { recursive: true })
      writeFileSync(join(room.home, '.config/atrium/config.json'), JSON.stringify(config))
    }
    await room.start(flags)
    return room
  }

  /** The folder of the sessions. */
  get folder(): string {
    return join(this.home, 'project')
  }

  get host(): HostProcess {
    if (!this.#host) throw new Error('the host does not run')
    return this.#host
  }

  /** The address of the page. */
  get address(): string {
    return this.host.url.replace(/^ws/, 'http')
  }

  /** Starts the host, at the port of the last one. */
  async start(flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<void> {
    const port = this.#host ? ['--port', new URL(this.address).port] : []
    const where = ['--default-directory', this.folder]
    const all = [...where, ...port, ...flags]
    this.#host = await HostProcess.start(this.home, undefined, this.#agents, all, env)
  }

  /** A new link to the page, as `atrium web` prints it. */
  async link(): Promise<string> {
    const token = readFileSync(join(this.home, 'data', 'token'), 'utf8').trim()
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-atrium': 'enter',
    }
    const response = await fetch(new URL('/enter/code', this.address), {
      method: 'POST',
      headers,
      body: '{}',
    })
    const { code } = (await response.json()) as { readonly code: string }
    return `${this.address}#code=${code}`
  }

  /** A page of a browser of its own, which has not entered. `address`: the origin that it may talk to. */
  async stranger(options: BrowserContextOptions = {}, address = this.address): Promise<Page> {
    // Tests that use this run only if there is a program: hence the default.
    const context = await (
      await browserOf(program ?? '')
    ).newContext({ viewport: { width: 1280, height: 800 }, ...options })
    context.setDefaultTimeout(patientMs)
    const page = await context.newPage()
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await printScreen(page)
      await context.close()
    })
    await watch(page, address)
    return page
  }

  /** A page that has entered and is live. */
  async page(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.stranger(options)
    await page.goto(await this.link())
    await page.getByText('Live', { exact: true }).filter({ visible: true }).first().waitFor()
    return page
  }
}

function browserOf(executablePath: string): Promise<Browser> {
  // Only root needs this flag: Chromium refuses its sandbox there.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = running.get(executablePath) ?? chromium.launch({ executablePath, args, env: environment() })
  running.set(executablePath, browser)
  return browser
}

/** Prints what the page shows after its test has failed. A time-out alone does not say what the test waited for. */
async function printScreen(page: Page): Promise<void> {
  const screen = page.locator('body').ariaSnapshot({ timeout: 10_000 })
  console.error(page.url().replace(/code=.*/, 'code=…'), await screen.catch(String), problemsOf(page))
}

/** Collects what must never happen: foreign requests, violations of the policy, dialogs and exceptions. */
async function watch(page: Page, address: string): Promise<void> {
  const problems: string[] = []
  watched.set(page, { problems })
  const note = (problem: string) => void problems.push(problem)
  page.on('dialog', (dialog) => {
    note(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('pageerror', (error) => note(`exception: ${error.message}`))
  page.on('request', (request) => {
    if (!/^(?:data|blob|about):/.test(request.url()) && !request.url().startsWith(address))
      note(`request: ${request.url()}`)
  })
  await page.exposeFunction('atriumProblem', note)
  await page.addInitScript(`
    addEventListener('securitypolicyviolation', (event) =>
      atriumProblem('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))
    globalThis.owned = () => atriumProblem('a text was run')
  `)
}

/** What has happened on a page that must never happen. */
export function problemsOf(page: Page): readonly string[] {
  return watched.get(page)?.problems ?? ['this page is not watched']
}

/** Expects that nothing has happened that must never happen. */
export function expectUnharmed(...pages: readonly Page[]): void {
  for (const page of pages) expect(problemsOf(page)).toEqual([])
}

/** The field for the task of a new session, on the first screen. A page that shows something else goes there. */
export async function taskField(page: Page): Promise<Locator> {
  const button = page.getByRole('button', { name: 'New session', exact: true }).filter({ visible: true })
  // A narrow page has the list of sessions, and its button, on another screen.
  if ((await button.count()) > 0) await button.click()
  const field = page.getByLabel('What shall be done?')
  await field.waitFor()
  return field
}

/** Creates a session with a first message, as a person does. `agent`: the name of the provider. */
export async function begin(page: Page, text: string, agent?: string): Promise<void> {
  const field = await taskField(page)
  if (agent !== undefined) await page.getByLabel('Agent', { exact: true }).selectOption(agent)
  await field.fill(text)
  await eventually(() => page.getByRole('button', { name: 'Start' }).isEnabled()).toBe(true)
  await field.press('Enter')
  await messageField(page).waitFor()
}

/** A message to the guide whose turn ends only when it is stopped: it has an hour of words. */
export const endlessTurn = 'slow 3600'

export async function send(page: Page, text: string): Promise<void> {
  await messageField(page).fill(text)
  await page.keyboard.press('Enter')
}

interface GivenFile {
  readonly name: string
  readonly type: string
  readonly base64: string
}

/** Gives a file to an element of the page as a browser does. Returns whether the page has taken the event for itself. */
export function giveFile(
  page: Page,
  event: 'paste' | 'dragover' | 'drop',
  target: string,
  { name, type, base64 }: GivenFile,
): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const bytes = Uint8Array.from(atob(${JSON.stringify(base64)}), (each) => each.charCodeAt(0))
    const data = new DataTransfer()
    data.items.add(new File([bytes], ${JSON.stringify(name)}, { type: ${JSON.stringify(type)} }))
    const how = { bubbles: true, cancelable: true }
    return !document.querySelector(${JSON.stringify(target)}).dispatchEvent(${JSON.stringify(event)} === 'paste'
      ? new ClipboardEvent('paste', { clipboardData: data, ...how })
      : new DragEvent(${JSON.stringify(event)}, { dataTransfer: data, ...how }))
  })()`)
}

/** Writes a picture of the page, if `ATRIUM_SHOTS` names a folder. */
export async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env['ATRIUM_SHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

function found(names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const files = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return files.find((file) => existsSync(file))
}

/** The environment without variables that have no value, which the browser refuses. */
function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
