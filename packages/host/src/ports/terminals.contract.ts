import { expect, onTestFinished, test, vi } from 'vitest'
import type { Shell, Start, TerminalOutput, Terminals } from './terminals.ts'

export interface TerminalFixture {
  readonly terminals: Terminals
  /** A directory that is there. */
  readonly cwd: string
  /** Lines for its shell. Each ends by itself. */
  readonly lines: {
    /** Writes a text. */
    say(text: string): string
    /** Writes the numbers from 1 to this, a line each. */
    count(to: number): string
    /** Reads a line and writes `got <line>`. */
    readonly read: string
    /** Writes the size of its terminal as `<rows> <columns>`, and again after each change, until it has read a line. */
    readonly size: string
    readonly cwd: string
    exit(code: number): string
  }
}

/** What every adapter for terminals must do. */
export function terminalsContract(name: string, open: () => Promise<TerminalFixture>): void {
  const begun = async (line: (lines: TerminalFixture['lines']) => string, wish: Partial<Start> = {}) => {
    const { terminals, cwd, lines } = await open()
    return startShell(terminals, { cwd, cols: 80, rows: 24, command: line(lines), ...wish })
  }
  /** Another terminal begins, writes and ends: time enough for one that was begun before to do what it must not. */
  const meanwhile = async () => (await begun((lines) => lines.count(1000))).exited()

  test(`[M1] ${name}: what a program writes is said, and then how it ended`, async () => {
    const { said, text, exited } = await begun((lines) => lines.say('hello'))
    expect(await exited()).toBe(0)
    expect(text().trim()).toBe('hello')
    expect(said.at(-1)).toEqual({ type: 'terminal/exited', exitCode: 0 })
  })

  test.each([0, 1, 7, 255])(`[M1] ${name}: exit code %d`, async (code) => {
    const { exited } = await begun((lines) => lines.exit(code))
    expect(await exited()).toBe(code)
  })

  test(`[M1] ${name}: nothing is missing at the end, however short`, async () => {
    const runs = Array.from({ length: 12 }, () => begun((lines) => lines.count(4000)))
    for (const { text, exited } of await Promise.all(runs)) {
      await exited()
      expect(numbers(text())).toBe(4000)
    }
  })

  test(`[M2] ${name}: what is typed is read`, async () => {
    const { shell, text, exited } = await begun((lines) => lines.read)
    shell.input('fish\r')
    await exited()
    expect(text()).toContain('got fish')
  })

  test(`[M1] ${name}: a program sees its size, and each change of it`, async () => {
    const { shell, text, exited } = await begun((lines) => lines.size, { cols: 93, rows: 31 })
    await vi.waitFor(() => expect(text()).toContain('31 93'), patience)
    shell.resize(120, 40)
    await vi.waitFor(() => expect(text()).toContain('40 120'), patience)
    shell.input('\r')
    await exited()
  })

  test(`[M1] ${name}: it begins where it should`, async () => {
    const { terminals, cwd, lines } = await open()
    const { text, exited } = await startShell(terminals, { cwd, cols: 200, rows: 24, command: lines.cwd })
    await exited()
    expect(text().trim()).toBe(cwd)
  })

  test.each(['/no/such/directory', 'relative', '', '/etc/passwd', '/tmp\0x'])(
    `[M1] ${name}: it does not begin in %j`,
    async (cwd) => {
      const { terminals } = await open()
      await expect(terminals.start({ cwd, cols: 80, rows: 24 }, () => {})).rejects.toThrow(/directory/)
    },
  )

  test(`[M3] ${name}: while it is paused nothing is said, and later nothing is missing`, async () => {
    const { said, shell, text, exited } = await begun((lines) => lines.count(50_000))
    await vi.waitFor(() => expect(text().length).toBeGreaterThan(0), { ...patience, interval: 1 })
    shell.pause()
    const { length } = said
    await meanwhile()
    expect(said.length).toBe(length)
    shell.resume()
    expect(await exited()).toBe(0)
    expect(numbers(text())).toBe(50_000)
  })

  test(`[M3] ${name}: paused over its end it is heard out`, async () => {
    const { said, shell, text, exited } = await begun((lines) => lines.say('last words'))
    shell.pause()
    await meanwhile()
    expect(said).toEqual([])
    shell.resume()
    expect(await exited()).toBe(0)
    expect(text().trim()).toBe('last words')
  })

  test(`[M3] ${name}: paused in its midst, and over its end, it is heard out in order`, async () => {
    const { shell, said, text, exited } = await begun(({ read, count }) => `${read}; ${read}; ${count(1000)}`)
    shell.input('first\r')
    await vi.waitFor(() => expect(text()).toContain('got first'), patience)
    shell.pause()
    const { length } = said
    shell.input('last\r')
    await meanwhile()
    expect(said.length).toBe(length)
    shell.resume()
    expect(await exited()).toBe(0)
    expect(numbers(text().slice(text().indexOf('got last') + 'got last'.length))).toBe(1000)
  })

  test(`[M8] ${name}: it is ended, paused or not, and says so once`, async () => {
    for (const pauses of [false, true]) {
      const { said, shell } = await begun((lines) => lines.read)
      if (pauses) shell.pause()
      await Promise.all([shell.end(), shell.end()])
      await shell.end()
      expect(said.filter(({ type }) => type === 'terminal/exited')).toHaveLength(1)
      expect(said.at(-1)?.type).toBe('terminal/exited')
    }
  })

  test(`[M8] ${name}: whatever is done with one that has ended does nothing`, async () => {
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

  test(`[M4] ${name}: a shell to type into stays until it is told to go`, async () => {
    const { terminals, cwd, lines } = await open()
    const { shell, text, exited } = await startShell(terminals, { cwd, cols: 80, rows: 24 })
    shell.input(`${lines.say('one')}\r`)
    await vi.waitFor(() => expect(text()).toMatch(/one\r?\n/), patience)
    shell.input(`${lines.exit(3)}\r`)
    expect(await exited()).toBe(3)
  })
}

/** A terminal, and what it says. It is ended after the test. */
export interface StartedShell {
  readonly shell: Shell
  readonly said: readonly TerminalOutput[]
  /** All that it showed. */
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

/** Only a terminal that never says it is waited for so long. */
const patience = { timeout: 100_000 }

/** How many lines there are, if each is the number that it should be. */
function numbers(text: string): number {
  const lines = text.trim().split(/\r?\n/)
  return lines.every((line, i) => Number(line) === i + 1) ? lines.length : NaN
}
