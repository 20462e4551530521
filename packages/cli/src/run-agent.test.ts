import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { House } from '../test/house.ts'

const program = fileURLToPath(new URL('../../adapters/test/acp-agent.mjs', import.meta.url))
const house = new House()
const agents = {
  scripted: { command: process.execPath, args: [program], env: { ACP_STORE: house.work } },
  missing: { command: '/no/such/agent' },
}
beforeAll(() => house.open(agents))
afterEach(({ task }) => house.closeWindows(task.result?.state === 'fail'))
afterAll(() => house.close())

const script = ['say I shall write it.', 'call c edit Write it', 'ask c', 'say All is done.'].join('\n')

describe('[Z31] an agent that runs as a program of its own', () => {
  test('its text is shown before its question, and its own choices are', async () => {
    const window = house.window(['run', '--agent', 'scripted', script])
    const asked = await window.until('[r] no, because')
    expect(asked).toMatch(/I shall write it\.\n\? Write it\n\[1\] .* \[r\] no, because/)
    window.press('1')
    expect(await window.ended()).toBe(0)
    expect(window.text).toMatch(/✓ Write it\nAll is done\.\n\[exit 0\]$/)
  })

  test('what was agreed to beforehand is the narrowest of its choices', async () => {
    const { status, stdout } = await house.run([
      'run',
      '--agent',
      'scripted',
      '--allow',
      'once',
      '--quiet',
      script,
    ])
    expect([status, stdout]).toEqual([0, expect.stringMatching(/c \S*once/)])
  })

  test('one that is not there is told in a sentence, and the host goes on', async () => {
    const { status, stderr } = await house.run(['run', '--agent', 'missing', 'hello'])
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('missing: there is no program "/no/such/agent"; install it, or'),
    ])
    expect((await house.run(['agents', '--check'])).stdout).toMatch(/^missing .*there is no program/m)
    expect((await house.run(['run', '--quiet', 'say hello'])).stdout).toBe('hello\n')
  })
})
