import type { Shell, Start, TerminalOutput, Terminals } from '@atrium/host/ports/terminals'
import type { Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Chance } from '../chance.ts'
import type { SimulatedClient } from './simulated-client.ts'

type Say = (said: TerminalOutput) => void

/** The parts of the simulation that the terminals use. */
interface Context {
  readonly clients: readonly SimulatedClient[]
  readonly name: () => number
  readonly invariants: {
    sessionOf(chat: Uri): Uri | undefined
    readonly callEffects: { carriedOut(chat: Uri, toolCallId: string, input: string): void }
  }
  liveUris(prefix: string): readonly Uri[]
  isDurable(uri: Uri): boolean
  /** Returns the terminal that a tool call holds. */
  heldBy(toolCallId: string): Uri | undefined
  fail(invariant: string, problem: string): void
  /** The files, in the theme `changes`. There the shells work in the folder of the sessions. */
  readonly changes?: { person(chance: Chance, isTold: boolean): void } | undefined
}

/** The terminals of one host run. Their shells print, change their titles, run commands and exit when the seed says so. */
export class SimulatedTerminals implements Terminals {
  readonly #context: Context
  readonly #shells = new Set<SimulatedShell>()

  constructor(context: Context) {
    this.#context = context
  }

  start({ cwd, command }: Start, say: Say): Promise<Shell> {
    // A command line for a tool call starts with the URI of the chat, the id of the call, and its input.
    const [chat = '', toolCallId = '', input = ''] = command?.split(' ') ?? []
    const uri = command === undefined ? `ahp-terminal:${cwd}` : (this.#context.heldBy(toolCallId) ?? '')
    // The terminal must be durable before a shell runs in it.
    if (!this.#context.isDurable(uri))
      this.#context.fail('I7', `a shell starts for ${uri} before that terminal is durable`)
    if (command !== undefined) this.#context.invariants.callEffects.carriedOut(chat, toolCallId, input)
    if (this.#context.name() % 9 === 0) return Promise.reject(new Error('there is no shell today'))
    const { changes } = this.#context
    const shell = new SimulatedShell(say, command === undefined ? 10 : 2, () => this.#shells.delete(shell))
    // The host learns of the output after each edit, so it knows that somebody else was active.
    if (changes && command === undefined) shell.edit = (chance) => changes.person(chance, true)
    this.#shells.add(shell)
    return Promise.resolve(shell)
  }

  act(chance: Chance): void {
    const client = chance.pick(this.#context.clients)
    const shell = chance.pick([...this.#shells])
    if (!shell || chance.oneIn(5)) this.#ask(client, chance)
    else shell.act(chance, () => this.#context.name())
  }

  /** Lets a client ask for a terminal: for its own, or for one of a session. */
  prepare(client: SimulatedClient | undefined, session?: Uri, held?: Uri): void {
    const name = this.#context.name()
    const own = { kind: 'client', clientId: client?.id }
    const chat = session === undefined ? undefined : (held ?? defaultChatUri(session))
    const claim = session === undefined ? own : { kind: 'session', session, chat }
    const place = this.#context.changes ? `a/${name}` : String(name)
    const params = { channel: `ahp-terminal:/${place}`, claim, cwd: `file:///${place}` }
    if (client?.open) client.ask('createTerminal', params, () => {})
  }

  #ask(client: SimulatedClient | undefined, chance: Chance): void {
    const disposable = chance.pick(this.#context.liveUris('ahp-terminal:'))
    const chat = chance.pick(this.#context.liveUris('ahp-chat:')) ?? ''
    const session = this.#context.invariants.sessionOf(chat)
    if (disposable === undefined || chance.oneIn(2))
      this.prepare(client, chance.oneIn(2) ? session : undefined, chat)
    else if (client?.open && chance.oneIn(3)) client.ask('disposeTerminal', { channel: disposable }, () => {})
  }
}

class SimulatedShell implements Shell {
  readonly #say: Say
  readonly #onExit: () => void
  /** The shell exits at one of this many actions, on average. */
  readonly #exitOdds: number
  /** Changes a file, in the theme `changes`. */
  edit: ((chance: Chance) => void) | undefined
  #paused = false
  #over = false
  #command = ''

  constructor(say: Say, exitOdds: number, onExit: () => void) {
    this.#say = say
    this.#exitOdds = exitOdds
    this.#onExit = onExit
  }

  act(chance: Chance, name: () => number): void {
    if (chance.oneIn(this.#exitOdds)) return this.#exit(chance.below(3))
    if (this.#paused) return
    if (this.edit) {
      this.edit(chance)
      return this.#say({ type: 'terminal/data', data: `${name()} ` })
    }
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
    this.#onExit()
    this.#say({ type: 'terminal/exited', exitCode })
  }
}
