import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { ConcurrencyLimit } from '../process/concurrency.ts'
import { markerVariable } from '../process/environment.ts'
import { absoluteDirectories } from '../process/which.ts'
import type { GitProcesses } from './processes.ts'

export interface GitRunOptions {
  readonly cwd: string
  /** Variables of this run, besides those that every run gets. The value undefined removes a variable. */
  readonly env: { readonly [name: string]: string | undefined }
  readonly input?: string | Uint8Array
  /** Kills git when it is aborted. */
  readonly signal?: AbortSignal
  /** Called with each chunk of the output. When this function returns true, git is killed. */
  readonly stopWhen?: (output: Buffer) => boolean
}

export interface GitOutput {
  /** The output of git. It is empty if `stopWhen` was given. */
  readonly stdout: Buffer
  /** Null if `stopWhen` killed git. */
  readonly exitCode: number | null
}

export interface RunLimits {
  readonly vcsMs: number
  readonly vcsBytes: number
  readonly vcsRuns: number
}

/** Runs git without a shell and with a minimal environment. Time, output and number of concurrent runs are bounded. The watchdog ends git if the host dies. */
export class GitRunner {
  readonly #program: string
  readonly #path: string
  readonly #limits: RunLimits
  readonly #concurrency: ConcurrencyLimit

  readonly #processes: GitProcesses | undefined

  constructor(program: string, path: string, limits: RunLimits, processes?: GitProcesses) {
    this.#processes = processes
    this.#program = program
    this.#path = absoluteDirectories(path).join(delimiter)
    this.#limits = limits
    this.#concurrency = new ConcurrencyLimit(limits.vcsRuns)
  }

  run(args: readonly string[], options: GitRunOptions): Promise<GitOutput> {
    return this.#concurrency.run(() => this.#run(args, options))
  }

  #run(args: readonly string[], { cwd, env, input, signal, stopWhen }: GitRunOptions): Promise<GitOutput> {
    const { vcsMs, vcsBytes } = this.#limits
    const processes = this.#processes
    return new Promise((resolve, reject) => {
      processes?.watchdog.wake()
      const child = spawn(this.#program, [...hardened, ...args], {
        cwd,
        env: { ...environment(this.#path), ...(processes && { [markerVariable]: processes.mark }), ...env },
        stdio: ['pipe', 'pipe', 'ignore'],
        // Git leads a POSIX session, so that the watchdog can end it with all that it starts.
        detached: process.platform !== 'win32',
        windowsHide: true,
      })
      const { pid } = child
      if (pid !== undefined) processes?.watchdog.watch(pid)
      const chunks: Buffer[] = []
      let bytes = 0
      let failure: Error | undefined
      const kill = (reason?: string): void => {
        if (reason !== undefined) failure ??= new Error(reason)
        child.kill('SIGKILL')
      }
      const timer = setTimeout(() => kill('git took too long'), vcsMs)
      const stop = () => kill('git was stopped')
      signal?.addEventListener('abort', stop)
      if (signal?.aborted) stop()
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > vcsBytes) return kill('git wrote too much output')
        if (stopWhen) return stopWhen(chunk) ? kill() : undefined
        chunks.push(chunk)
      })
      child.once('error', (error) => (failure ??= error))
      child.once('close', (exitCode) => {
        clearTimeout(timer)
        if (pid !== undefined) processes?.watchdog.forget(pid)
        signal?.removeEventListener('abort', stop)
        if (failure) reject(failure)
        else resolve({ stdout: Buffer.concat(chunks), exitCode })
      })
      // EPIPE: git may end before it has read all of its input.
      child.stdin.on('error', () => {})
      child.stdin.end(input ?? '')
    })
  }
}

/**
 * Returns a new environment. Of the variables of this process, only the search path and, on Windows, `SystemRoot` are
 * passed on (S-38).
 */
function environment(path: string): { readonly [name: string]: string } {
  const root = process.env['SystemRoot']
  return {
    PATH: path,
    LC_ALL: 'C',
    HOME: nowhere,
    XDG_CONFIG_HOME: nowhere,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: nowhere,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_DIR: nowhere,
    ...(root === undefined ? {} : { SystemRoot: root }),
  }
}

const nowhere = '/dev/null'

/**
 * Command-line options of every git run. They override all config files, so that no config file of a repository can make git
 * start another program.
 */
const hardened: readonly string[] = [
  '--no-optional-locks',
  '--no-pager',
  ...[
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'core.attributesFile=/dev/null',
    'core.untrackedCache=false',
    'core.pager=cat',
    'core.editor=true',
    'core.askPass=true',
    'core.sshCommand=false',
    'credential.helper=',
    'diff.external=',
    'gpg.program=false',
    'protocol.allow=never',
    'protocol.ext.allow=never',
    'safe.bareRepository=explicit',
    'submodule.recurse=false',
    'maintenance.auto=false',
  ].flatMap((setting) => ['-c', setting]),
]
