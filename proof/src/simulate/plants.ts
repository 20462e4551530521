import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Bug } from './bugs/bug.ts'
import type { PlantedFound, PlantedSearch } from './planted.ts'

/** A child process that plants one bug after the other. It needs no new process for each. */
export class Plants {
  readonly #child: ChildProcess

  constructor(clients: boolean) {
    this.#child = fork(fileURLToPath(new URL('./planted.js', import.meta.url)), [clients ? '1' : '0'])
  }

  /** The first of these seeds that finds the bug. */
  async search({ name, patches }: Bug, first: number, count: number): Promise<PlantedFound['found']> {
    const child = this.#child
    this.#child.send({ patches, first, count } satisfies PlantedSearch)
    const answer = await new Promise<PlantedFound>((resolve, reject) => {
      const gone = (code: unknown) => reject(new Error(`the process ended with ${String(code)} (${name})`))
      child.once('exit', gone)
      child.once('message', (found: PlantedFound) => {
        child.off('exit', gone)
        resolve(found)
      })
    })
    return answer.found
  }

  end(): void {
    this.#child.disconnect()
  }
}
