import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { markName } from './environment.ts'

/**
 * Ends what terminals have started when the host has died, however it died (F-40d). A hangup of the kernel reaches only
 * those who heed it; so a small shell waits at a pipe of which nobody else has the other end. When it closes, all are ended that
 * stand in the session of a terminal and, where `/proc` shows it, all that carry the mark of this host in their
 * environment: who left the session is found too, unless it emptied its environment as well. Then it goes itself.
 */
export class Watchdog {
  /** Where files for shells lie; it goes with the host too. */
  readonly folder = mkdtempSync(join(tmpdir(), 'atrium-shells-'))
  readonly #mark: string
  readonly #sessions = new Set<number>()
  #dog: ChildProcess | undefined

  constructor(mark: string) {
    this.#mark = mark
  }

  /** Before anything is started, so that there is no moment without it. */
  wake(): void {
    if (process.platform === 'win32' || this.#dog) return
    const dog = spawn('/bin/sh', ['--', program, this.folder, `${markName}=${this.#mark}`], {
      // A session of its own: what ends the host's group must leave it alone.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
    })
    this.#dog = dog
    dog.stdin.on('error', () => undefined)
    dog.once('error', () => this.#lost(dog))
    dog.once('exit', () => this.#lost(dog))
    // It keeps no process alive.
    dog.unref()
    ;(dog.stdin as Socket).unref()
    for (const session of this.#sessions) this.#tell(`+${session}`)
  }

  watch(session: number): void {
    this.#sessions.add(session)
    this.#tell(`+${session}`)
  }

  /** Its number may soon be another's. */
  forget(session: number): void {
    if (this.#sessions.delete(session)) this.#tell(`-${session}`)
  }

  #tell(word: string): void {
    const stdin = this.#dog?.stdin
    if (stdin?.writable) stdin.write(`${word}\n`)
  }

  /** Somebody ended it: there is another one, while there is something to watch. */
  #lost(dog: ChildProcess): void {
    if (this.#dog !== dog) return
    this.#dog = undefined
    if (this.#sessions.size > 0) setTimeout(() => this.wake(), 100).unref()
  }
}

const program = fileURLToPath(new URL('../../src/process/watchdog.sh', import.meta.url))
