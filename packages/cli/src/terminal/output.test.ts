import { expect, test } from 'vitest'
import { usesColour } from './output.ts'

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { TERM: 'dumb' }, false],
  [true, { CI: 'true' }, false],
  [false, { CI: 'true', FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
])('[Z2.3] on a terminal: %j, with %j: in colours: %j', (tty, env, coloured) => {
  expect(usesColour(tty, env)).toBe(coloured)
})
