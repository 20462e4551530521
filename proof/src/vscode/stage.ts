import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must } from '../agents/failure.ts'
import { HostProcess } from '../chaos/host.ts'
import { pageProcesses, startBrowser } from './browser.ts'
import type { Browser } from './browser.ts'
import { CommandLine } from './command-line.ts'
import type { Lab } from './lab.ts'
import { WorkbenchServer } from './server.ts'
import { Tap } from './tap.ts'
import { Window } from './window.ts'

/**
 * A host, a workbench that is connected to it through a tap (a proxy that records the messages), and the windows of
 * the workbench.
 */
export class Stage {
  readonly out: string
  readonly folder: string
  /** The folder that windows open and agents work in. */
  readonly work: string
  readonly atrium: CommandLine
  readonly windows: Window[] = []
  readonly #env: Readonly<Record<string, string>>
  #host: HostProcess | undefined
  #url = ''
  #token = ''
  #tap: Tap | undefined
  #server: WorkbenchServer | undefined
  #browser: Browser | undefined

  constructor(out: string) {
    this.out = out
    this.folder = mkdtempSync(join(tmpdir(), 'atrium-vscode-'))
    this.work = join(this.folder, 'project')
    this.#env = { HOME: join(this.folder, 'home'), XDG_CONFIG_HOME: join(this.folder, 'config') }
    for (const each of [this.work, ...Object.values(this.#env)]) mkdirSync(each, { recursive: true })
    mkdirSync(out, { recursive: true })
    this.atrium = new CommandLine(this.#data, this.work, this.#env)
    this.project(this.work)
  }

  /** Starts everything and opens the first window. */
  async start(lab: Lab): Promise<void> {
    await this.startHost()
    this.#tap = await Tap.open(() => this.#url, join(this.out, 'frames.jsonl'))
    const { port: hostPort } = this.#tap
    const [data, logFile] = [join(this.folder, 'workbench'), join(this.out, 'workbench.log')]
    this.#server = await WorkbenchServer.start(lab, { data, hostPort, token: this.#token, logFile })
    this.#browser = await startBrowser(lab)
    await this.open('first')
  }

  /** Starts a host on the data folder: on any port for the first time, later on the same port. */
  async startHost(): Promise<void> {
    const args = this.#url === '' ? [] : ['--port', new URL(this.#url).port]
    const host = new HostProcess(this.#data, { args, env: { ...this.#env, LANG: 'C.UTF-8' } })
    this.#host = host
    const address = await host.ready
    must(address !== undefined, `the host does not start: ${host.stderr.trim()}`)
    this.#url = address.url
    this.#token = address.token
  }

  /** Kills the host, and starts it again. */
  async restartHost(): Promise<void> {
    await this.#host?.kill()
    await this.startHost()
  }

  /** Stops the host as a user or a service does. */
  async stopHost(): Promise<void> {
    this.#host?.signal('SIGTERM')
    await this.#host?.exit
  }

  /** Opens another window, by default on the folder of the first. */
  async open(name: string, query = `folder=${this.work}`): Promise<Window> {
    const viewport = { width: 1600, height: 1000 }
    const context = await this.#browser?.newContext({
      viewport,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    must(context !== undefined, 'there is no browser')
    const window = await Window.open(name, context, `http://127.0.0.1:${this.#server?.port ?? 0}/?${query}`)
    this.windows.push(window)
    return window
  }

  /** Stops the processes of all pages. Returns the function that lets them go on. */
  async stopPages(): Promise<() => void> {
    must(this.#browser !== undefined, 'there is no browser')
    const processes = await pageProcesses(this.#browser)
    for (const id of processes) process.kill(id, 'SIGSTOP')
    return () => {
      for (const id of processes) process.kill(id, 'SIGCONT')
    }
  }

  async close(window: Window): Promise<void> {
    this.windows.splice(this.windows.indexOf(window), 1)
    await window.close()
  }

  /** The window that all steps share. */
  get window(): Window {
    const [window] = this.windows
    must(window !== undefined, 'there is no window')
    return window
  }

  get tap(): Tap {
    must(this.#tap !== undefined, 'there is no tap')
    return this.#tap
  }

  /** Creates a folder with a few files, under git as most projects are. */
  project(folder: string): void {
    mkdirSync(join(folder, 'src'), { recursive: true })
    writeFileSync(join(folder, 'note.txt'), 'alpha\nbeta\n')
    writeFileSync(join(folder, 'src', 'door.ts'), 'export const door = 1\n')
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder })
    git('init', '-q', '-b', 'master')
    git('add', '-A')
    git('commit', '-qm', 'first')
  }

  /** Ends everything that was started. */
  async cleanUp(keep: boolean): Promise<void> {
    writeFileSync(join(this.out, 'host.log'), this.#host?.stderr ?? '')
    for (const { name, console: lines } of this.windows)
      writeFileSync(join(this.out, `console-${name}.log`), lines.join('\n'))
    await this.#browser?.close()
    await this.#server?.stop()
    this.#tap?.close()
    await this.#host?.kill()
    if (!keep) rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  get #data(): string {
    return join(this.folder, 'data')
  }
}
