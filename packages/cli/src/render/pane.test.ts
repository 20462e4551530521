import { describe, expect, test } from 'vitest'
import { Markdown } from './markdown.ts'
import { Pane, cut } from './pane.ts'
import { widthOf } from './table.ts'
import { styled } from '../terminal/output.ts'
import { emulator, readable } from '../../../adapters/test/terminal-window.ts'

/** A pane on a terminal emulator, and its readable content. */
class Shown {
  cols: number
  readonly #terminal: ReturnType<typeof emulator>
  readonly pane: Pane

  constructor(cols = 40, rows = 10) {
    this.cols = cols
    this.#terminal = emulator(cols, rows)
    // The line discipline of a tty turns \n into \r\n.
    const write = (text: string) => this.#terminal.write(text.replaceAll('\n', '\r\n'))
    this.pane = new Pane({
      out: write,
      err: write,
      columns: () => this.cols,
      rows: () => 24,
      shared: true,
      moves: true,
    })
  }

  resize(cols: number): void {
    this.cols = cols
    this.#terminal.resize(cols, 10)
  }

  async read(): Promise<string> {
    await new Promise<void>((resolve) => this.#terminal.write('', resolve))
    return readable(this.#terminal)
  }
}

const words = (count: number) => Array.from({ length: count }, (_, at) => `${at}wörd漢`).join(' ')

describe('[Z9] temporary rows below permanent text', () => {
  test.each([20, 33, 40, 79])(
    '[Z9.2] [Z9.3] text in pieces, notes and rows in %i columns: all text is there once',
    async (cols) => {
      const shown = new Shown(cols)
      const { pane } = shown
      const markdown = new Markdown({ style: styled(true), colour: true, columns: () => pane.columns })
      const text = `${words(60)} **${words(9)}**\n\n- ${words(20)}\n\`\`\`\n${'code '.repeat(30)}\n\`\`\`\n${words(5)}`
      let count = 0
      for (const piece of text.match(/[^]{1,7}/gu) ?? []) {
        pane.show([`row ${count++}`, `› typed 漢 ${count}`], { row: 1, column: 2 })
        pane.text(markdown.feed(piece))
      }
      pane.text(markdown.end())
      pane.note('a note')
      pane.text('more')
      pane.show([])
      const read = await shown.read()
      expect(read.replaceAll(/\s+/g, '')).toBe(
        `${text.replaceAll('**', '').replace('\n- ', '\n• ')}a notemore`.replaceAll(/\s+/g, ''),
      )
    },
  )

  test('[Z9.2] [Z9.3] the window is resized while a line is unfinished', async () => {
    const shown = new Shown(60)
    const { pane } = shown
    pane.show(['status '.repeat(7), '› typed'], { row: 1, column: 7 })
    pane.text(words(4))
    for (const cols of [30, 24, 50, 80, 31]) {
      await shown.read()
      shown.resize(cols)
      pane.resized()
      pane.text(' more')
    }
    pane.show([])
    expect((await shown.read()).replaceAll(/\s+/g, '')).toBe(
      `${words(4)}${' more'.repeat(5)}`.replaceAll(' ', ''),
    )
  })

  test('[Z9.3] rows that are too wide are cut, and their colours end with them', async () => {
    const shown = new Shown(20)
    const { cyan } = styled(true)
    shown.pane.show([cyan('漢'.repeat(30)), 'x'.repeat(300)])
    shown.pane.show(['done'])
    expect(await shown.read()).toBe('done')
    const row = cut(cyan('漢'.repeat(30)), 19)
    expect([widthOf(row) <= 19, row.endsWith('…\u001b[0m')]).toEqual([true, true])
  })

  test('a long note is wrapped between words, code is not wrapped', async () => {
    const shown = new Shown(20)
    shown.pane.note('one two three four five six')
    shown.pane.note('  a line of code that is long')
    expect(await shown.read()).toBe('one two three four\nfive six\n  a line of code that is long')
  })
})

test('[Z9.4] a terminal without cursor movement gets no temporary rows', () => {
  let out = ''
  const write = (text: string) => void (out += text)
  const pane = new Pane({
    out: write,
    err: write,
    columns: () => 40,
    rows: () => 24,
    shared: true,
    moves: false,
  })
  pane.show(['row'])
  pane.text('text')
  pane.note('note')
  pane.show([])
  expect(out).toBe('text\nnote\n')
})
