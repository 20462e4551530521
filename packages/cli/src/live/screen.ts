import { createInterface } from 'node:readline'
import { Keyboard } from '../terminal/keys.ts'
import type { Key } from '../terminal/keys.ts'
import { Markdown } from '../render/markdown.ts'
import { Pane } from '../render/pane.ts'
import type { Text } from '../render/narrator.ts'
import { colourful, harmless, styled } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** What a command that stays has in front of it: where it writes, and who may type. */
export interface Front {
  readonly pane: Pane
  /** For what goes to stderr. */
  readonly style: Style
  /** Markdown where somebody reads it, and as it came where a program does. */
  text(): Text
}

export function frontOf(env = process.env): Front {
  const { stdout, stderr } = process
  const shared = stdout.isTTY === true && stderr.isTTY === true
  const columns = () => stdout.columns || stderr.columns || 80
  const pane = new Pane({
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    columns,
    shared,
    moves: stderr.isTTY === true && env['TERM'] !== 'dumb',
  })
  const colour = colourful(stdout.isTTY === true, env)
  const read = (): Text => new Markdown({ style: styled(colour), colour, columns: () => pane.columns })
  return {
    pane,
    style: styled(colourful(stderr.isTTY === true, env)),
    text: stdout.isTTY === true ? read : () => new AsItCame(),
  }
}

/** The keys of the terminal, or whole lines where it has no keys to give. */
export interface Input {
  open(): void
  close(): void
  /** Ctrl-Z. */
  suspend(back: () => void): void
}

export function input(
  { moves }: Pane,
  pressed: (key: Key) => void,
  typed: (line: string) => void,
  ended: () => void = () => {},
): Input {
  const { stdin, stderr } = process
  if (moves && stdin.isTTY === true) return new Keyboard(stdin, (text) => void stderr.write(text), pressed)
  let lines: ReturnType<typeof createInterface> | undefined
  return {
    open() {
      lines ??= createInterface({ input: stdin, terminal: false }).on('line', typed).on('close', ended)
    },
    // Closed, it would read no second time: it is left to listen, and nobody heeds it.
    close() {},
    suspend() {},
  }
}

/** A program gets what the agent said; only what a terminal would obey is taken out. */
class AsItCame implements Text {
  #last = '\n'

  feed(text: string): string {
    const out = harmless(text)
    this.#last = out.at(-1) ?? this.#last
    return out
  }

  /** What is said in between is said elsewhere. */
  pause(): string {
    return ''
  }

  end(): string {
    return this.#last === '\n' ? '' : '\n'
  }
}
