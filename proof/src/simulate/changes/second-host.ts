import type { OtherHosts } from '@atrium/host/ports/other-hosts'
import type { Chance } from '../../chance.ts'
import { count } from '../tally.ts'

/**
 * A second host that works in the folder. The first one knows of it only by its marks. They are like those of real hosts: each
 * note has a higher number, and a host that dies leaves its number, and gets a new name when it starts again.
 */
export class SecondHost {
  readonly #edit: (chance: Chance) => void
  /** The number of the last note of each run of the host. */
  readonly #notes = new Map<string, number>()
  #runs = 1
  #number = 0
  #isActive = false
  /** Whether turns of the first host are active, as far as the second one can see. */
  seesTurns = false

  constructor(edit: (chance: Chance) => void) {
    this.#edit = edit
  }

  /** What the first host reads and writes. */
  get marks(): OtherHosts {
    return {
      note: (_, active) => void (this.seesTurns = active > 0),
      look: () => ({ active: this.#isActive, notes: new Map(this.#notes) }),
    }
  }

  /** Begins a turn or goes on with one, changes files, and perhaps ends the turn, or dies. */
  act(chance: Chance): void {
    if (!this.#isActive) this.#note(true)
    count('edits by a second host')
    this.#edit(chance)
    if (chance.oneIn(2)) return
    if (!chance.oneIn(4)) return this.#note(false)
    this.#isActive = false
    this.#runs++
  }

  #note(isActive: boolean): void {
    this.#isActive = isActive
    this.#notes.set(`host-${this.#runs}`, ++this.#number)
  }
}
