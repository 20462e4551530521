import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { patched } from '../plant/patch.ts'
import { shortIntervals, failpoints, killAt, killing, newerSchema } from './failpoint.ts'
import { mutations } from './mutation.ts'
import { ownClock } from './scenes/clocks.ts'

const packages = fileURLToPath(new URL('../../../packages', import.meta.url))

test('[B12] every failpoint has a unique name, and its expression occurs exactly once', () => {
  expect(new Set(failpoints.map(({ name }) => name)).size).toBe(failpoints.length)
  for (const { file, find } of [...failpoints, ...shortIntervals, newerSchema, ...ownClock]) {
    const text = readFileSync(join(packages, sourceOf(file)), 'utf8')
    expect(plain(text).split(plain(find)).length - 1, `${file}: ${find}`).toBe(1)
  }
})

test.each(Object.entries(mutations))('[B1] the bug %s can be planted', (_, patch) => {
  const text = readFileSync(join(packages, patch.file), 'utf8')
  expect(patched(`file:///${patch.file}`, text, [patch])).not.toBe(text)
})

test('[B12] a failpoint keeps the value of its expression, and kills at the nth time', () => {
  const [point] = failpoints
  if (!point) throw new Error('there are none')
  for (const side of ['before', 'after'] as const) {
    const { put } = killing({ ...point, find: 'count()', side })
    let counted = 0
    const world = { Array }
    const killed: string[] = []
    const count = () => ++counted
    const env = killAt(point, 2)
    const process = { pid: 7, env, kill: (pid: number, signal: string) => killed.push(`${pid} ${signal}`) }
    // oxlint-disable-next-line no-implied-eval
    const reach = new Function('globalThis', 'process', 'count', `return ${put}`) as (
      ...args: unknown[]
    ) => number
    expect([1, 2, 3].map(() => reach(world, process, count))).toEqual([1, 2, 3])
    expect(killed).toEqual(['7 SIGKILL'])
  }
})

/** The source text of a built file. The test reads the source, so that it needs no build. */
function sourceOf(file: string): string {
  return file.includes('/dist/') ? file.replace('/dist/', '/src/').replace(/js$/, 'ts') : file
}

/** The text without whitespace and semicolons. In this form, source and compiled code are equal. */
function plain(text: string): string {
  return text.replace(/\s+/g, '').replaceAll(';', '')
}
