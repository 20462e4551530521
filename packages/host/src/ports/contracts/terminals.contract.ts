import { expect, onTestFinished, test, vi } from 'vitest'
import type { Shell, Start, TerminalOutput, Terminals } from '../terminals.ts'

export interface TerminalFixture {
  readonly terminals: Terminals
  /** An existing directory. */
  readonly cwd: string
  /** Commands for the shell. Each command exits by itself. */
  readonly lines: {
    /** Prints a text. */
    say(text: string): string
    /** Prints the numbers from 1 to `to`, one on each line. */
    count(to: number): string
    /** Reads a line and prints `got <line>`. */
    readonly read: string
    /**
     * Prints the terminal's size as `<rows> <columns>`, and prints it again after each change, until the command has read a
     * line.
     */
    readonly size: string
    readonly cwd: string
    exit(code: number): string
  }
}

/** The suite that every adapter of `Terminals` passes. */
export function terminalsContract(name: string, open: () => Promise<TerminalFixture>): void {
  const begun = async (line: (lines: TerminalFixture['lines']) => string, options: Partial<Start> = {}) => {
    const { terminals, cwd, lines } = await open()
    return startShell(terminals, { cwd, cols: 80, rows: 24, command: line(lines), ...options })
  }
  /**
   * Runs another terminal from start to exit, to let time pass. If the terminal under test wrongly reports something,
   * it does so meanwhile.
   */
  const meanwhile = async () => (await begun((lines) => lines.count(1000))).exited()

  test(`[M1] [M1.1] ${name}: the output of a program is reported, and then its exit`, async () => {
    const { said, text, exited } = await begun((lines) => lines.say('hello'))
    expect(await exited()).toBe(0)
    expect(text().trim()).toBe('hello')
    expect(said.at(-1)).toEqual({ type: 'terminal/exited', exitCode: 0 })
  })

  test.each([0, 1, 7, 255])(`[M1] [M1.1] ${name}: exit code %d`, async (code) => {
    const { exited } = await begun((lines) => lines.exit(code))
    expect(await exited()).toBe(code)
  })

  test(`[M1] [M1.1] ${name}: the end of the output is complete, however short the program runs`, async () => {
    const runs = Array.from({ length: 12 }, () => begun((lines) => lines.count(4000)))
    for (const { text, exited } of await Promise.all(runs)) {
      await exited()
      expect(numbers(text())).toBe(4000)
    }
  })

  test(`[M2] ${name}: input reaches the program`, async () => {
    const { shell, text, exited } = await begun((lines) => lines.read)
    shell.input('fish\r')
    await exited()
    expect(text()).toContain('got fish')
  })

  test(`[M1] ${name}: a program sees the terminal's size, and each change of it`, async () => {
    const { shell, text, exited } = await begun((lines) => lines.size, { cols: 93, rows: 31 })
    await vi.waitFor(() => expect(text()).toContain('31 93'), waitOptions)
    shell.resize(120, 40)
    await vi.waitFor(() => expect(text()).toContain('40 120'), waitOptions)
    shell.input('\r')
    await exited()
  })

  test(`[M1] ${name}: a shell starts in the given directory`, async () => {
    const { terminals, cwd, lines } = await open()
    const { text, exited } = await startShell(terminals, { cwd, cols: 200, rows: 24, command: lines.cwd })
    await exited()
    expect(text().trim()).toBe(cwd)
  })

  test.each(['/no/such/directory', 'relative', '', '/etc/passwd', '/tmp\0x'])(
    `[M1] ${name}: a shell does not start in %j`,
    async (cwd) => {
      const { terminals } = await open()
      await expect(terminals.start({ cwd, cols: 80, rows: 24 }, () => {})).rejects.toThrow(/directory/)
    },
  )

  test(`[M3] ${name}: a paused shell reports nothing, and after resume nothing is missing`, async () => {
    const { said, shell, text, exited } = await begun((lines) => lines.count(50_000))
    await vi.waitFor(() => expect(text().length).toBeGreaterThan(0), { ...waitOptions, interval: 1 })
    shell.pause()
    const { length } = said
    await meanwhile()
    expect(said.length).toBe(length)
    shell.resume()
    expect(await exited()).toBe(0)
    expect(numbers(text())).toBe(50_000)
  })

  test(`[M3] ${name}: a program that exits while paused has its output reported after resume`, async () => {
    const { said, shell, text, exited } = await begun((lines) => lines.say('last words'))
    shell.pause()
    await meanwhile()
    expect(said).toEqual([])
    shell.resume()
    expect(await exited()).toBe(0)
    expect(text().trim()).toBe('last words')
  })

  test(`[M3] ${name}: a program paused in mid-output, which exits meanwhile, has its output reported in order`, async () => {
    const { shell, said, text, exited } = await begun(({ read, count }) => `${read}; ${read}; ${count(1000)}`)
    shell.input('first\r')
    await vi.waitFor(() => expect(text()).toContain('got first'), waitOptions)
    shell.pause()
    const { length } = said
    shell.input('last\r')
    await meanwhile()
    expect(said.length).toBe(length)
    shell.resume()
    expect(await exited()).toBe(0)
    expect(numbers(text().slice(text().indexOf('got last') + 'got last'.length))).toBe(1000)
  })

  test(`[M8] ${name}: a shell that is ended, paused or not, reports its exit once`, async () => {
    for (const pauses of [false, true]) {
      const { said, shell } = await begun((lines) => lines.read)
      if (pauses) shell.pause()
      await Promise.all([shell.end(), shell.end()])
      await shell.end()
      expect(said.filter(({ type }) => type === 'terminal/exited')).toHaveLength(1)
      expect(said.at(-1)?.type).toBe('terminal/exited')
    }
  })

  test(`[M8] ${name}: calls on a shell that has exited do nothing`, async () => {
    const { said, shell, exited } = await begun((lines) => lines.exit(0))
    await exited()
    const { length } = said
    shell.input('x')
    shell.resize(10, 10)
    shell.pause()
    shell.resume()
    await shell.end()
    await meanwhile()
    expect(said.length).toBe(length)
  })

  test(`[M4] ${name}: an interactive shell runs until it is told to exit`, async () => {
    const { terminals, cwd, lines } = await open()
    const { shell, text, exited } = await startShell(terminals, { cwd, cols: 80, rows: 24 })
    shell.input(`${lines.say('one')}\r`)
    await vi.waitFor(() => expect(text()).toMatch(/one\r?\n/), waitOptions)
    shell.input(`${lines.exit(3)}\r`)
    expect(await exited()).toBe(3)
  })
}

/** A shell and its output. The shell is ended after the test. */
export interface StartedShell {
  readonly shell: Shell
  readonly said: readonly TerminalOutput[]
  /** Returns the output so far. */
  text(): string
  exited(): Promise<number | undefined>
}

export async function startShell(terminals: Terminals, start: Start): Promise<StartedShell> {
  const said: TerminalOutput[] = []
  let ended: (exitCode: number | undefined) => void
  const exit = new Promise<number | undefined>((resolve) => (ended = resolve))
  let text = ''
  const shell = await terminals.start(start, (one) => {
    said.push(one)
    if (one.type === 'terminal/data') text += one.data
    if (one.type === 'terminal/exited') ended(one.exitCode)
  })
  onTestFinished(() => shell.end())
  return { shell, said, text: () => text, exited: () => exit }
}

/** The long timeout matters only for a test whose terminal never prints the expected text. */
const waitOptions = { timeout: 200_000 }

/** Returns the number of lines if the lines are the numbers from 1 on in order, else NaN. */
function numbers(text: string): number {
  const lines = text.trim().split(/\r?\n/)
  return lines.every((line, i) => Number(line) === i + 1) ? lines.length : NaN
}
