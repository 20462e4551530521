import { afterEach, beforeEach, expect, test } from 'vitest'
import { House } from '../../test/house.ts'

let house: House
beforeEach(async () => {
  house = await new House().open()
})
afterEach(() => house.close())

test('[Z10] a host that dies in the middle of a turn and comes back elsewhere: run goes on by itself', async () => {
  const whole = (await house.run(['run', 'slow 4'])).stdout.trim()
  const window = house.window(['run', 'slow 4'])
  await window.until(whole.split(' ').slice(0, 2).join(' '))
  await house.kill()
  await window.until('the host is away')
  await house.open()
  await window.until('the host is back')
  await window.until('the turn goes on')
  expect(await window.ended()).toBe(0)
  const words = window.text.split('\n').filter((line) => /^[a-z ]+$/.test(line))
  expect(words.join(' ').replaceAll(/\s+/g, ' ').trim()).toBe(whole)
})

test('[Z10] a question outlives the host, and is answered at the same prompt', async () => {
  const window = house.window(['run', 'run echo still here'])
  await window.until('[y]')
  await house.kill()
  await window.until('the host is away')
  await house.open()
  await window.until('the host is back')
  await window.until(/host is back\n(.*\n)*\[y\]/)
  window.press('y')
  expect(await window.ended()).toBe(0)
  expect(window.text).toContain('  still here')
})
