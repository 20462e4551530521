import { spawn } from '@lydell/node-pty'
import type { IPty } from '@lydell/node-pty'
import xterm from '@xterm/headless'

export interface WindowOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cols?: number
  readonly rows?: number
}

export type Emulator = InstanceType<typeof xterm.Terminal>

export function emulator(cols: number, rows: number): Emulator {
  return new xterm.Terminal({ cols, rows, allowProposedApi: true, scrollback: 5000 })
}

/** Returns the text of the screen and its scrollback, without empty lines at the end. */
export function readable({ buffer: { active } }: Emulator): string {
  const lines: string[] = []
  for (let at = 0; at < active.length; at++) {
    const line = active.getLine(at)
    const text = line?.translateToString(true) ?? ''
    if (line?.isWrapped) lines.push((lines.pop() ?? '') + text)
    else lines.push(text)
  }
  return lines.join('\n').trimEnd()
}

/** A terminal window that runs a command line, takes keys and shows a screen. */
export class Window {
  readonly #pty: IPty
  readonly #terminal: Emulator
  readonly #looks = new Set<() => void>()
  /** All output, for tests that check that some bytes do not occur. */
  raw = ''

  constructor(line: string, { cwd, env, cols = 80, rows = 24 }: WindowOptions) {
    this.#terminal = emulator(cols, rows)
    // After the command, the shell prints the exit code and keeps running. If it exited, node-pty could lose the end of the
    // output.
    const script = `trap : INT\n${line}\necho "[exit $?]"; cat >/dev/null`
    const given = { name: env['TERM'] ?? 'xterm-256color', cols, rows, cwd, env: { ...env } }
    this.#pty = spawn('/bin/sh', ['-c', script], given)
    this.#pty.onData((data) => {
      this.raw += data
      this.#terminal.write(data, () => {
        for (const look of this.#looks) look()
      })
    })
  }

  get text(): string {
    return readable(this.#terminal)
  }

  /** The rows that the window shows now, without its scrollback. */
  get screen(): string {
    const { active } = this.#terminal.buffer
    const rows = Array.from({ length: this.#terminal.rows }, (_, at) => active.getLine(active.baseY + at))
    return rows.map((row) => row?.translateToString(true) ?? '').join('\n')
  }

  press(keys: string): void {
    this.#pty.write(keys)
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows)
    this.#pty.resize(cols, rows)
  }

  /** Resolves when the text is on the screen. The timeout of the test limits the wait. */
  until(wanted: string | RegExp | ((text: string) => boolean)): Promise<string> {
    return new Promise((resolve) => {
      const look = () => {
        const { text } = this
        const there =
          typeof wanted === 'string'
            ? text.includes(wanted)
            : wanted instanceof RegExp
              ? wanted.test(text)
              : wanted(text)
        if (!there) return
        this.#looks.delete(look)
        resolve(text)
      }
      this.#looks.add(look)
      look()
    })
  }

  /** Resolves with the exit code of the command. */
  async ended(): Promise<number> {
    const text = await this.until(/\[exit \d+\]/)
    return Number(/\[exit (\d+)\]/.exec(text)?.[1])
  }

  close(): void {
    this.#pty.kill('SIGKILL')
    this.#terminal.dispose()
  }
}
