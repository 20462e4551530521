import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { Lanes } from '../process/concurrency.ts'
import { absolute } from '../process/which.ts'

export interface GitRun {
  readonly cwd: string
  /** What it needs beside what every run has, or in its place. */
  readonly env: { readonly [name: string]: string | undefined }
  readonly input?: string
  /** Called with what it says, until it is true: then no more is wanted. */
  readonly enough?: (said: Buffer) => boolean
}

export interface GitSaid {
  readonly said: Buffer
  /** Nothing where it was ended because there was enough. */
  readonly code: number | null
}

export interface RunLimits {
  readonly vcsMs: number
  readonly vcsBytes: number
  readonly vcsRuns: number
}

/** Runs git without a shell, with an environment that it was given on purpose, for a bounded time and a bounded answer. */
export class GitRuns {
  readonly #program: string
  readonly #path: string
  readonly #limits: RunLimits
  readonly #lanes: Lanes

  constructor(program: string, path: string, limits: RunLimits) {
    this.#program = program
    this.#path = absolute(path).join(delimiter)
    this.#limits = limits
    this.#lanes = new Lanes(limits.vcsRuns)
  }

  run(args: readonly string[], run: GitRun): Promise<GitSaid> {
    return this.#lanes.run(() => this.#run(args, run))
  }

  #run(args: readonly string[], { cwd, env, input, enough }: GitRun): Promise<GitSaid> {
    const { vcsMs, vcsBytes } = this.#limits
    return new Promise((resolve, reject) => {
      const child = spawn(this.#program, [...hardened, ...args], {
        cwd,
        env: { ...environment(this.#path), ...env },
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      })
      const said: Buffer[] = []
      let bytes = 0
      let problem: Error | undefined
      const end = (why?: string): void => {
        if (why !== undefined) problem ??= new Error(why)
        child.kill('SIGKILL')
      }
      const timer = setTimeout(() => end('git took too long'), vcsMs)
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > vcsBytes) return end('git said too much')
        if (enough) return enough(chunk) ? end() : undefined
        said.push(chunk)
      })
      child.once('error', (error) => (problem ??= error))
      child.once('close', (code) => {
        clearTimeout(timer)
        if (problem) reject(problem)
        else resolve({ said: Buffer.concat(said), code })
      })
      // It may end before it has read all.
      child.stdin.on('error', () => {})
      child.stdin.end(input ?? '')
    })
  }
}

/** Nothing of the environment of this process but where programs are (S-38). */
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

/** Whatever a config says, also one that is read by mistake: none of these runs anything. */
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
