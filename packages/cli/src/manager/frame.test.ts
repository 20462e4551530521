import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emulator } from '../../../adapters/test/terminal-window.ts'
import { styled } from '../terminal/output.ts'
import { cellsOf } from './cells.ts'
import { FrameWriter } from './frame.ts'
import type { Frame, ScreenSize } from './frame.ts'

const style = styled(true)

/** A terminal that gets what a writer writes. */
class Shown {
  readonly #terminal
  readonly #writer = new FrameWriter()
  readonly #size: ScreenSize

  constructor(size: ScreenSize) {
    this.#size = size
    this.#terminal = emulator(size.columns, size.rows)
  }

  /** Draws a frame. Returns what was written. */
  async draw(frame: Frame, size = this.#size): Promise<string> {
    const out = this.#writer.write(frame, size)
    this.#terminal.resize(size.columns, size.rows)
    await new Promise<void>((resolve) => this.#terminal.write(out, resolve))
    return out
  }

  /** The characters and the styles on the screen. */
  get cells(): readonly (readonly string[])[] {
    const { buffer, rows, cols } = this.#terminal
    return Array.from({ length: rows }, (_, row) => {
      const line = buffer.active.getLine(row)
      return Array.from({ length: cols }, (_, column) => {
        const cell = line?.getCell(column)
        const on = [
          cell?.isBold() ? 'bold' : '',
          cell?.isDim() ? 'dim' : '',
          cell?.isInverse() ? 'inverse' : '',
        ]
        const colour = cell?.isFgPalette() ? cell.getFgColor() : ''
        const text = cell?.getWidth() === 0 ? '' : cell?.getChars() || ' '
        return [text, ...on, colour].join('|')
      })
    })
  }
}

const text = fc.stringMatching(/^[a-c 漢😀é]{0,12}$/u)
const piece = fc.tuple(fc.constantFrom('bold', 'dim', 'red', 'inverse', undefined), text)
const row = fc
  .array(piece, { maxLength: 4 })
  .map((all) => all.map(([name, each]) => (name === undefined ? each : style[name](each))).join(''))
const frame = fc.record({ rows: fc.array(row, { maxLength: 6 }) })

describe('[Z12.5] frames', () => {
  test('[Z12.5] any frames one after the other leave on the screen what the last one alone draws', async () => {
    const size = { columns: 14, rows: 5 }
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 5 }), async (frames) => {
        const [shown, fresh] = [new Shown(size), new Shown(size)]
        for (const each of frames) await shown.draw(each)
        await fresh.draw(frames.at(-1) ?? { rows: [] })
        expect(shown.cells).toEqual(fresh.cells)
      }),
      { numRuns: 60 },
    )
  })

  test('[Z12.5] a frame writes the cells that differ and nothing else; the same frame writes nothing', async () => {
    const shown = new Shown({ columns: 40, rows: 10 })
    const rows = Array.from({ length: 10 }, (_, at) => `row ${at} ${style.green('works')} and more text`)
    await shown.draw({ rows })
    expect(await shown.draw({ rows })).toBe('')
    const changed = rows.with(4, `row 4 ${style.green('wOrks')} and more text`)
    const out = await shown.draw({ rows: changed })
    // oxlint-disable-next-line no-control-regex
    expect(out.replaceAll(/\u001b\[[?\d;]*[A-Za-z]/g, '')).toBe('O')
    expect(out.length).toBeLessThan(60)
  })

  test('[Z12.5] a cursor that moves is written, and hidden where a frame has none', async () => {
    const shown = new Shown({ columns: 20, rows: 4 })
    await shown.draw({ rows: ['a'], cursor: { row: 0, column: 0 } })
    expect(await shown.draw({ rows: ['a'], cursor: { row: 1, column: 3 } })).toContain(
      '\u001b[2;4H\u001b[?25h',
    )
    expect(await shown.draw({ rows: ['a'] })).not.toContain('\u001b[?25h')
  })

  test('[Z12.6] another size draws the whole frame', async () => {
    const shown = new Shown({ columns: 20, rows: 4 })
    const rows = ['one', 'two']
    await shown.draw({ rows })
    await shown.draw({ rows }, { columns: 10, rows: 3 })
    const [first = []] = shown.cells
    expect(first.slice(0, 3).map((cell) => cell[0])).toEqual(['o', 'n', 'e'])
    expect(first).toHaveLength(10)
  })
})

test('[Z12.6] a row has exactly its columns: a wide character that does not fit is left out', () => {
  expect(cellsOf('ab漢', 3).map((cell) => cell.text)).toEqual(['a', 'b', ' '])
  expect(cellsOf('e\u0301x', 2).map((cell) => cell.text)).toEqual(['e\u0301', 'x'])
})
