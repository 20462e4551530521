import type { Channel } from '@atrium/host/channel'
import type { Core } from '@atrium/host/core'
import { rest } from '@atrium/host/rest'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { Chance } from '../chance.ts'
import type { Truth } from './truth.ts'

/** What terminals will say, said straight to the log: output that only passes, and now and then something that stays. */
export class Ghost {
  readonly #core: Core
  readonly #truth: Truth
  readonly #names: () => number

  constructor(core: Core, truth: Truth, names: () => number) {
    this.#core = core
    this.#truth = truth
    this.#names = names
  }

  act(chance: Chance, alive: () => boolean): void {
    if (this.#core.log.diskFull || this.#core.log.congested) return
    const [terminal] = this.#living()
    if (terminal === undefined) this.prepare()
    else this.#print(terminal, chance, alive)
  }

  prepare(): void {
    if (this.#living().length > 0) return
    const uri = `ahp-terminal:/${this.#names()}`
    const claim = { kind: 'client', clientId: 'c0' }
    const state = { title: 'sh', claim, content: [], lifecycle: { status: 'running' } }
    rest(this.#core, this.#core.log.born(uri, 'terminal', state))
  }

  #living(): readonly Uri[] {
    return [...this.#truth.stories.keys()].filter(
      (uri) => uri.startsWith('ahp-terminal:') && this.#truth.living(uri),
    )
  }

  #print(uri: Uri, chance: Chance, alive: () => boolean): void {
    const { log } = this.#core
    const awake = log.channel(uri)
    if (awake) return this.#say(awake, chance)
    void log.wake(uri).then((terminal) => {
      if (!terminal || !alive() || log.diskFull || log.congested) return
      this.#say(terminal, chance)
      rest(this.#core, terminal)
    })
  }

  #say(terminal: Channel, chance: Chance): void {
    const { log } = this.#core
    for (let n = chance.below(4); n >= 0; n--) {
      const action = { type: 'terminal/data', data: `${this.#names()} ` } as Action
      this.#truth.passed(terminal.uri, log.append(terminal, action).seq, action)
    }
    const cwd = `file:///${this.#names()}`
    if (chance.oneIn(3)) log.append(terminal, { type: 'terminal/cwdChanged', cwd } as Action)
    rest(this.#core, terminal)
  }
}
