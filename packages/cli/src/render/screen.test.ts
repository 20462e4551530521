import { describe, expect, test } from 'vitest'
import { Markdown } from './markdown.ts'
import { Screen, cut } from './screen.ts'
import { widthOf } from './table.ts'
import { styled } from '../voice.ts'
import { emulator, readable } from '../../../adapters/test/window.ts'

/** A screen on an emulator, and what can be read there. */
class Stage {
  cols: number
  readonly #terminal: ReturnType<typeof emulator>
  readonly screen: Screen

  constructor(cols = 40, rows = 10) {
    this.cols = cols
    this.#terminal = emulator(cols, rows)
    // As the line discipline of a tty does.
    const write = (text: string) => this.#terminal.write(text.replaceAll('\n', '\r\n'))
    this.screen = new Screen({ out: write, err: write, columns: () => this.cols, shared: true, moves: true })
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

describe('[Z9] rows that come and go below what stays', () => {
  test.each([20, 33, 40, 79])(
    'text in pieces, notes and rows in %i columns: everything is there once',
    async (cols) => {
      const stage = new Stage(cols)
      const { screen } = stage
      const markdown = new Markdown({ style: styled(true), colour: true, columns: () => screen.columns })
      const text = `${words(60)} **${words(9)}**\n\n- ${words(20)}\n\`\`\`\n${'code '.repeat(30)}\n\`\`\`\n${words(5)}`
      let count = 0
      for (const piece of text.match(/[^]{1,7}/gu) ?? []) {
        screen.show([`row ${count++}`, `› typed 漢 ${count}`], { row: 1, column: 2 })
        screen.text(markdown.feed(piece))
      }
      screen.text(markdown.end())
      screen.note('a note')
      screen.text('more')
      screen.show([])
      const read = await stage.read()
      expect(read.replaceAll(/\s+/g, '')).toBe(
        `${text.replaceAll('**', '').replace('\n- ', '\n• ')}a notemore`.replaceAll(/\s+/g, ''),
      )
    },
  )

  test('another size, while a line is being added to', async () => {
    const stage = new Stage(60)
    const { screen } = stage
    screen.show(['status '.repeat(7), '› typed'], { row: 1, column: 7 })
    screen.text(words(4))
    for (const cols of [30, 24, 50, 80, 31]) {
      await stage.read()
      stage.resize(cols)
      screen.resized()
      screen.text(' more')
    }
    screen.show([])
    expect((await stage.read()).replaceAll(/\s+/g, '')).toBe(
      `${words(4)}${' more'.repeat(5)}`.replaceAll(' ', ''),
    )
  })

  test('rows that are too wide are cut, and colours do not run out of them', async () => {
    const stage = new Stage(20)
    const { cyan } = styled(true)
    stage.screen.show([cyan('漢'.repeat(30)), 'x'.repeat(300)])
    stage.screen.show(['done'])
    expect(await stage.read()).toBe('done')
    const row = cut(cyan('漢'.repeat(30)), 19)
    expect([widthOf(row) <= 19, row.endsWith('…\u001b[0m')]).toEqual([true, true])
  })

  test('a long note is broken between words, code is not', async () => {
    const stage = new Stage(20)
    stage.screen.note('one two three four five six')
    stage.screen.note('  a line of code that is long')
    expect(await stage.read()).toBe('one two three four\nfive six\n  a line of code that is long')
  })
})

test('[Z9] where nothing can move, nothing does', () => {
  let out = ''
  const write = (text: string) => void (out += text)
  const screen = new Screen({ out: write, err: write, columns: () => 40, shared: true, moves: false })
  screen.show(['row'])
  screen.text('text')
  screen.note('note')
  screen.show([])
  expect(out).toBe('text\nnote\n')
})
