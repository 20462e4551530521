import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Lab } from './lab.ts'

export interface ServerOptions {
  /** Folder for the data of the server. */
  readonly data: string
  /** Port on which the agent host is reached. */
  readonly hostPort: number
  readonly token: string
  readonly logFile: string
}

/** The server of VS Code's web workbench, connected to an agent host. */
export class WorkbenchServer {
  readonly port: number
  readonly #child: ChildProcess

  private constructor(port: number, child: ChildProcess) {
    this.port = port
    this.#child = child
  }

  static async start({ server, node }: Lab, options: ServerOptions): Promise<WorkbenchServer> {
    const { data, hostPort, token, logFile } = options
    const home = join(data, 'home')
    for (const folder of ['home', 'User', 'server']) mkdirSync(join(data, folder), { recursive: true })
    writeFileSync(join(data, 'User', 'settings.json'), JSON.stringify(settings))
    const port = await freePort()
    const flags = {
      host: '127.0.0.1',
      port: String(port),
      'without-connection-token': true,
      'accept-server-license-terms': true,
      'telemetry-level': 'off',
      'user-data-dir': data,
      'server-data-dir': join(data, 'server'),
      'agent-host-bridge-host': '127.0.0.1',
      'agent-host-bridge-port': String(hostPort),
      'agent-host-bridge-connection-token': token,
    }
    const args = Object.entries(flags).flatMap(([name, value]) =>
      value === true ? [`--${name}`] : [`--${name}`, String(value)],
    )
    const child = spawn(node, [server, ...args], {
      cwd: dirname(server),
      env: { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    child.on('close', () => running.delete(child))
    const log = createWriteStream(logFile)
    child.stderr.pipe(log, { end: false })
    let out = ''
    const listening = new Promise<boolean>((resolve) => {
      child.on('close', () => resolve(false))
      child.stdout.on('data', (chunk: Buffer) => {
        log.write(chunk)
        if ((out += chunk.toString()).includes('Extension host agent listening')) resolve(true)
      })
    })
    if (!(await listening)) throw new Error(`the workbench's server does not start: ${out.trim()}`)
    return new WorkbenchServer(port, child)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const end = once(this.#child, 'close')
    this.#child.kill('SIGTERM')
    await end
  }
}

/**
 * Settings that switch off everything that covers the chat: updates, the welcome page and the question about trust.
 */
const settings = {
  'security.workspace.trust.enabled': false,
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'workbench.tips.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'chat.disableAIFeatures': false,
  'remote.autoForwardPorts': false,
}

/** Returns a port that was free a moment ago. The server does not accept port 0. */
async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const running = new Set<ChildProcess>()
// Child processes must not outlive this process.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
