import { randomBytes } from 'node:crypto'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AcpAgent } from '@atrium/adapters/agent-acp'
import type { Profile } from '@atrium/adapters/agent-acp'
import type { AcpMeans, AcpProgram } from '@atrium/adapters/agent-acp-start'
import { findAgents } from '@atrium/adapters/agent-acp-find'
import { guide } from '@atrium/adapters/agent-guide'
import { Watchdog } from '@atrium/adapters/terminals-pty-watchdog'
import type { Agent } from '@atrium/host/ports/agent'
import type { Host } from '@atrium/host/host'
import type { World } from '@atrium/host/ports/world'
import type { Settings } from './fields.ts'
import { version } from './version.ts'

/**
 * Who can be talked to on this host: its own agents, those that somebody named in the config, and those that are on the PATH; one
 * that is installed while the host runs, too. What an agent says of itself is kept, so that it is asked once and not at each start.
 */
export class Cast {
  readonly #settings: Settings
  readonly #world: World
  readonly #means: AcpMeans
  readonly #environment: NodeJS.ProcessEnv
  /** By name and by how it is started. */
  #programs = new Map<string, AcpAgent>()
  #agents: readonly Agent[] = []
  #known: { [stamp: string]: Profile } = {}
  #undo = () => {}

  constructor(settings: Settings, world: World, environment: NodeJS.ProcessEnv) {
    this.#settings = settings
    this.#world = world
    this.#environment = environment
    const mark = randomBytes(16).toString('hex')
    const mcpServers = (settings.mcpServers ?? []) as readonly object[]
    this.#means = { later: world.later, watchdog: new Watchdog(mark), mark, environment, version, mcpServers }
  }

  get agents(): readonly Agent[] {
    return this.#agents
  }

  async open(): Promise<this> {
    const text = await readFile(this.#file, 'utf8').catch(() => '{}')
    try {
      this.#known = JSON.parse(text) as { [stamp: string]: Profile }
    } catch {
      // It is only what need not be asked again.
    }
    await this.#look()
    return this
  }

  /** From now on the host is told of who comes and goes. */
  watch(host: Host): void {
    this.#undo = this.#world.later(lookEveryMs, () => {
      void this.#look()
        .then(() => host.offer(this.#agents))
        .catch((error: unknown) => this.#world.report('agents not looked for', error))
        .finally(() => this.watch(host))
    })
  }

  async close(): Promise<void> {
    this.#undo()
    await Promise.all([...this.#programs.values()].map((agent) => agent.close()))
  }

  async #look(): Promise<void> {
    const found = await findAgents(this.#settings.agents ?? {}, this.#environment)
    const stamped = await Promise.all(
      found.map(async (program) => [await stampOf(program), program] as const),
    )
    await this.#keep()
    const before = this.#programs
    this.#programs = new Map(
      stamped.map(([stamp, program]) => [
        stamp,
        before.get(stamp) ?? new AcpAgent(program, this.#means, this.#known[stamp]),
      ]),
    )
    for (const [stamp, agent] of before) if (!this.#programs.has(stamp)) void agent.close()
    this.#agents = [guide(this.#world.later), ...this.#programs.values()]
  }

  async #keep(): Promise<void> {
    const news = [...this.#programs].flatMap(([stamp, { profile }]) =>
      profile && profile.problem === undefined && profile !== this.#known[stamp]
        ? [[stamp, profile] as const]
        : [],
    )
    if (news.length === 0 || this.#settings.readOnly) return
    this.#known = { ...this.#known, ...Object.fromEntries(news) }
    const aside = `${this.#file}.${process.pid}`
    await writeFile(aside, JSON.stringify(this.#known), { mode: 0o600 })
    await rename(aside, this.#file)
  }

  get #file(): string {
    return join(this.#settings.data, 'agents.json')
  }
}

const lookEveryMs = 60_000

/** Another build of a program may offer something else. */
async function stampOf({ name, command, args }: AcpProgram): Promise<string> {
  const { mtimeMs = 0, size = 0 } = await stat(command).catch(
    () => ({}) as { mtimeMs?: number; size?: number },
  )
  return [name, command, ...args, mtimeMs, size].join(' ')
}
