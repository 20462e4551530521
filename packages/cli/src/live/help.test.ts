import { expect, test } from 'vitest'
import { attachHelp, helpLines } from './help.ts'

test.each([20, 49, 80, 200])('[Z8.7] the help fits %i columns, and no word of it is broken', (columns) => {
  const lines = helpLines(attachHelp, columns)
  for (const line of lines) expect(line.length).toBeLessThan(columns)
  const words = (all: readonly string[]) => all.join(' ').split(/ +/)
  expect(words(lines)).toEqual(words(helpLines(attachHelp, 200)))
})
