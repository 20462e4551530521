import type { Shell, Start, TerminalOutput, Terminals } from '@atrium/host/ports/terminals'
import type { Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Chance } from '../chance.ts'
import type { Person } from './person.ts'

type Say = (said: TerminalOutput) => void

/** What it knows of the simulation that it haunts. */
interface House {
  readonly clients: readonly Person[]
  readonly name: () => number
  readonly laws: {
    sessionOf(chat: Uri): Uri | undefined
    readonly deeds: { acts(chat: Uri, toolCallId: string, input: string): void }
  }
  living(prefix: string): readonly Uri[]
  isSafe(uri: Uri): boolean
  /** The terminal that a tool call holds. */
  heldBy(toolCallId: string): Uri | undefined
  fail(invariant: string, problem: string): void
}

/** The shells of one life: they print, name themselves, run commands and end, when the seed says so. */
export class Ghost implements Terminals {
  readonly #house: House
  readonly #shells = new Set<GhostShell>()

  constructor(house: House) {
    this.#house = house
  }

  start({ cwd, command }: Start, say: Say): Promise<Shell> {
    // A line for a tool call says for which one.
    const [chat = '', toolCallId = '', input = ''] = command?.split(' ') ?? []
    const uri = command === undefined ? `ahp-terminal:${cwd}` : (this.#house.heldBy(toolCallId) ?? '')
    // It is durable that there is such a terminal before anything runs in it.
    if (!this.#house.isSafe(uri)) this.#house.fail('I7', `a shell starts for ${uri}, which may be forgotten`)
    if (command !== undefined) this.#house.laws.deeds.acts(chat, toolCallId, input)
    if (this.#house.name() % 9 === 0) return Promise.reject(new Error('there is no shell today'))
    const shell = new GhostShell(say, command === undefined ? 10 : 2, () => this.#shells.delete(shell))
    this.#shells.add(shell)
    return Promise.resolve(shell)
  }

  act(chance: Chance): void {
    const client = chance.pick(this.#house.clients)
    const shell = chance.pick([...this.#shells])
    if (!shell || chance.oneIn(5)) this.#ask(client, chance)
    else shell.act(chance, () => this.#house.name())
  }

  /** A client wants a terminal: its own, or for a session. */
  prepare(client: Person | undefined, session?: Uri, held?: Uri): void {
    const name = this.#house.name()
    const own = { kind: 'client', clientId: client?.id }
    const chat = session === undefined ? undefined : (held ?? defaultChatUri(session))
    const claim = session === undefined ? own : { kind: 'session', session, chat }
    const params = { channel: `ahp-terminal:/${name}`, claim, cwd: `file:///${name}` }
    if (client?.open) client.ask('createTerminal', params, () => {})
  }

  #ask(client: Person | undefined, chance: Chance): void {
    const doomed = chance.pick(this.#house.living('ahp-terminal:'))
    const chat = chance.pick(this.#house.living('ahp-chat:')) ?? ''
    const session = this.#house.laws.sessionOf(chat)
    if (doomed === undefined || chance.oneIn(2))
      this.prepare(client, chance.oneIn(2) ? session : undefined, chat)
    else if (client?.open && chance.oneIn(3)) client.ask('disposeTerminal', { channel: doomed }, () => {})
  }
}

class GhostShell implements Shell {
  readonly #say: Say
  readonly #gone: () => void
  /** One of so many things that it does is its end. */
  readonly #ends: number
  #paused = false
  #over = false
  #command = ''

  constructor(say: Say, ends: number, gone: () => void) {
    this.#say = say
    this.#ends = ends
    this.#gone = gone
  }

  act(chance: Chance, name: () => number): void {
    if (chance.oneIn(this.#ends)) return this.#exit(chance.below(3))
    if (this.#paused) return
    for (let n = chance.below(4); n >= 0; n--) this.#say({ type: 'terminal/data', data: `${name()} ` })
    if (chance.oneIn(3)) this.#say({ type: 'terminal/cwdChanged', cwd: `file:///${name()}` })
    if (chance.oneIn(6)) this.#say({ type: 'terminal/titleChanged', title: `sh ${name()}` })
    if (chance.oneIn(5)) this.#run(name)
  }

  input(): void {}
  resize(): void {}

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
  }

  async end(): Promise<void> {
    this.#exit(129)
  }

  #run(name: () => number): void {
    if (this.#command === '') {
      this.#command = `command-${name()}`
      const commandLine = this.#command
      this.#say({ type: 'terminal/commandExecuted', commandId: this.#command, commandLine, timestamp: 1 })
    } else {
      this.#say({ type: 'terminal/commandFinished', commandId: this.#command, exitCode: 0 })
      this.#command = ''
    }
  }

  #exit(exitCode: number): void {
    if (this.#over) return
    this.#over = true
    this.#gone()
    this.#say({ type: 'terminal/exited', exitCode })
  }
}
