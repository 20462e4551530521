import { expect, test } from 'vitest'
import { outputPieces } from './ansi.ts'

const words = (output: string) =>
  outputPieces(output).map(({ text, look }) => (look === '' ? text : [look, text]))

test('[U54.2] output has the colours that it asks for, and no other escape sequence', () => {
  expect(words('\u001b[31mred\u001b[0m \u001b[1;32mbold\u001b[22mgreen\u001b[39m plain')).toEqual([
    ['ansi-1', 'red'],
    ' ',
    ['ansi-2 ansi-bold', 'bold'],
    ['ansi-2', 'green'],
    ' plain',
  ])
  expect(
    words('\u001b]0;title\u0007\u001b[2J\u001b[4;38;5;9ma\u001b[38;2;1;2;3;24mb\u001b[m\u001b[48;5;3mc'),
  ).toEqual([['ansi-1 ansi-underlined', 'a'], 'b', 'c'])
})

test('[U54.2] a line that was written over is as it was last', () => {
  expect(words('10 %\r50 %\r100 %\ndone\r\nnext\r')).toEqual(['100 %\ndone\nnext\r'])
})
