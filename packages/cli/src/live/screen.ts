import { createInterface } from 'node:readline'
import { Keyboard } from '../terminal/keys.ts'
import type { Key } from '../terminal/keys.ts'
import { Markdown } from '../render/markdown.ts'
import type { TextFormat } from '../render/narrator.ts'
import { Pane } from '../render/pane.ts'
import { sanitize, styled, usesColour } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** The screen of `run` and `attach`. */
export interface Screen {
  readonly pane: Pane
  /** The style of the notes on stderr. */
  readonly style: Style
  /** Returns a new format for the text of an agent: rendered Markdown on a terminal, the unchanged text elsewhere. */
  text(): TextFormat
}

export function openScreen(env = process.env): Screen {
  const { stdout, stderr } = process
  const shared = stdout.isTTY === true && stderr.isTTY === true
  const columns = () => stdout.columns || stderr.columns || 80
  const pane = new Pane({
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    columns,
    rows: () => stdout.rows || stderr.rows || 24,
    shared,
    moves: stderr.isTTY === true && env['TERM'] !== 'dumb',
  })
  const colour = usesColour(stdout.isTTY === true, env)
  const markdown = () => new Markdown({ style: styled(colour), colour, columns: () => pane.columns })
  return {
    pane,
    style: styled(usesColour(stderr.isTTY === true, env)),
    text: stdout.isTTY === true ? markdown : () => new PlainText(),
  }
}

/** The input of a terminal: single keys, or whole lines if the terminal cannot give keys. */
export interface Input {
  open(): void
  close(): void
  /** Stops the process, as Ctrl-Z does. Calls `resumed` when it continues. Does nothing for whole lines. */
  suspend(resumed: () => void): void
}

export interface InputListeners {
  key(key: Key): void
  line(line: string): void
  /** Called at the end of the input. Only an input of whole lines ends. */
  end(): void
}

export function openInput({ moves }: Pane, listeners: InputListeners): Input {
  const { stdin, stderr } = process
  if (moves && stdin.isTTY === true)
    return new Keyboard(
      stdin,
      (text) => void stderr.write(text),
      (key) => listeners.key(key),
    )
  let lines: ReturnType<typeof createInterface> | undefined
  return {
    open() {
      lines ??= createInterface({ input: stdin, terminal: false })
        .on('line', (line) => listeners.line(line))
        .on('close', () => listeners.end())
    },
    // A closed readline interface cannot be opened again, so it stays open. Lines that arrive while no prompt is open are
    // ignored.
    close() {},
    suspend() {},
  }
}

/** Writes the text of an agent for a program to read: unchanged, except for control characters. */
class PlainText implements TextFormat {
  #last = '\n'

  feed(text: string): string {
    const out = sanitize(text)
    this.#last = out.at(-1) ?? this.#last
    return out
  }

  /** Does nothing: notes go to stderr, and do not interrupt the text on stdout. */
  pause(): string {
    return ''
  }

  end(): string {
    return this.#last === '\n' ? '' : '\n'
  }
}
