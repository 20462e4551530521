import { spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import type { HookOutcome, HookRun, HookRunner } from '@atrium/host/ports/hooks'
import { shellEnvironment } from '../process/environment.ts'
import type { Variables } from '../process/environment.ts'
import { endSession } from '../process/process-group.ts'
import type { Watchdog } from '../process/watchdog.ts'

interface HookMachine {
  readonly watchdog: Watchdog
  /**
   * The marker of this host: the value of an environment variable by which the watchdog finds the host's processes.
   */
  readonly mark: string
  readonly environment: Variables
}

/**
 * Runs hooks with `/bin/sh`. A command gets the variables that a terminal gets, and no other variable of the host (S-38). It
 * leads a POSIX session of its own, so that everything it starts ends with it.
 */
export function hookRunner({ watchdog, mark, environment }: HookMachine): HookRunner {
  const run = (given: HookRun, signal: AbortSignal): Promise<HookOutcome> =>
    new Promise((resolve) => {
      watchdog.wake()
      const child = spawn('/bin/sh', ['-c', given.line], {
        cwd: given.cwd,
        env: { ...shellEnvironment(environment, { shell: '/bin/sh', marker: mark }), ...given.env },
        detached: true,
        stdio: 'pipe',
      })
      const { pid } = child
      if (pid !== undefined) watchdog.watch(pid)
      let problem: string | undefined
      const end = (reason: string): void => {
        problem ??= reason
        if (pid !== undefined) void endSession(pid, graceMs)
      }
      const abort = () => end('It was ended.')
      const timer = setTimeout(
        () => end(`It took longer than ${Math.ceil(given.timeoutMs / 1000)} s.`),
        given.timeoutMs,
      )
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      const stdout = collected(child.stdout, given.maxLength)
      const stderr = collected(child.stderr, given.maxLength)
      const done = (exitCode: number | null) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        if (pid !== undefined) {
          watchdog.forget(pid)
          // The command may have left processes behind that hold no output open. They are ended too.
          void endSession(pid, graceMs)
        }
        const texts = { stdout: stdout(), stderr: stderr() }
        if (problem === undefined && exitCode !== null) resolve({ exitCode, ...texts })
        else resolve({ ...texts, problem: problem ?? 'It was ended by a signal.' })
      }
      child.once('error', () => {
        problem ??= 'It could not be started.'
        done(null)
      })
      child.once('close', done)
      // EPIPE: a command may end before it has read its input.
      child.stdin.on('error', () => {})
      child.stdin.end(given.input)
    })
  return { run, system: process.platform === 'darwin' ? 'osx' : 'linux' }
}

/** How long the processes of a hook have to end by themselves. */
const graceMs = 1000

/**
 * Collects at most `maxLength` characters of an output. The rest is read too, because a full pipe would stop the
 * command.
 */
function collected(stream: NodeJS.ReadableStream, maxLength: number): () => string {
  const decoder = new StringDecoder('utf8')
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    if (text.length < maxLength) text += decoder.write(chunk)
  })
  return () => text.slice(0, maxLength)
}
