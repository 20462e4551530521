import { afterEach, beforeEach, expect, test } from 'vitest'
import { CliFixture } from '../../test/fixture.ts'

let fixture: CliFixture
beforeEach(async () => {
  fixture = await new CliFixture().open()
})
afterEach(() => fixture.close())

test('[Z10.1] [Z10.3] run resumes its turn after a crash of the host, also when the restarted host has another port', async () => {
  // Both say the same words, the second one each second: the host is killed long before the end of the turn.
  const whole = (await fixture.run(['run', 'long 12'])).stdout.trim()
  const window = fixture.window(['run', 'slow 12'])
  await window.until(whole.split(' ').slice(0, 2).join(' '))
  await fixture.kill()
  await window.until('the host is away')
  await fixture.open()
  await window.until('the host is back')
  await window.until('the turn goes on')
  expect(await window.ended()).toBe(0)
  const words = window.text.split('\n').filter((line) => /^[a-z ]+$/.test(line))
  expect(words.join(' ').replaceAll(/\s+/g, ' ').trim()).toBe(whole)
})

test('[Z10.2] a prompt survives a crash of the host, and can be answered after the restart', async () => {
  const window = fixture.window(['run', 'run echo still here'])
  await window.until('[y]')
  await fixture.kill()
  await window.until('the host is away')
  await fixture.open()
  await window.until('the host is back')
  await window.until(/host is back\n(.*\n)*\[y\]/)
  window.press('y')
  expect(await window.ended()).toBe(0)
  expect(window.text).toContain('  still here')
})
